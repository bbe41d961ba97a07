"""The words of a game, kept in a template file beside its code so that anyone can read and replace them.

A words file is Markdown: each `# name` line opens a section, `$word` is filled in. The section
`rules solver` is for the seat solver, `rules` for every seat without one of its own. A folder of
overrides holds files named after games (`comma.wire.md`); sections found there replace ours, and may be
for one seat where ours is for all.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import Template

from ludens.core.errors import BadFile, UnknownName


class Templates:
    """The sections of one words file, with overrides laid over them."""

    def __init__(self, sections: dict[str, str], source: str) -> None:
        self._sections = sections
        self._source = source
        self._constant: dict[str, str] = {}
        """Sections that say the same always, as they are said."""

    def has(self, section: str) -> bool:
        """Whether there is such a section."""
        return section in self._sections

    def fill(self, section: str, /, *, seat: str | None = None, **values: object) -> str:
        """The section's text with its `$words` filled in, the seat's own version if there is one."""
        if not values and seat is None and section in self._constant:
            return self._constant[section]
        own = f"{section} {seat}"
        name = own if own in self._sections else section
        if name not in self._sections:
            raise BadFile(f"{self._source} has no section '# {name}'.")
        try:
            said = Template(self._sections[name]).substitute(values, seat=seat or "")
            if not values and seat is None:
                self._constant[section] = said
            return said
        except (KeyError, ValueError) as error:
            raise BadFile(
                f"section '# {name}' of {self._source} asks for an unknown word: {error}."
            ) from None


@lru_cache(maxsize=256)
def load_templates(
    file: Path, game: str, overrides: Path | None = None, shared: Path | None = None
) -> Templates:
    """The words in `file` over those it shares with others, and the override file for `game` over all."""
    sections = {**(_sections(shared) if shared else {}), **_sections(file)}
    source = file.name
    if overrides is not None:
        if not overrides.is_dir():
            raise BadFile(f"the words folder {str(overrides)!r} does not exist.")
        own = overrides / (game.replace("/", ".") + ".md")
        if own.is_file():
            theirs = _sections(own)
            if not theirs:
                raise BadFile(f"{str(own)!r} has no section: each begins with a line '# name'.")
            for name in theirs:
                if not any(name == ours or name.startswith(f"{ours} ") for ours in sections):
                    raise UnknownName(f"section of {str(own)!r}", name, sections)
            sections = {**sections, **theirs}
            source = str(own)
    return Templates(sections, source)


def _sections(file: Path) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read the words file {str(file)!r}: {error}.") from None
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("# "):
            current = sections.setdefault(line[2:].strip(), [])
        elif current is not None:
            current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}
