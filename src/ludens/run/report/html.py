"""The Jinja2 environment of all pages. Text is escaped, and characters that cannot be seen are made visible.

Everything a template outputs passes through `visible` and then through autoescaping.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any
from unicodedata import category

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
_JOINERS = "\u200c\u200d"  # Persian and emoji need them, and they do not change the order of text.


def _hidden(c: str) -> bool:
    """Whether a character is a control, a change of writing direction, half a surrogate pair or the like."""
    return not (c.isprintable() or c in "\n\t" or c in _JOINERS or category(c) == "Zs")


def _number(c: str) -> str:
    return f"U+{ord(c):04X}"


def visible(value: Any) -> Any:
    """Text with hidden characters replaced by their numbers; other values unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(f"[{_number(c)}]" if _hidden(c) else c for c in value)


def pieces(text: str, limit: int) -> Iterator[tuple[bool, str]]:
    """The first characters as pieces of plain text (False) and numbers of hidden characters (True)."""
    for hidden, group in groupby(text[:limit], _hidden):
        if hidden:
            yield from ((True, _number(c)) for c in group)
        else:
            yield False, "".join(group)


def make_environment(*folders: Path) -> Environment:
    """An environment with the templates of these folders."""
    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["pieces"] = pieces
    return made


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of reports."""
    made = make_environment(TEMPLATES)
    for kind, file in (("style", "page.css"), ("script", "page.js")):
        text = (TEMPLATES / file).read_text("utf-8")
        digest = base64.b64encode(sha256(text.encode()).digest()).decode("ascii")
        made.globals[kind] = Markup(text)
        made.globals[f"{kind}_hash"] = f"sha256-{digest}"
    return made


def render_page(template: str, **context: Any) -> str:
    """A whole page. Its policy lets no script and style run but our own, whatever a model has said."""
    return environment().get_template(template).render(**context)
