"""Breakthrough's own player: the paper's alpha-beta, on bitboards."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.breakthrough.rules import Breakthrough
from ludens.games.breakthrough.search import Position
from ludens.games.open_spiel.adapter import SpielState


@dataclass
class AlphaBeta(Agent):
    """Looks `depth` moves ahead with the paper's evaluation; the seat's stream decides between equals."""

    depth: int = option(5, low=1, high=12, help="moves looked ahead")
    kind = "bot/alphabeta"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state, game = ask.state, self.game
        assert isinstance(state, SpielState)
        assert isinstance(game, Breakthrough)
        start, end = self.random.choice(position_of(state, game).best(self.seat == "black", self.depth))
        action = _name(start, game) + _name(end, game)
        return Reply(action, action)


def position_of(state: SpielState, game: Breakthrough) -> Position:
    """OpenSpiel's board as bitboards."""
    lines = str(state.spiel).splitlines()[: game.rows]
    cells = "".join(line[1:] for line in lines)
    black = sum(1 << cell for cell, mark in enumerate(cells) if mark == "b")
    white = sum(1 << cell for cell, mark in enumerate(cells) if mark == "w")
    return Position(black, white, game.rows, game.columns)


def _name(cell: int, game: Breakthrough) -> str:
    row, column = divmod(cell, game.columns)
    return "abcdefgh"[column] + str(game.rows - row)
