"""Legal moves as a list in a fixed order, to be said before a move: who lists them learns which are legal."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FROM_CELL = re.compile(r"([A-Za-z]\d+)((?:=|[a-z])\w+)")
"""A move that begins with a cell: b6c4, F7=3."""
_IN_ROW = re.compile(r"([A-Za-z])(\d+)")
MOST = 40
"""Moves that are listed one by one; where there are more, those in one row."""
FEW = 8
"""Moves between cells that are all listed: where there are so few, a player is often in check."""


def listing(moves: Sequence[str], move: str) -> str:
    """Valid moves in a fixed order, `move` among them.

    Where moves begin with a cell, the list has what is valid from the cell of `move`, near ones first, as in
    `b6: c4 a4`: those are the easiest to be sure of. Where only few moves between cells are valid, the list
    says so and has all of them, as in `all: b6c4 b6a4 e1d1`. Where there are very many moves, it has those in
    the row of `move`, as in `K: 3 7 12`.
    """
    pattern = _FROM_CELL if _FROM_CELL.fullmatch(move) else _IN_ROW
    chosen = pattern.fullmatch(move)
    if chosen is None or (pattern is _IN_ROW and len(moves) <= MOST):
        return " ".join(sorted(moves))
    start = chosen[1]
    split = filter(None, map(pattern.fullmatch, moves))
    rest = [end for _, end in sorted((_distance(start, f[2]), f[2]) for f in split if f[1] == start)]
    if len(moves) <= FEW and chosen[2][0].isalpha():
        near = [start + end for end in rest]
        return f"all: {' '.join([*near, *sorted(set(moves) - set(near))])}"
    return f"{start}: {' '.join(end.removeprefix('=') for end in rest)}"


def _distance(start: str, end: str) -> int:
    """Steps of a king between two cells; the number itself for a number."""
    if end.isdigit():
        return int(end)
    if not end[0].isalpha():
        return 0
    return max(abs(ord(start[0]) - ord(end[0])), abs(int(start[1]) - int(end[1])))
