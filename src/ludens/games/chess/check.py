"""Who gives check."""

from __future__ import annotations

from ludens.games.chess.notation import ranks

_FILES = "abcdefgh"
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


def checks(fen: str) -> tuple[str, list[str]]:
    """The square of the king of the player to move, and those of the pieces that attack it, nearest first."""
    pieces = {
        (x, 7 - y): piece for y, row in enumerate(ranks(fen)) for x, piece in enumerate(row) if piece != "."
    }
    white = fen.split()[1] == "w"
    x, y = next(at for at, piece in pieces.items() if piece == ("K" if white else "k"))

    def enemy(at: tuple[int, int], kinds: str) -> bool:
        return pieces.get(at, "") in list(kinds if white else kinds.upper())

    found = [(x + dx, y + (1 if white else -1)) for dx in (1, -1)]
    found = [at for at in found if enemy(at, "p")]
    found += [(x + dx, y + dy) for dx, dy in _KNIGHT if enemy((x + dx, y + dy), "n")]
    for steps, kinds in ((_STRAIGHT, "rq"), (_DIAGONAL, "bq")):
        for dx, dy in steps:
            line = ((x + dx * far, y + dy * far) for far in range(1, 8))
            first = next((at for at in line if at in pieces), None)
            if first is not None and enemy(first, kinds):
                found.append(first)
    found.sort(key=lambda at: max(abs(at[0] - x), abs(at[1] - y)))
    return _name(x, y), [_name(*at) for at in found]


def _name(x: int, y: int) -> str:
    return f"{_FILES[x]}{y + 1}"
