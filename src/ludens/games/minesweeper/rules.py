"""Minesweeper: numbers count the mines near a cell; the game is won when every other cell is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.games.minesweeper.oracle import HIDDEN, MINE, Seen, infer, names, neighbours, opened_with

SEAT = "player"


@dataclass(frozen=True)
class Minesweeper(Game):
    """Open every cell that holds no mine; a number tells how many mines touch its cell.

    Seats: `player`, alone.
    Observation: the field, rows lettered from the top, columns numbered from the left; where the mines are
    is hidden.
    Actions: a hidden cell to open, as in `C3`. Where no mine touches it, its neighbours open as well.
    Rewards: +1 when every cell without a mine is open, -1 when a mine is opened.
    Facts: `certain_moves` counts the moves made while some cell was certainly safe, `safe_moves_taken`
    those of them that opened such a cell; `guesses` the moves made when there was none; `survival_chance`
    is how likely a player is to live through the risks taken. The first move counts in none of them,
    unless it may hit a mine: then it is a guess.
    """

    name = "minesweeper"
    seats = (SEAT,)
    version = 2
    view_class = "ludens.games.minesweeper.view:MinesweeperView"
    imperfect_information = True
    best = "bot/logic"
    bots: ClassVar[Mapping[str, str]] = {"logic": "ludens.games.minesweeper.bots:Logic"}

    rows: int = option(8, low=2, high=16, help="rows of the field")
    columns: int = option(8, low=2, high=16, help="columns of the field")
    mines: int = option(10, low=1, high=128, help="hidden mines")
    first: str = option(
        "safe",
        choices=("safe", "open", "any"),
        help="the first cell opened: never a mine, nor next to one (open), or any",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        kept = {"safe": 1, "open": min(3, self.rows) * min(3, self.columns), "any": 1}[self.first]
        most = self.rows * self.columns - kept
        if self.mines > most:
            raise BadOption(
                f"option 'mines' of minesweeper must be at most {most} on {self.rows} by {self.columns} "
                f"cells, not {self.mines}."
            )

    def start(self, seed: int) -> MinesweeperState:
        return MinesweeperState(self, stream(seed, "mines"))


class MinesweeperState(State):
    """A partly open field. Mines are placed when the first cell is opened."""

    def __init__(self, game: Minesweeper, random: Stream) -> None:
        self.game = game
        self._random = random
        self.mines: frozenset[int] | None = None
        self.seen: Seen = (HIDDEN,) * (game.rows * game.columns)
        """What the player sees: see `oracle`."""
        self.hit: int | None = None
        """The mine that was opened."""
        self._trail: tuple[tuple[Seen, int], ...] = ()
        """What was visible before each move, and the cell opened."""

    @property
    def won(self) -> bool:
        """Whether every cell without a mine is open."""
        return self.seen.count(HIDDEN) == self.game.mines and self.hit is None and bool(self._trail)

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.hit is not None or self.won else (SEAT,)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        called = names(self.game.rows, self.game.columns)
        return Legal([called[cell] for cell, code in enumerate(self.seen) if code == HIDDEN])

    def _advance(self, actions: Mapping[str, str]) -> None:
        cell = names(self.game.rows, self.game.columns).index(actions[SEAT])
        touching = neighbours(self.game.rows, self.game.columns)
        if self.mines is None:
            spared = {"safe": {cell}, "open": {cell, *touching[cell]}, "any": set[int]()}[self.game.first]
            free = [other for other in range(len(self.seen)) if other not in spared]
            self.mines = frozenset(self._random.sample(free, self.game.mines))
        self._trail = (*self._trail, (self.seen, cell))
        if cell in self.mines:
            self.hit = cell
            shown = dict.fromkeys(self.mines, MINE)
        else:
            shown = opened_with(self.mines, cell, touching)
        self.seen = tuple(shown.get(at, code) for at, code in enumerate(self.seen))

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 1.0 if self.won else 0.0 if self.hit is None else -1.0}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {SEAT: -1.0}

    @property
    def facts(self) -> dict[str, Any]:
        game = self.game
        certain = taken = guesses = 0
        chance = 1.0
        for seen, cell in self._trail if game.first == "any" else self._trail[1:]:
            known = infer(game.rows, game.columns, game.mines, seen)
            certain += bool(known.safe)
            guesses += not known.safe
            taken += cell in known.safe
            chance *= 1 - known.risk(cell)
        return {
            "winner": SEAT if self.won else None,
            "moves": len(self._trail),
            "opened": sum(0 <= code < MINE for code in self.seen),
            "certain_moves": certain,
            "safe_moves_taken": taken,
            "guesses": guesses,
            "survival_chance": chance,
        }

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.game, copy._random, copy.mines = self.game, self._random.clone(), self.mines
        copy.seen, copy.hit, copy._trail = self.seen, self.hit, self._trail
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        copy = self.clone()
        copy._random = random.clone()
        if copy.mines is not None and copy.to_act:
            known = infer(self.game.rows, self.game.columns, self.game.mines, self.seen)
            copy.mines = known.draw(random)
        return copy
