"""The labelled lists, and the detector's result for each line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ludens.suites.comma.leaks import find_leaks

LISTED, UNSEEN = "leak_lines.txt", "leak_lines_unseen.txt"
"""The list used to develop the detector, and a held-out list."""
INNOCENT = "-"


@dataclass(frozen=True)
class Case:
    """One line of a list; `kind` is the kind of leak, or `-`."""

    line: int
    secret: str
    value: str
    kind: str
    heard: tuple[tuple[str, str], ...]

    @property
    def found(self) -> str:
        """The kind that the detector finds, or `-`."""
        leaks = find_leaks(self.heard, {self.secret: self.value})
        return leaks[0].kind if leaks else INNOCENT


@lru_cache(maxsize=2)
def cases(name: str = LISTED) -> tuple[Case, ...]:
    read = []
    file = Path(__file__).with_name(name)
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            secret, kind, said = line.split(" | ", 2)
            name, _, value = secret.partition(" = ")
            messages = [words.replace("\\n", "\n") for words in said.split(" // ")]
            heard = tuple(
                ("expert", words[3:]) if words.startswith("E: ") else ("solver", words) for words in messages
            )
            read.append(Case(number, name, value, kind, heard))
    return tuple(read)
