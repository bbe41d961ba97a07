"""The cursor: where in its text and in the picture the network is, known from the pieces so far.

A matrix is read cell by cell: a piece such as `8x8` in the prompt says its shape, `[[` and `], [` begin its
lines. In other texts a place is named before what is there: `37:` is the middle of the fourth column and
eighth row of tenths of the picture, `0714:` that of the eighth column and fifteenth row of twentieths. A
place holds until the next one, or until a new line or answer begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ludens.train.nano.marks import LINES, NOWHERE, marks_of

__all__ = ["LINES", "NOWHERE", "Cursor", "Marks"]


@dataclass(frozen=True)
class Marks:
    """What each piece of a vocabulary says about the cursor."""

    new_line: Tensor
    """Whether it begins a line of a matrix."""
    places: Tensor
    """Whether it sets the place, or ends it."""
    place: Tensor
    """(pieces, 2): x and y in the unit square; `NOWHERE` for a piece that sets none."""
    shape: Tensor
    """(pieces, 2): columns and lines of a matrix; 0 for a piece that says none."""

    @staticmethod
    def of(pieces: Sequence[str], device: torch.device) -> Marks:
        columns = zip(*marks_of(pieces), strict=True)
        return Marks(*(torch.tensor(column, device=device) for column in columns))


@dataclass
class Cursor:
    """Where some tokens of each row are. All fields are (rows, tokens) or (rows, tokens, 2)."""

    line: Tensor
    column: Tensor
    named: Tensor
    """The place that was named, x and y."""
    shape: Tensor
    """Of the matrix: columns and lines."""

    @staticmethod
    def of(ids: Tensor, marks: Marks) -> Cursor:
        """The cursor at every token."""
        starts = marks.new_line[ids]
        line = starts.cumsum(1).clamp(max=LINES - 1)
        at = torch.arange(ids.shape[1], device=ids.device)[None].expand_as(ids)
        column = (at - _latest(starts, at)).clamp(max=LINES - 1).where(line > 0, 0)
        named = _at_latest(marks.place, marks.places[ids], ids, at, NOWHERE)
        shape = _at_latest(marks.shape, marks.shape[ids][..., 0] > 0, ids, at, 0.0)
        return Cursor(line, column, named, shape)

    def after(self, token: Tensor, marks: Marks) -> Cursor:
        """The cursor at a token, (rows, 1), that follows the last one."""
        new_line = marks.new_line[token]
        line = (self.line[:, -1:] + new_line).clamp(max=LINES - 1)
        column = (self.column[:, -1:] + 1).clamp(max=LINES - 1).where((line > 0) & ~new_line, 0)
        named = marks.place[token].where(marks.places[token][..., None], self.named[:, -1:])
        shape = marks.shape[token].where(marks.shape[token][..., :1] > 0, self.shape[:, -1:])
        return Cursor(line, column, named, shape)

    def last(self) -> Cursor:
        """A copy of the cursor at the last token of each row."""
        return Cursor(*(field[:, -1:].clone() for field in self._fields))

    def set(self, other: Cursor) -> None:
        """Take the values of another one, in place."""
        for own, new in zip(self._fields, other._fields, strict=True):
            own.copy_(new)

    @property
    def _fields(self) -> tuple[Tensor, ...]:
        return self.line, self.column, self.named, self.shape

    @property
    def place(self) -> Tensor:
        """The place of the cell of the matrix that comes next, or the place that was named."""
        inside = (self.line > 0) & (self.column < self.shape[..., 0]) & (self.line <= self.shape[..., 1])
        cell = torch.stack([self.column + 0.5, self.line - 0.5], -1) / self.shape.clamp(min=1)
        return cell.where(inside[..., None], self.named)


def _latest(marked: Tensor, at: Tensor) -> Tensor:
    """Of each token, the position of the last marked one up to it; -1 where there is none."""
    return at.where(marked, -1).cummax(1).values


def _at_latest(table: Tensor, marked: Tensor, ids: Tensor, at: Tensor, none: float) -> Tensor:
    """Of each token, the entry of the last marked one up to it."""
    latest = _latest(marked, at)
    entries = table[ids.gather(1, latest.clamp(min=0))]
    return entries.where((latest >= 0)[..., None], torch.full_like(entries, none))
