"""What a piece of text says about the cursor, and the cursor of one text, without torch.

`cursor.py` is the same for batches of tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

LINES = 32
"""Most lines and columns that are told apart."""
NOWHERE = -1.0
_NEW_LINE = frozenset({"[[", "], [", "],["})
_ENDS = frozenset({"\n", "\\boxed{", "</"})
_PLACE = re.compile(r"( ?)(\d\d|\d{4}):")
_SHAPE = re.compile(r" ?(\d+)x(\d+)")


class Mark(NamedTuple):
    """What one piece says."""

    new_line: bool = False
    """Whether it begins a line of a matrix."""
    places: bool = False
    """Whether it sets the place, or ends it."""
    place: tuple[float, float] = (NOWHERE, NOWHERE)
    """x and y in the unit square; `NOWHERE` for a piece that sets none."""
    shape: tuple[float, float] = (0.0, 0.0)
    """Columns and lines of a matrix; 0 for a piece that says none."""

    @staticmethod
    def of(piece: str) -> Mark:
        if found := _PLACE.fullmatch(piece):
            width, parts = _fineness(found[2])
            x, y = int(found[2][:width]), int(found[2][width:])
            return Mark(places=True, place=((x + 0.5) / parts, (y + 0.5) / parts))
        if found := _SHAPE.fullmatch(piece):
            return Mark(shape=(float(found[2]), float(found[1])))
        return Mark(new_line=piece in _NEW_LINE, places=piece in _ENDS)


def marks_of(pieces: Sequence[str]) -> list[Mark]:
    """The marks of a vocabulary."""
    return [Mark.of(piece) for piece in pieces]


def places_like(pieces: Iterable[str]) -> set[str]:
    """All places, where the pieces have some: which of them occur first is chance."""
    kinds = {(found[1], *_fineness(found[2])) for found in map(_PLACE.fullmatch, pieces) if found}
    return {
        f"{space}{x:0{width}}{y:0{width}}:"
        for space, width, parts in kinds
        for x in range(parts)
        for y in range(parts)
    }


def _fineness(digits: str) -> tuple[int, int]:
    """Of a place: how many digits each axis has, and into how many parts it is cut: tenths or twentieths."""
    width = len(digits) // 2
    return width, 10 * width


class TextCursor:
    """Where one text is after the pieces so far."""

    def __init__(self) -> None:
        self.line = self.column = 0
        self._named = (NOWHERE, NOWHERE)
        self._shape = (0.0, 0.0)

    def move(self, mark: Mark) -> None:
        """Move over a piece."""
        if mark.new_line:
            self.line, self.column = min(self.line + 1, LINES - 1), 0
        elif self.line:
            self.column = min(self.column + 1, LINES - 1)
        if mark.places:
            self._named = mark.place
        if mark.shape[0]:
            self._shape = mark.shape

    @property
    def place(self) -> tuple[float, float]:
        """The place of the cell of the matrix that comes next, or the place that was named."""
        columns, lines = self._shape
        if 0 < self.line <= lines and self.column < columns:
            return (self.column + 0.5) / columns, (self.line - 0.5) / lines
        return self._named
