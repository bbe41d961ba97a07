"""The grid dilemmas: what their rules, view and bots share, for two players on 5x5 cells."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from ludens.core.agent import ReasoningBot
from ludens.core.forms import Places
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.twins import TwinGame
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, draw_board, sprite_sheet

SIDE = 5
CELLS = SIDE * SIDE
MIDDLE = CELLS // 2

ACTIONS = Legal(("STAY", "RIGHT", "LEFT", "UP", "DOWN"))

_MOVES = {"STAY": (0, 0), "RIGHT": (0, 1), "LEFT": (0, -1), "UP": (-1, 0), "DOWN": (1, 0)}


class Plane:
    """Where moves lead, with walls around the grid or, on a torus, on to the opposite side of it."""

    def __init__(self, torus: bool) -> None:
        self._torus = torus
        cells = range(CELLS)
        self.after = {action: tuple(self._after(cell, action) for cell in cells) for action in ACTIONS}
        """`after[action][cell]`: where the action leads."""
        self.distance = tuple(around(self, cell, None) for cell in cells)
        """`distance[start][end]`: steps between two cells."""
        self.toward = tuple(tuple(self._toward(start, end) for end in cells) for start in cells)
        """`toward[start][end]`: the actions that come nearer, one or two of them; `STAY` at the end."""

    def _after(self, cell: int, action: str) -> int:
        (row, column), (down, right) = divmod(cell, SIDE), _MOVES[action]
        places = row + down, column + right
        if self._torus:
            row, column = (place % SIDE for place in places)
        else:
            row, column = (min(max(place, 0), SIDE - 1) for place in places)
        return row * SIDE + column

    def _toward(self, start: int, end: int) -> tuple[str, ...]:
        steps = self.distance[start][end]
        return tuple(a for a in ACTIONS if self.distance[self.after[a][start]][end] < steps) or ("STAY",)


@lru_cache(maxsize=3 * CELLS * CELLS)
def around(plane: Plane, goal: int, wall: int | None) -> tuple[int, ...]:
    """For every cell, the steps to the goal without entering the wall; for the wall itself, `CELLS`."""
    steps, edge, reached = {goal: 0}, {goal}, 0
    while edge:
        reached += 1
        edge = {plane.after[action][cell] for cell in edge for action in ACTIONS} - steps.keys() - {wall}
        steps |= dict.fromkeys(edge, reached)
    return tuple(steps.get(cell, CELLS) for cell in range(CELLS))


WALLS, TORUS = Plane(torus=False), Plane(torus=True)
PLANES = {"walls": WALLS, "torus": TORUS}


def quarter_turn(cell: int) -> int:
    """Where a cell is after a quarter turn of the grid."""
    row, column = divmod(cell, SIDE)
    return column * SIDE + SIDE - 1 - row


def name(cell: int) -> str:
    """The name of a cell: `A1` is the top left, `E5` the bottom right."""
    return f"{'ABCDE'[cell // SIDE]}{cell % SIDE + 1}"


SEATS = ("red", "blue")
RED, BLUE = 0, 1


@dataclass(frozen=True)
class ScoringEvent:
    """An event that changes the scores whenever it happens."""

    name: str
    words: str
    red: int
    blue: int


class GridState(State):
    """All positions, the counter of each event, and the last actions."""

    def __init__(self, game: GridGame, cells: Sequence[int], random: Stream) -> None:
        self.game = game
        self.cells = list(cells)
        """The cell of each of the game's `things`; the players come first."""
        self.counts = [0] * len(game.events)
        self.step = 0
        self.last: tuple[str, str] | None = None
        """The last joint action, red's first."""
        self.random = random
        self.plane = PLANES[game.edges]
        self._horizon = game.horizon

    @property
    def to_act(self) -> tuple[str, ...]:
        return SEATS if self.step < self._horizon else ()

    def legal(self, seat: str) -> Legal:
        return ACTIONS if self.step < self._horizon and seat in SEATS else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        red, blue = self.last = actions["red"], actions["blue"]
        cells = self.cells
        after = self.plane.after
        cells[RED] = after[red][cells[RED]]
        cells[BLUE] = after[blue][cells[BLUE]]
        self.step += 1
        self._meet()

    @abstractmethod
    def _meet(self) -> None:
        """Count events for the players' new cells, then respawn what was taken."""

    def _respawn(self, thing: int) -> None:
        cells, random = self.cells, self.random
        while (cell := random.below(CELLS)) in cells:
            pass
        cells[thing] = cell

    @property
    def returns(self) -> dict[str, float]:
        pairs = list(zip(self.counts, self.game.events, strict=True))
        return {hue: float(sum(count * getattr(event, hue) for count, event in pairs)) for hue in SEATS}

    @property
    def facts(self) -> dict[str, Any]:
        names = (event.name for event in self.game.events)
        return {"steps": self.step, **dict(zip(names, self.counts, strict=True))}

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy.cells, copy.counts, copy.random = self.cells.copy(), self.counts.copy(), self.random.clone()
        return copy


@dataclass(frozen=True)
class GridGame(TwinGame[GridState]):
    """Two players on a 5x5 grid, moving at the same time.

    Twins: everything at the start, and the same after a quarter turn of the grid.
    """

    seats = SEATS
    things: ClassVar[tuple[str, ...]]
    """Everything on the grid, players first; all start on different cells."""
    events: ClassVar[tuple[ScoringEvent, ...]]
    state: ClassVar[type[GridState]]

    horizon: int = option(50, low=1, high=1000, help="steps until the game ends")
    edges: str = option(
        "walls",
        choices=tuple(PLANES),
        help="a move off the grid stays or, on a torus, comes back on the opposite side: then nobody finds a "
        "meeting place without looking",
    )

    def actions(self, seat: str) -> tuple[str, ...]:
        return ACTIONS

    def world(self, seed: int) -> GridState:
        random = stream(seed, "grid")
        return self.state(self, random.sample(range(CELLS), len(self.things)), random)

    def pair(self, seed: int) -> tuple[GridState, GridState]:
        first = self.world(seed)
        return first, self.state(self, [quarter_turn(cell) for cell in first.cells], first.random.clone())

    def equivalent(self, state: GridState, seat: str, action: str) -> frozenset[str]:
        """Every action with the same outcome for the seat: those that lead to the same cell."""
        cell = state.cells[SEATS.index(seat)]
        goal = state.plane.after[action][cell]
        return frozenset(name for name in ACTIONS if state.plane.after[name][cell] == goal)


@dataclass
class Walker(ReasoningBot):
    """Goes to the nearest of its goals; ties are broken at random."""

    reason: bool = option(False, help="say first what it sees and every action that is best, for imitation")
    targets: ClassVar[tuple[int, ...]] = ()

    def begin(self) -> None:
        self.me = SEATS.index(self.seat)

    def goals(self, state: GridState) -> Collection[int]:
        return [state.cells[thing] for thing in self.targets]

    def choices(self, state: GridState) -> tuple[str, ...]:
        cell, goals, plane = state.cells[self.me], self.goals(state), state.plane
        nearest = min(plane.distance[cell][goal] for goal in goals)
        closest = (goal for goal in goals if plane.distance[cell][goal] == nearest)
        good = {action for goal in closest for action in plane.toward[cell][goal]}
        return tuple(action for action in ACTIONS if action in good)

    def sights(self, state: GridState) -> list[str]:
        """What its choice depends on, as it says it: the cell of everything."""
        return [name(cell) for cell in state.cells]

    def comparison(self, state: GridState) -> str:
        """How it finds its goal, as it says it; empty where what it sees says enough."""
        return ""

    def policy(self, state: State) -> dict[str, float]:
        assert isinstance(state, GridState)
        good = self.choices(state)
        return dict.fromkeys(good, 1 / len(good))

    def choose(self, state: GridState) -> str:
        return self.random.choice(self.choices(state))

    def reasons(self, state: GridState, move: str) -> list[str]:
        lines = " ".join(self.sights(state)), self.comparison(state), " ".join(self.choices(state))
        return [*filter(None, lines)]


Stack = tuple[str, ...]
"""The things on one cell, by name."""

_GROUND, _PANEL = "light", "panel"
_RIGHT = 306
_COLUMNS = (108, 140, 180)
"""Positions of the numbers in the events table, in units from the left edge of its panel."""
_TOP, _SCORE = 102, 392
_SMALLEST = 10
"""Text smaller than this many pixels is left out: the icons carry the same information."""


class GridView(View):
    """The view of a grid dilemma; a game adds icons for its own things and events."""

    title: ClassVar[str]
    legend: ClassVar[tuple[tuple[Stack, str], ...]]
    """What the tokens mean, in addition to the players."""
    event_cells: ClassVar[tuple[tuple[Stack, ...], ...]]
    icon_units: ClassVar[int] = 34
    inks: ClassVar[tuple[str, ...]] = ("ink", "line", "red", "blue", "white", "black")

    def __init__(self, game: GridGame, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._events, self._things, self._horizon = game.events, game.things, game.horizon
        grounds = ("page", _PANEL, _GROUND, "red", "blue")
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=self.inks, grounds=grounds)
        px = self._sheet.px
        box = (0, px(36), px(304), px(304))
        self._board = draw_board(self._sheet, SIDE, SIDE, "ABCDE", "12345", labels="lt", box=box)
        self._worded = px(12) >= _SMALLEST
        room = self._board.room(0.84)
        self._tile = cache(lambda things: self.stack(things, room, _GROUND))
        self._bases = {seat: self._background(seat) for seat in SEATS}

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        return {**values, "edges": self.templates.fill(f"edges {values['edges']}")}

    def brief(self, state: GridState, seat: str) -> str | None:
        """The edges, which no picture shows; walls are what a small model expects."""
        return "torus" if state.plane is TORUS else None

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        return self._sheet.pawn(thing.split()[0], px, ground)

    def stack(self, things: Stack, px: int, ground: str) -> Sprite:
        """The picture of a cell: one token, two players half and half, or small tokens side by side."""
        if things == ("red player", "blue player"):
            return self._half_and_half(px, ground)
        if len(things) == 1:
            return self.icon(things[0], px, ground)
        half = px // 2
        tile = np.full((px, px), self._sheet.index(ground), np.uint8)
        for place, thing in enumerate(things):
            left = place % 2 * (px - half)
            top = place // 2 * (px - half) if len(things) > 2 else (px - half) // 2
            tile[top : top + half, left : left + half] = self.icon(thing, half, ground)
        return tile

    def _half_and_half(self, px: int, ground: str) -> Sprite:
        """One pawn, left half red, right half blue; letters, in themes that have them, are beside it."""
        pawns = self._sheet
        red, blue = (pawns.pawn(hue, px, ground, " ") for hue in SEATS)
        both = np.hstack([red[:, : px // 2], blue[:, px // 2 :]])
        for hue, left in (("red", True), ("blue", False)):
            if letter := pawns.theme.letter(hue):
                mark = pawns.text(letter, max(8, round(px * 0.34)), "ink", ground, bold=True)
                height, width = mark.shape
                both[:height, 0 if left else px - width : width if left else px] = mark
        return both

    def image(self, state: GridState, seat: str) -> Picture:
        canvas = self._bases[seat].copy()
        stacks: dict[int, Stack] = {}
        for thing, cell in zip(self._things, state.cells, strict=True):
            stacks[cell] = (*stacks.get(cell, ()), thing)
        for cell, things in stacks.items():
            self._board.put(canvas, *divmod(cell, SIDE), self._tile(things))
        self._board.outline(canvas, *divmod(state.cells[SEATS.index(seat)], SIDE))
        self._numbers(canvas, state)
        return canvas.picture()

    def places(self, state: GridState, seat: str) -> Places:
        """The player's own cell and those beside it; moves off the grid have no place."""
        own_cell = state.cells[SEATS.index(seat)]
        leads = {action: state.plane.after[action][own_cell] for action in state.legal(seat)}
        leads = {action: cell for action, cell in leads.items() if action == "STAY" or cell != own_cell}
        return {action: (self._board.place(*divmod(cell, SIDE)),) for action, cell in leads.items()}

    def _font(self, units: float) -> int:
        return max(8, self._sheet.px(units))

    def _background(self, seat: str) -> Canvas:
        canvas, px = self._board.canvas(), self._sheet.px
        canvas.text(px(12), px(20), self.title, self._font(20), bold=True)
        canvas.rounded(px(_RIGHT), px(44), px(200), px(460), _PANEL)
        self._table(canvas)
        canvas.rounded(px(6), px(348), px(292), px(156), _PANEL)
        players = [((f"{hue} player",), f"{hue} (you)" if hue == seat else f"{hue} player") for hue in SEATS]
        both = (("red player", "blue player"), "both players on one cell")
        for place, (things, words) in enumerate((*players, *self.legend, both)):
            x, y = px(16 + place % 2 * 144), px(378 + place // 2 * 48)
            canvas.place(self.stack(things, px(36), _PANEL), x, y - px(18))
            if things == (f"{seat} player",):
                canvas.frame(x - px(3), y - px(21), px(42), px(42), "ink", max(2, px(3)))
            canvas.text(x + px(44), y, words, self._font(14), ground=_PANEL)
        canvas.pixels.setflags(write=False)
        return canvas

    def _row(self, number: int) -> int:
        return self._sheet.px(_TOP + number * (_SCORE - _TOP) / len(self._events))

    def _table(self, canvas: Canvas) -> None:
        px, left = self._sheet.px, self._sheet.px(_RIGHT)
        canvas.text(left + px(10), px(64), "event", self._font(13), ground=_PANEL, bold=True)
        for column, player in zip(_COLUMNS, ("red player", "blue player"), strict=False):
            canvas.centre(self.icon(player, px(24), _PANEL), left + px(column), px(62))
        canvas.text(left + px(194), px(64), "times", self._font(13), "ink", _PANEL, "rm", bold=self._worded)
        for number, (event, cells) in enumerate(zip(self._events, self.event_cells, strict=True)):
            y = self._row(number)
            canvas.fill(left + px(8), y - px(22), px(184), px(1), "line")
            size = self.icon_units
            for place, things in enumerate(cells):
                x = left + px(8 + place * (size + 3))
                canvas.place(self.stack(things, px(size), _PANEL), x, y - px(size) // 2)
            for column, reward in zip(_COLUMNS, (event.red, event.blue), strict=False):
                points = f"{reward:+d}" if reward else "0"
                canvas.text(left + px(column), y, points, self._font(16), "ink", _PANEL, "mm")
            if self._worded:
                canvas.text(left + px(10), y + px(26), event.words, px(12), ground=_PANEL, room=px(184))
        canvas.fill(left + px(8), px(_SCORE - 22), px(184), px(2), "line")
        canvas.text(left + px(10), px(_SCORE), "score", self._font(15), ground=_PANEL, bold=True)
        canvas.text(left + px(10), px(440), "last moves", self._font(13), ground=_PANEL, bold=True)

    def _numbers(self, canvas: Canvas, state: GridState) -> None:
        px, left, font = self._sheet.px, self._sheet.px(_RIGHT), self._font(16)
        canvas.text(px(500), px(20), f"step {state.step} of {self._horizon}", font, "ink", None, "rm")
        x = left + px(_COLUMNS[2])
        for number, count in enumerate(state.counts):
            canvas.text(x, self._row(number), str(count), font, "ink", _PANEL, "mm", bold=True)
        for column, score in zip(_COLUMNS, state.returns.values(), strict=False):
            canvas.text(left + px(column), px(_SCORE), f"{score:.0f}", font, "ink", _PANEL, "mm", bold=True)
        for place, words in enumerate(_last(state)):
            canvas.text(left + px(10), px(464 + place * 22), words, self._font(14), "ink", _PANEL)

    def text(self, state: GridState, seat: str) -> str:
        lines = [f"Step {state.step} of {self._horizon}."]
        for thing, cell in zip(self._things, state.cells, strict=True):
            lines.append(thing + " (you)" * (thing == f"{seat} player") + f": {name(cell)}")
        lines.append("last moves: " + ", ".join(_last(state)))
        lines.append("events so far:")
        for event, count in zip(self._events, state.counts, strict=True):
            lines.append(f"- {event.words} (red {event.red:+d}, blue {event.blue:+d}): {count}")
        scores = state.returns
        lines.append("score: " + ", ".join(f"{player} {scores[player]:.0f}" for player in SEATS))
        return "\n".join(lines)


def _last(state: GridState) -> list[str]:
    if state.last is None:
        return ["none yet"]
    return [f"{player} {action}" for player, action in zip(SEATS, state.last, strict=True)]
