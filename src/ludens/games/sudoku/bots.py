"""Who solves Sudoku for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.sudoku.grid import NAMES
from ludens.games.sudoku.rules import SudokuState
from ludens.games.sudoku.solver import solve


@dataclass
class Solver(Agent):
    """Solves the grid as it stands and fills any cell; where nothing can be solved any more, plays at random.

    The latter happens only to a grid that somebody else has spoilt, such as a fallback of the table.
    """

    kind = "bot/solver"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, SudokuState)
        solution = solve(ask.state.grid)
        choices: Sequence[str] = ask.legal
        if solution is not None:
            empty = [cell for cell, digit in enumerate(ask.state.grid) if not digit]
            choices = [f"{NAMES[cell]}={solution[cell]}" for cell in empty]
        action = self.random.choice(choices)
        return Reply(action, action)
