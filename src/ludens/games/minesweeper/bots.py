"""Minesweeper by exact inference: certain cells first, then the least risk. It uses only what is visible."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.minesweeper.oracle import HIDDEN, infer, names, neighbours
from ludens.games.minesweeper.rules import MinesweeperState


@dataclass
class Logic(Agent):
    """Opens a cell that is certainly safe, else one of those least likely to hold a mine.

    Among those it prefers few hidden cells around: such a cell is blank most often and opens an area.
    """

    kind = "bot/logic"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, MinesweeperState)
        game = state.game
        known = infer(game.rows, game.columns, game.mines, state.seen)
        covered = [
            [state.seen[near] for near in cells].count(HIDDEN)
            for cells in neighbours(game.rows, game.columns)
        ]
        rank = {cell: (known.with_mine[cell], covered[cell]) for cell in known.hidden}
        least = min(rank.values())
        cell = self.random.choice([cell for cell in known.hidden if rank[cell] == least])
        action = names(game.rows, game.columns)[cell]
        return Reply(action, action)
