"""The games that adapters with numbered actions are tested with: all that list their actions."""

from __future__ import annotations

from typing import Any

import pytest

from ludens import GAMES, make
from ludens.games.comma.panel import PUZZLES


def listed_games() -> list[str]:
    """Specs of every registered game with listed actions, of Pong for two, and of every COMMA panel."""
    games = {name: make(name) for name in GAMES.names()}
    listed = [name for name, game in games.items() if all(game.actions(s) is not None for s in game.seats)]
    return [*listed, "pong?players=2", *(f"comma/panel?moves=single&puzzle={puzzle}" for puzzle in PUZZLES)]


QUICK = {
    "tic_tac_toe",
    "chess",
    "hanabi",
    "kuhn_poker",
    "coin_dilemma",
    "pong",
    "sudoku",
    "comma/panel?moves=single&puzzle=wire",
}
"""One of each kind, tested always; the others with `--slow`, which `make adapters` sets."""


def listed_params() -> list[Any]:
    """`listed_games` as parameters of a test, those that are not quick marked slow."""
    return [pytest.param(spec, marks=[] if spec in QUICK else pytest.mark.slow) for spec in listed_games()]
