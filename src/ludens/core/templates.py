"""Prompt and rules templates: Markdown files next to the code, which users can override section by section.

Each `# name` line opens a section; `$word` is substituted. The section `rules solver` applies to the seat
solver, `rules` to every seat without a section of its own. An override folder holds files named after games
(`comma.wire.md`) or agents (`agent.md`); its sections replace ours and may be specific to one seat.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from string import Template

from ludens.core.errors import BadFile, UnknownName

Sections = dict[str, str]


class Templates:
    """The sections of one template file, with overrides applied."""

    def __init__(self, sections: Sections, source: str) -> None:
        self._sections = sections
        self._source = source
        self._constant: Sections = {}

    def fill(self, section: str, /, *, seat: str | None = None, **values: object) -> str:
        """The section with its `$words` substituted; the seat's own version where there is one."""
        constant = not values and seat is None
        if constant and section in self._constant:
            return self._constant[section]
        own = f"{section} {seat}"
        name = own if own in self._sections else section
        if name not in self._sections:
            raise BadFile(f"{self._source} has no section '# {name}'.")
        try:
            form, words = _compiled(self._sections[name])
            values["seat"] = seat or ""
            filled = form % tuple([values[word] for word in words])
        except (KeyError, ValueError) as error:
            raise BadFile(f"section '# {name}' of {self._source} uses an unknown word: {error}.") from None
        if constant:
            self._constant[section] = filled
        return filled


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[str, tuple[str, ...]]:
    """A text as a form with `%s` and the words that go there: `Template` would look for them every time."""
    form, words, at = "", list[str](), 0
    for match in Template.pattern.finditer(text):
        word = match["named"] or match["braced"]
        if word is None and match["escaped"] is None:
            line = text.count("\n", 0, match.start()) + 1
            raise ValueError(f"'$' without a word in line {line}")
        form += text[at : match.start()].replace("%", "%%") + ("%s" if word else "$")
        words += [word] if word else []
        at = match.end()
    return form + text[at:].replace("%", "%%"), tuple(words)


@dataclass(frozen=True)
class TemplateOverrides:
    """Sections that replace the built-in ones, by file name without `.md`. A hashable value."""

    files: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()

    @classmethod
    def read(cls, folder: Path) -> TemplateOverrides:
        if not folder.is_dir():
            raise BadFile(f"the templates folder {str(folder)!r} does not exist.")
        files = {file.stem: _read_sections(file) for file in sorted(folder.glob("*.md"))}
        empty = next((name for name, sections in files.items() if not sections), None)
        if empty is not None:
            raise BadFile(
                f"{str(folder / empty)!r}.md has no section: each section starts with a line '# name'."
            )
        return cls.of(files)

    @classmethod
    def of(cls, files: Mapping[str, Mapping[str, str]]) -> TemplateOverrides:
        """Overrides from plain mappings, as episodes store them."""
        return cls(tuple((name, tuple(sections.items())) for name, sections in files.items()))

    def sections(self, name: str) -> Sections:
        """The sections of one file; empty when there is no such file."""
        return dict(dict(self.files).get(name, ()))

    def as_dict(self) -> dict[str, Sections]:
        """Plain mappings, as episodes store them."""
        return {name: dict(sections) for name, sections in self.files}


@lru_cache(maxsize=256)
def load_templates(
    file: Path, name: str, overrides: TemplateOverrides | None = None, shared: Path | None = None
) -> Templates:
    """The templates in `file` (on top of those in `shared`), with the overrides for `name` on top of both."""
    sections = {**(_read_sections(shared) if shared else {}), **_read_sections(file)}
    stem = name.replace("/", ".")
    overriding = overrides.sections(stem) if overrides is not None else {}
    for section in overriding:
        if not any(section == ours or section.startswith(f"{ours} ") for ours in sections):
            raise UnknownName(f"section of the template {stem}.md", section, sections)
    return Templates({**sections, **overriding}, f"{stem}.md" if overriding else file.name)


def _read_sections(file: Path) -> Sections:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"cannot read the template file {str(file)!r}: {error}.") from None
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith("# "):
            current = sections.setdefault(line[2:].strip(), [])
        elif current is not None:
            current.append(line)
    return {name: "\n".join(lines).strip() for name, lines in sections.items()}
