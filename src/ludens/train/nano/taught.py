"""In which games, with which options, the model in the package can play."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.core.game import Game
from ludens.core.registry import make

TAUGHT = frozenset(
    (
        "tic_tac_toe", "breakthrough", "reversi", "chess", "gomoku", "sudoku", "minesweeper",
        "coin_dilemma", "monster_hunt", "battle_of_colors",
        "comma/wire", "comma/keypad", "comma/who", "spy",
    )
)  # fmt: skip
"""Games in which it learnt to move; in others it names moves that are not legal."""
_OPTIONS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "breakthrough": {"rows": (6,), "columns": (5,)},
    "spy": {"rounds": (1, 2)},
}
"""The options with which it learnt a game, where they are not the usual ones."""
_ANY = ("twins", "opening")
"""Options that only choose where a game begins."""


def is_taught(game: Game) -> bool:
    """Whether the model that comes with Ludens learnt to move in this game, with these options."""
    if game.name not in TAUGHT:
        return False
    usual, other = make(game.name).options, _OPTIONS.get(game.name, {})
    options = {name: value for name, value in game.options.items() if name not in _ANY}
    return all(value in other.get(name, (usual[name],)) for name, value in options.items())
