"""What the king of the player to move sees, and who gives check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ludens.games.chess.notation import NAMES, ranks

_FILES = "abcdefgh"
_CLOCKWISE = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_OWN = "own"

At = tuple[int, int]
Seen = tuple[str, str]
"""A square, and what is there: nothing, `own` for an own piece, or the name of an enemy."""


@dataclass(frozen=True)
class Sight:
    """Squares and pieces around a king."""

    king: str
    lines: list[list[Seen]]
    """Outwards in each of eight directions, clockwise from above: up to an enemy, or the piece behind an own
    one, which an enemy there may pin. Directions without a square are left out."""
    jumps: list[Seen]
    """Where a knight would be one jump away; enemies that are none are left out."""
    attackers: list[str]
    """Squares of those that give check."""

    def text(self, pointers: Mapping[str, str]) -> str:
        """In words, square by square, so that each is looked at in turn.

        Args:
            pointers: How to point at each square.
        """
        seen = ", ".join(_said(line, pointers) for line in self.lines)
        verdict = " ".join(["check", *self.attackers]) if self.attackers else "safe"
        king = f"king {pointers[self.king]} {self.king}"
        return "\n".join([king, seen, _said(self.jumps, pointers), verdict])


def sight(fen: str) -> Sight:
    """What the king of the player to move sees."""
    pieces = {
        (x, 7 - y): piece for y, row in enumerate(ranks(fen)) for x, piece in enumerate(row) if piece != "."
    }
    white = fen.split()[1] == "w"
    x, y = next(at for at, piece in pieces.items() if piece == ("K" if white else "k"))
    there = {
        (column, row): _named(pieces.get((column, row)), white) for column in range(8) for row in range(8)
    }
    lines = [
        list(_until_hidden([(x + dx * far, y + dy * far) for far in range(1, 8)], there))
        for dx, dy in _CLOCKWISE
    ]
    knight = NAMES["n"]
    jumps = [at for dx, dy in _KNIGHT if (at := (x + dx, y + dy)) in there]
    taken = [[at for at in line if at in pieces] for line in lines]
    forward = 1 if white else -1
    attackers = [at for at, *_ in filter(None, taken) if _attacks(there[at], at[0] - x, at[1] - y, forward)]
    attackers += [at for at in jumps if there[at] == knight]
    return Sight(
        _name((x, y)),
        [[(_name(at), there[at]) for at in line] for line in lines if line],
        [(_name(at), knight if there[at] == knight else "") for at in jumps],
        list(map(_name, attackers)),
    )


def _named(piece: str | None, white: bool) -> str:
    if piece is None:
        return ""
    return NAMES[piece.lower()] if piece.islower() == white else _OWN


def _until_hidden(line: Iterable[At], there: Mapping[At, str]) -> Iterator[At]:
    """The squares of a line on the board up to an enemy, or to the piece behind an own one."""
    behind_own = False
    for at in line:
        if at not in there:
            return
        yield at
        if there[at] == _OWN and not behind_own:
            behind_own = True
        elif there[at]:
            return


def _attacks(enemy: str, dx: int, dy: int, forward: int) -> bool:
    """Whether the first piece in a line from a king attacks it.

    Args:
        enemy: Its name, or `own`.
        dx: To the right.
        dy: Upwards.
        forward: The direction in which the pawns of the king move, 1 or -1.
    """
    if enemy == NAMES["p"]:
        return abs(dx) == 1 and dy == forward
    return enemy in (NAMES["q"], NAMES["r" if 0 in (dx, dy) else "b"])


def _said(squares: Iterable[Seen], pointers: Mapping[str, str]) -> str:
    return " ".join(word for square, what in squares for word in (pointers[square], what) if word)


def _name(at: At) -> str:
    return f"{_FILES[at[0]]}{at[1] + 1}"
