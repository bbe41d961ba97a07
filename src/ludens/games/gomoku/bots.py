"""Gomoku's own player: a search over lines of five."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.gomoku.rules import Gomoku
from ludens.games.gomoku.search import WON, Position
from ludens.games.open_spiel.adapter import SpielState


@dataclass
class Lines(Agent):
    """Alpha-beta over the most promising crossings; the seat's stream decides between equals."""

    depth: int = option(3, low=1, high=6, help="stones looked ahead")
    width: int = option(10, low=1, high=60, help="crossings considered at every stone")
    kind = "bot/lines"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        assert isinstance(self.game, Gomoku)
        position = Position(self.game.size)
        for index, cell in enumerate(state.spiel.history()):
            position.put(cell, index % 2)
        side = len(position.stones) % 2
        action = self.game.action_name(state.spiel, side, self._best(position, side))
        return Reply(action, action)

    def _best(self, position: Position, side: int) -> int:
        best: list[int] = []
        best_value = -2 * WON
        for cell in position.candidates(side, self.width):
            position.put(cell, side)
            # A window one below the best value keeps equals apart from worse moves.
            value = -position.value(1 - side, self.depth - 1, -2 * WON, -(best_value - 1), self.width)
            position.take(cell)
            if value > best_value:
                best, best_value = [cell], value
            elif value == best_value:
                best.append(cell)
        return self.random.choice(best)
