"""Minesweeper: open every cell that holds no mine; a player by exact inference."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb
from string import ascii_uppercase
from typing import Any, ClassVar, NamedTuple, Self

from PIL.ImageDraw import ImageDraw

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.game import Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.draw import Picture, Sprite, Theme, get_theme
from ludens.draw.palette import BLACK, WHITE, contrast, hex_name, mix, visible
from ludens.draw.shapes import fill_shape, regular
from ludens.games.boards import BoardView, Matrix, cell_name, neighbours

HIDDEN, MINE = -1, 9

Codes = tuple[int, ...]
"""What is visible of each cell: the number of an open one, `HIDDEN` or `MINE`."""


@lru_cache(maxsize=64)
def names(rows: int, columns: int) -> tuple[str, ...]:
    """The names of the cells, row by row: A1, A2, ..."""
    return tuple(cell_name(cell, columns) for cell in range(rows * columns))


def around(mines: Collection[int], touching: tuple[int, ...]) -> int:
    return sum(cell in mines for cell in touching)


def opened_with(mines: Collection[int], cell: int, touching: tuple[tuple[int, ...], ...]) -> dict[int, int]:
    """The cells that open with a safe cell; neighbours of cells that touch no mine open as well."""
    numbers: dict[int, int] = {}
    waiting = [cell]
    while waiting:
        current = waiting.pop()
        if current not in numbers:
            numbers[current] = around(mines, touching[current])
            if not numbers[current]:
                waiting += touching[current]
    return numbers


_BITS, _SLOT = 4, 15


class Group(NamedTuple):
    """Hidden cells that touch the same numbers, by slot; no later group touches those that it `closes`."""

    cells: tuple[int, ...]
    numbers: tuple[int, ...]
    closes: tuple[int, ...]


class Knowledge:
    """Everything that follows from the visible cells. Made by `infer`."""

    def __init__(self, rows: int, columns: int, mines: int, codes: Codes) -> None:
        touching = neighbours(rows, columns)
        self.hidden = tuple(cell for cell, code in enumerate(codes) if code == HIDDEN)
        needs, slots = list[int](), dict[int, tuple[int, ...]]()
        for cell, code in enumerate(codes):
            if 0 <= code < MINE:
                covered = [near for near in touching[cell] if codes[near] == HIDDEN]
                open_mines = sum(codes[near] == MINE for near in touching[cell])
                for near in covered:
                    slots[near] = (*slots.get(near, ()), len(needs))
                if covered:
                    needs.append(code - open_mines)
        self._total = len(needs) * _BITS
        self._needs = sum(need << _BITS * slot for slot, need in enumerate(needs))
        self._needs += mines - codes.count(MINE) << self._total
        self._groups = _ordered(self.hidden, slots)

    @cached_property
    def _reached(self) -> list[dict[int, int]]:
        """Before every group and after the last: each integer of needs, and the ways to reach it."""
        layers = [{self._needs: 1}]
        for group in self._groups:
            after: dict[int, int] = {}
            for needs, ways in layers[-1].items():
                for _, rest, choices in self._steps(group, needs):
                    after[rest] = after.get(rest, 0) + ways * choices
            layers.append(after)
        return layers

    @cached_property
    def _endings(self) -> list[dict[int, int]]:
        """The same integers, and the number of ways to bring each to zero."""
        layers = [{0: 1}]
        for group, reached in zip(reversed(self._groups), reversed(self._reached[:-1]), strict=True):
            after, before = layers[-1], dict[int, int]()
            for needs in reached:
                ways = sum(n * after.get(rest, 0) for _, rest, n in self._steps(group, needs))
                if ways:
                    before[needs] = ways
            layers.append(before)
        return layers[::-1]

    def _steps(self, group: Group, needs: int) -> list[tuple[int, int, int]]:
        """Every possible number of mines in the group, the needs after it, and the number of ways."""
        most = min(len(group.cells), needs >> self._total)
        for slot in group.numbers:
            most = min(most, needs >> _BITS * slot & _SLOT)
        unit = sum(1 << _BITS * slot for slot in group.numbers) + (1 << self._total)
        steps = []
        for count in range(most + 1):
            rest = needs - count * unit
            if not any(rest >> _BITS * slot & _SLOT for slot in group.closes):
                steps.append((count, rest, comb(len(group.cells), count)))
        return steps

    @property
    def layouts(self) -> int:
        return self._endings[0].get(self._needs, 0)

    @cached_property
    def with_mine(self) -> dict[int, int]:
        """For every hidden cell, the number of layouts in which it holds a mine."""
        counts: dict[int, int] = {}
        for group, reached, after in zip(self._groups, self._reached, self._endings[1:], strict=False):
            steps = ((ways, *step) for needs, ways in reached.items() for step in self._steps(group, needs))
            mined = sum(ways * after.get(rest, 0) * choices * count for ways, count, rest, choices in steps)
            counts.update(dict.fromkeys(group.cells, mined // len(group.cells)))
        return counts

    @cached_property
    def safe(self) -> tuple[int, ...]:
        return tuple(cell for cell in self.hidden if not self.with_mine[cell])

    def risk(self, cell: int) -> float:
        return self.with_mine[cell] / self.layouts

    def draw(self, random: Stream) -> frozenset[int]:
        mines, needs = list[int](), self._needs
        for group, after in zip(self._groups, self._endings[1:], strict=True):
            steps = self._steps(group, needs)
            weights = [choices * after.get(rest, 0) for _, rest, choices in steps]
            count, needs, _ = random.weighted(steps, weights)
            mines += random.sample(group.cells, count)
        return frozenset(mines)


@lru_cache(maxsize=8192)
def infer(rows: int, columns: int, mines: int, codes: Codes) -> Knowledge:
    return Knowledge(rows, columns, mines, codes)


def _ordered(hidden: tuple[int, ...], slots: dict[int, tuple[int, ...]]) -> list[Group]:
    """The groups in an order that keeps few numbers open: the number nearest completion comes next."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for cell in hidden:
        alike.setdefault(slots.get(cell, ()), []).append(cell)
    waiting: dict[int, list[tuple[int, ...]]] = {}
    for numbers in alike:
        for slot in numbers:
            waiting.setdefault(slot, []).append(numbers)
    begun, order = set[int](), list[Group]()
    while waiting:
        slot = min(waiting, key=lambda slot: (slot not in begun, len(waiting[slot]), slot))
        numbers = waiting[slot][0]
        for touched in numbers:
            waiting[touched].remove(numbers)
            begun.add(touched)
        closes = tuple(touched for touched in numbers if not waiting[touched])
        for touched in closes:
            del waiting[touched]
        order.append(Group(tuple(alike.pop(numbers)), numbers, closes))
    return order + [Group(tuple(cells), (), ()) for cells in alike.values()]


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
    view_class = "ludens.games.minesweeper:MinesweeperView"
    imperfect_information = True
    best = "bot/logic"
    presets = {
        "easy": Preset({"rows": 6, "columns": 6, "mines": 4, "first": "open"}),
        "medium": Preset({"first": "open"}),
        "hard": Preset({"rows": 12, "columns": 12, "mines": 28}),
        "paper": Preset(),
    }
    bots: ClassVar[Mapping[str, str]] = {"logic": "ludens.games.minesweeper:Logic"}

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
        spared = {"safe": 1, "open": min(3, self.rows) * min(3, self.columns), "any": 1}[self.first]
        most = self.rows * self.columns - spared
        if self.mines > most:
            raise BadOption(
                f"option 'mines' of minesweeper must be at most {most} on {self.rows} by {self.columns} "
                f"cells, not {self.mines}."
            )

    def actions(self, seat: str) -> tuple[str, ...]:
        """Every cell, row by row from the top."""
        return tuple(names(self.rows, self.columns))

    def start(self, seed: int) -> MinesweeperState:
        return MinesweeperState(self, stream(seed, "mines"))


class MinesweeperState(State):
    """A partly open field. Mines are placed when the first cell is opened."""

    def __init__(self, game: Minesweeper, random: Stream) -> None:
        self.game = game
        self._random = random
        self.mines: frozenset[int] | None = None
        self.codes: Codes = (HIDDEN,) * (game.rows * game.columns)
        self.hit: int | None = None
        self._trail: tuple[tuple[Codes, int], ...] = ()
        """What was visible before each move, and the cell opened."""

    @property
    def won(self) -> bool:
        return self.codes.count(HIDDEN) == self.game.mines and self.hit is None and bool(self._trail)

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.hit is not None or self.won else (SEAT,)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        called = names(self.game.rows, self.game.columns)
        return Legal([called[cell] for cell, code in enumerate(self.codes) if code == HIDDEN])

    def _advance(self, actions: Mapping[str, str]) -> None:
        cell = names(self.game.rows, self.game.columns).index(actions[SEAT])
        touching = neighbours(self.game.rows, self.game.columns)
        if self.mines is None:
            spared = {"safe": {cell}, "open": {cell, *touching[cell]}, "any": set[int]()}[self.game.first]
            free = [number for number in range(len(self.codes)) if number not in spared]
            self.mines = frozenset(self._random.sample(free, self.game.mines))
        self._trail = (*self._trail, (self.codes, cell))
        if cell in self.mines:
            self.hit = cell
            opened = dict.fromkeys(self.mines, MINE)
        else:
            opened = opened_with(self.mines, cell, touching)
        self.codes = tuple(opened.get(at, code) for at, code in enumerate(self.codes))

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 1.0 if self.won else 0.0 if self.hit is None else -1.0}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {SEAT: -1.0}

    @property
    def facts(self) -> dict[str, Any]:
        game = self.game
        certain = safe_moves = guesses = 0
        chance = 1.0
        for codes, cell in self._trail if game.first == "any" else self._trail[1:]:
            knowledge = infer(game.rows, game.columns, game.mines, codes)
            certain += bool(knowledge.safe)
            guesses += not knowledge.safe
            safe_moves += cell in knowledge.safe
            chance *= 1 - knowledge.risk(cell)
        return {
            "winner": SEAT if self.won else None,
            "moves": len(self._trail),
            "opened": sum(0 <= code < MINE for code in self.codes),
            "certain_moves": certain,
            "safe_moves_taken": safe_moves,
            "guesses": guesses,
            "survival_chance": chance,
        }

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin._random = self._random.clone()
        return twin

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        twin = self.clone()
        twin._random = random.clone()
        if twin.mines is not None and twin.to_act:
            knowledge = infer(self.game.rows, self.game.columns, self.game.mines, self.codes)
            twin.mines = knowledge.draw(random)
        return twin


@dataclass
class Logic(Agent):
    """Opens a cell that is certainly safe, else one of those least likely to hold a mine.

    Among those it prefers few hidden cells around: such a cell is blank most often and opens an area.
    """

    reason: bool = option(False, help="say first where mines are and which cells are safe, for imitation")
    proof: bool = option(
        False, help="with reason: prefer a cell that one number shows to be safe, and say which and why"
    )
    kind = "bot/logic"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, MinesweeperState)
        game = state.game
        knowledge = infer(game.rows, game.columns, game.mines, state.codes)
        touching, called = neighbours(game.rows, game.columns), names(game.rows, game.columns)
        hidden = [code == HIDDEN for code in state.codes]
        covered = [sum(hidden[near] for near in near_cells) for near_cells in touching]
        rank = {cell: (knowledge.with_mine[cell], covered[cell]) for cell in knowledge.hidden}
        least = min(rank.values())
        move = called[self.random.choice([cell for cell in knowledge.hidden if rank[cell] == least])]
        if not self.reason:
            return Reply(move, move)
        mines = [called[cell] for cell in knowledge.hidden if knowledge.with_mine[cell] == knowledge.layouts]
        safe = [called[cell] for cell in knowledge.safe][:MOST_NAMED]
        lines = [" ".join(["mines", *mines]), " ".join(["safe", *safe])]
        if self.proof and (proof := self._proof(state, mines)):
            move, reason = proof
            lines.append(reason)
        return Reply("\n".join([*lines, ask.format.write(move)]), move)

    def _proof(self, state: MinesweeperState, mines: Sequence[str]) -> tuple[str, str] | None:
        """A cell that the most numbers show to be safe, because all their mines are known, and one of these
        numbers with its mines; None where no number alone shows one."""
        game = state.game
        touching, called = neighbours(game.rows, game.columns), names(game.rows, game.columns)
        proofs: dict[str, list[str]] = {}
        for cell, number in enumerate(state.codes):
            hidden = [called[near] for near in touching[cell] if state.codes[near] == HIDDEN]
            around = [near for near in hidden if near in mines]
            if 0 < number < MINE and len(around) == number:
                proof = " ".join([called[cell], str(number), *around])
                for near in hidden:
                    if near not in mines:
                        proofs.setdefault(near, []).append(proof)
        if not proofs:
            return None
        most = max(map(len, proofs.values()))
        move = self.random.choice([near for near, numbers in proofs.items() if len(numbers) == most])
        return move, f"{self.random.choice(proofs[move])} safe {move}"


MOST_NAMED = 16
"""Safe cells that are named before a move."""

_HUES = ("blue", "green", "red", "purple", "brown", "cyan", "black", "gray")
_READABLE = 4.5


def number_inks(theme: Theme, ground: str) -> tuple[str, ...]:
    """A colour for each number from 1 to 8, adjusted until it is legible on the ground.

    Where colour must not matter all numbers have the colour of ink: their shapes say enough.
    """
    if theme.lettered:
        return ("ink",) * 8
    inks = []
    for hue in _HUES:
        steps = (mix(theme.colour(hue), theme.colour("ink"), step, 20) for step in range(21))
        readable = (rgb for rgb in steps if contrast(rgb, theme.colour(ground)) >= _READABLE)
        inks.append(hex_name(next(readable, theme.colour("ink"))))
    return tuple(inks)


class MinesweeperView(BoardView):
    """Rows are lettered from the top, columns numbered from the left."""

    codes = {HIDDEN: "hidden", 0: "open and blank", **{n: str(n) for n in range(1, 9)}, MINE: "a mine"}
    marks = {**codes, HIDDEN: "#", 0: ".", MINE: "*"}
    grounds = ("page", "red")
    style = "lines"

    least_cell = 8

    def __init__(self, game: Minesweeper, render: RenderOptions, seed: int = 0) -> None:
        self.rows, self.columns = game.rows, game.columns
        colours = get_theme(render.theme, seed)
        self._number_inks = number_inks(colours, "page")
        page = colours.colour("page")
        self._stone = hex_name(visible(mix(page, colours.colour("line"), 2, 5), page))
        self.inks = ("ink", "line", "red", self._stone, *dict.fromkeys(self._number_inks))
        super().__init__(game, render, seed)

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        opening = self.templates.fill(f"opening {values['first']}")
        return {**values, "last": ascii_uppercase[self.rows - 1], "opening": opening}

    def matrix(self, state: MinesweeperState) -> Matrix:
        return [state.codes[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def image(self, state: MinesweeperState, seat: str) -> Picture:
        return self._picture(self.matrix(state), state.hit)

    def text(self, state: MinesweeperState, seat: str) -> str:
        field = super().text(state, seat)
        if state.hit is None:
            return field
        return f"{field}\nThe mine at {names(self.rows, self.columns)[state.hit]} was opened."

    def draw(self, matrix: Matrix) -> Picture:
        return self._picture(matrix, None)

    def weight(self, move: str) -> float:
        """Cells with few neighbours seldom open together with others: without weights, naming a corner, which
        mostly stays hidden, would be a good guess."""
        cell = names(self.rows, self.columns).index(move)
        return 1 / len(neighbours(self.rows, self.columns)[cell]) ** 2

    def scatter(self, random: Stream) -> Matrix:
        """Any number of open cells, mines among them, on a field with up to half its cells mined."""
        cells, touching = range(self.rows * self.columns), neighbours(self.rows, self.columns)
        mines = frozenset(random.sample(cells, random.between(0, len(cells) // 2)))
        codes = [HIDDEN] * len(cells)
        for cell in random.sample(cells, random.between(0, len(cells))):
            codes[cell] = MINE if cell in mines else around(mines, touching[cell])
        return [codes[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def _picture(self, matrix: Matrix, hit: int | None) -> Picture:
        place, canvas = self.board, self.board.canvas()
        tile, px = self._tile(), round(place.px * 0.66)
        for row, codes in enumerate(matrix):
            for column, code in enumerate(codes):
                if code == HIDDEN:
                    place.put(canvas, row, column, tile)
                elif code == MINE:
                    ground = "red" if row * self.columns + column == hit else "page"
                    if ground == "red":
                        place.tint(canvas, row, column, ground)
                    place.put(canvas, row, column, self._mine(ground))
                elif code:
                    digit = self._sheet.text(str(code), px, self._number_inks[code - 1], "page", True)
                    place.put(canvas, row, column, digit)
        size = place.px * self.columns, place.px * self.rows
        canvas.frame(place.x, place.y, *size, "line", self._sheet.px(2))
        return canvas.picture()

    def _tile(self) -> Sprite:
        """A raised tile, lit from the top left."""
        side, sheet = self.board.room(0.94), self._sheet
        edge, fill = max(1.5, side * 0.09), sheet.rgb(self._stone)

        def paint(draw: ImageDraw, s: float) -> None:
            full, rim = side * s, edge * s
            draw.rectangle((0, 0, full, full), fill=mix(fill, BLACK, 2, 5))
            draw.polygon([(0, 0), (full, 0), (0, full)], fill=mix(fill, WHITE, 3, 5))
            draw.rectangle((rim, rim, full - 1 - rim, full - 1 - rim), fill=fill)

        return sheet.sprite("tile", side, side, "page", paint)

    def _mine(self, ground: str) -> Sprite:
        """A ball with eight spikes, in a colour that contrasts with its ground."""
        side, sheet = self.board.room(0.74), self._sheet
        body = max(BLACK, WHITE, key=lambda rgb: contrast(rgb, sheet.rgb(ground)))

        def paint(draw: ImageDraw, s: float) -> None:
            middle = side * s / 2
            for x, y in regular(8, middle, middle, middle * 0.98, 0.0):
                draw.line((middle, middle, x, y), fill=body, width=round(side * s * 0.09))
            fill_shape(draw, "disc", middle, middle, middle * 0.68, body)
            fill_shape(draw, "disc", middle * 0.78, middle * 0.78, middle * 0.17, sheet.rgb(ground))

        return sheet.sprite("mine", side, side, ground, paint)
