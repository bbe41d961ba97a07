"""BibTeX: Ludens itself, and the publications of the suites that were played."""

from __future__ import annotations

import re

from ludens.run.plan import versions
from ludens.run.results import Results
from ludens.run.task import Suite

KEY = "ludens"
YEAR = 2026
SUBTITLE = "Vision-Language Models, Bots and People at Multi-Agent Visual Games"
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)


def own_entry() -> str:
    """The entry of Ludens, with the version that is installed."""
    fields = {
        "title": f"{{Ludens}} {versions()['ludens']}: {SUBTITLE}",
        "author": "{The Ludens authors}",
        "year": str(YEAR),
    }
    return "\n".join(
        [f"@misc{{{KEY},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}", ""]
    )


def entries_of(suite: Suite) -> str:
    """The entries of a suite's publications; empty if it has none."""
    return suite.paper.read_text("utf-8") if suite.paper is not None else ""


def keys_of(suite: Suite) -> list[str]:
    return _ENTRY.findall(entries_of(suite))


def bibliography(results: Results) -> str:
    entries = dict.fromkeys(entry for one in results.suites if (entry := entries_of(one.suite)))
    return "\n".join([own_entry(), *entries])
