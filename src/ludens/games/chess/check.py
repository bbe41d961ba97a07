"""What the king of the player to move sees, and who gives check."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.games.chess.notation import NAMES, ranks

_FILES = "abcdefgh"
_CLOCKWISE = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))

At = tuple[int, int]


@dataclass(frozen=True)
class Sight:
    """Squares and pieces around a king."""

    king: str
    enemies: dict[str, str]
    """Square to name of enemies that nothing hides from it: the first piece in each of eight directions,
    clockwise from above, and knights that are one jump away."""
    attackers: list[str]
    """Those that give check."""

    @property
    def text(self) -> str:
        """In words, as in `king e6: e8 rook, d5 pawn: e8`; `safe` where nobody gives check."""
        seen = ", ".join(f"{square} {name}" for square, name in self.enemies.items())
        return f"king {self.king}: {seen}{': ' if seen else ''}{' '.join(self.attackers) or 'safe'}"


def sight(fen: str) -> Sight:
    """What the king of the player to move sees."""
    pieces = {
        (x, 7 - y): piece for y, row in enumerate(ranks(fen)) for x, piece in enumerate(row) if piece != "."
    }
    white = fen.split()[1] == "w"
    x, y = next(at for at, piece in pieces.items() if piece == ("K" if white else "k"))
    lines = [[(x + dx * far, y + dy * far) for far in range(1, 8)] for dx, dy in _CLOCKWISE]
    firsts = [at for line in lines if (at := next(filter(pieces.__contains__, line), None)) is not None]
    jumps = [(x + dx, y + dy) for dx, dy in _KNIGHT]
    found = [at for at in firsts if pieces[at].islower() == white]
    found += [at for at in jumps if pieces.get(at) == ("n" if white else "N")]
    kinds = {at: pieces[at].lower() for at in found}
    forward = 1 if white else -1
    attackers = [at for at, kind in kinds.items() if _attacks(kind, at[0] - x, at[1] - y, forward)]
    enemies = {_name(at): NAMES[kind] for at, kind in kinds.items()}
    return Sight(_name((x, y)), enemies, list(map(_name, attackers)))


def _attacks(kind: str, dx: int, dy: int, forward: int) -> bool:
    """Whether a piece so far from a king attacks it, if nothing is between them.

    Args:
        kind: Of the piece, in lower case.
        dx: To the right.
        dy: Upwards.
        forward: The direction in which the pawns of the king move, 1 or -1.
    """
    if kind == "n":
        return (dx, dy) in _KNIGHT
    if kind == "p":
        return abs(dx) == 1 and dy == forward
    return kind in ("rq" if 0 in (dx, dy) else "bq")


def _name(at: At) -> str:
    return f"{_FILES[at[0]]}{at[1] + 1}"
