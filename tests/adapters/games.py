"""The games that adapters with numbered actions are tested with: all that list their actions."""

from __future__ import annotations

from ludens import GAMES, make
from ludens.games.comma.panel import PUZZLES


def listed_games() -> list[str]:
    """Specs of every registered game with listed actions, of Pong for two, and of every COMMA panel."""
    games = {name: make(name) for name in GAMES.names()}
    listed = [name for name, game in games.items() if all(game.actions(s) is not None for s in game.seats)]
    return [*listed, "pong?players=2", *(f"comma/panel?moves=single&puzzle={puzzle}" for puzzle in PUZZLES)]
