"""Sudoku: place digits that break no rule; digits cannot be taken back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.state import Legal, State
from ludens.games.sudoku.generator import (
    BOX,
    COLUMN,
    DIGITS,
    EASY,
    FEWEST,
    HARD,
    MOST,
    NAMES,
    NUMBER,
    PEERS,
    ROW,
    Puzzle,
    candidates,
    puzzle,
    solve,
)

SEAT = "player"
_ACTION = re.compile(r"([A-I][1-9])=([1-9])")


@dataclass(frozen=True)
class Sudoku(Game):
    """Fill the grid so that every row, column and box holds each digit once.

    Seats: `player`, alone.
    Observation: the grid, rows A to I from the top, columns 1 to 9 from the left; clues are told apart from
    digits placed since.
    Actions: a digit for an empty cell, as in `A1=5`; legal when the cell's row, column and box do not hold
    that digit yet, whether or not it leads to the solution. Replies such as `A1 5` are accepted. Digits
    cannot be changed.
    Rewards: +1 for the full grid, -1 when no digit fits an empty cell any more.
    Facts: `solvable_digits` counts the digits placed that are those of the one solution, `wrong_digits`
    the others, `before_first_wrong` how many were placed before the first of them.
    """

    name = "sudoku"
    seats = (SEAT,)
    view_class = "ludens.games.sudoku.view:SudokuView"
    best = "bot/oracle"

    clues: int = option(
        0, low=0, high=MOST, help=f"digits given, from {FEWEST}; 0 lets the seed choose {HARD} to {EASY}"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0 < self.clues < FEWEST:
            raise BadOption(f"option 'clues' of sudoku must be 0 or at least {FEWEST}, not {self.clues}.")

    def start(self, seed: int) -> SudokuState:
        given = puzzle(seed, self.clues)
        return SudokuState(given, list(given.clues), ())


class SudokuState(State):
    """A partly filled grid."""

    def __init__(self, given: Puzzle, grid: list[int], placed: tuple[int, ...]) -> None:
        self.puzzle = given
        self.grid = grid
        self.placed = placed
        """The cells filled since the start, in order."""
        self.dead_cell = self._dead_cell()

    def _dead_cell(self) -> int | None:
        """An empty cell that no digit fits, if there is one."""
        grid = self.grid
        return next((c for c, digit in enumerate(grid) if not digit and not candidates(grid, c)), None)

    @property
    def solved(self) -> bool:
        """Whether every cell is filled: legal digits break no rule, so that is the solution."""
        return 0 not in self.grid

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.dead_cell is not None or self.solved else (SEAT,)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        grid = self.grid
        return Legal(
            f"{NAMES[cell]}={digit}"
            for cell, filled in enumerate(grid)
            if not filled
            for digit in DIGITS[candidates(grid, cell)]
        )

    def solution(self, seat: str) -> str | None:
        """The solution's digit for the first empty cell; any legal digit where the grid cannot be solved."""
        if (solved := solve(self.grid)) is None:
            return self.legal(seat).first
        cell = self.grid.index(0)
        return f"{NAMES[cell]}={solved[cell]}"

    def refusal(self, seat: str, action: str) -> str | None:
        written = _ACTION.fullmatch(action)
        if seat not in self.to_act or written is None:
            return super().refusal(seat, action)
        cell, digit = NUMBER[written[1]], int(written[2])
        if self.grid[cell]:
            return f"{written[1]} already holds the digit {self.grid[cell]}."
        twin = next((peer for peer in PEERS[cell] if self.grid[peer] == digit), None)
        if twin is None:
            return None
        units = (("row", ROW), ("column", COLUMN), ("box", BOX))
        shared = next(name for name, unit in units if unit[twin] == unit[cell])
        return f"the {shared} of {written[1]} already holds the digit {digit}, at {NAMES[twin]}."

    def _advance(self, actions: Mapping[str, str]) -> None:
        name, _, digit = actions[SEAT].partition("=")
        cell = NUMBER[name]
        self.grid[cell] = int(digit)
        self.placed = (*self.placed, cell)
        self.dead_cell = self._dead_cell()

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 1.0 if self.solved else 0.0 if self.dead_cell is None else -1.0}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {SEAT: -1.0}

    @property
    def facts(self) -> dict[str, Any]:
        right = [self.grid[cell] == self.puzzle.solution[cell] for cell in self.placed]
        return {
            "winner": SEAT if self.solved else None,
            "moves": len(self.placed),
            "clues": sum(map(bool, self.puzzle.clues)),
            "solvable_digits": sum(right),
            "wrong_digits": right.count(False),
            "before_first_wrong": right.index(False) if False in right else len(right),
        }

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.puzzle, copy.grid, copy.placed, copy.dead_cell = (
            self.puzzle, self.grid.copy(), self.placed, self.dead_cell,
        )  # fmt: skip
        return copy
