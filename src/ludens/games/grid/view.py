"""The view of the grid dilemmas: the grid, events with rewards and counters beside it, a legend below.

Both seats see the same game; the cell of the player who looks is framed. Everything that never changes is
drawn once for each seat and copied.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ludens.core.places import Places
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, draw_board, sprite_sheet
from ludens.games.grid.cells import AFTER, SIDE, name
from ludens.games.grid.rules import SEATS, GridGame, GridState

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
    shown: ClassVar[tuple[tuple[Stack, ...], ...]]
    """For each event, the cells that show it in the table."""
    icon_units: ClassVar[int] = 34
    """The size of those cells."""
    inks: ClassVar[tuple[str, ...]] = ("ink", "line", "red", "blue", "white", "black")

    def __init__(self, game: GridGame, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._events = game.events
        self._things = game.things
        self._horizon = game.horizon
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=self.inks, grounds=("page", _PANEL, _GROUND, "red", "blue")
        )
        px = self._sheet.px
        rows, columns = "ABCDE", "12345"
        self._board = draw_board(
            self._sheet, SIDE, SIDE, rows, columns, labels="lt", box=(0, px(36), px(304), px(304))
        )
        self._worded = px(12) >= _SMALLEST
        self._room = self._board.room(0.84)
        self._bases = {seat: self._background(seat) for seat in SEATS}

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        """The token of one thing."""
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
        both = np.hstack(
            [
                pawns.pawn("red", px, ground, " ")[:, : px // 2],
                pawns.pawn("blue", px, ground, " ")[:, px // 2 :],
            ]
        )
        for hue, left in (("red", True), ("blue", False)):
            if letter := pawns.theme.letter(hue):
                mark = pawns.text(letter, max(8, round(px * 0.34)), "ink", ground, bold=True)
                height, width = mark.shape
                both[:height, 0 if left else px - width : width if left else px] = mark
        return both

    def image(self, state: GridState, seat: str) -> Picture:
        canvas = self._bases[seat].copy()
        for cell, things in _stacks(self._things, state.cells).items():
            sprite = self._tile(things)
            self._board.put(canvas, *divmod(cell, SIDE), sprite)
        self._board.outline(canvas, *divmod(state.cells[SEATS.index(seat)], SIDE))
        self._numbers(canvas, state)
        return canvas.picture()

    def places(self, state: GridState, seat: str) -> Places:
        """The player's own cell and those beside it; moves off the grid have no place."""
        here = state.cells[SEATS.index(seat)]
        leads = {action: AFTER[action][here] for action in state.legal(seat)}
        return {
            action: (self._board.place(*divmod(cell, SIDE)),)
            for action, cell in leads.items()
            if action == "STAY" or cell != here
        }

    def _tile(self, things: Stack) -> Sprite:
        key = ("grid", self.game.name, things, self._room)
        found = self._sheet.cache.get(key)
        if not isinstance(found, np.ndarray):
            found = self._sheet.cache[key] = self.stack(things, self._room, _GROUND)
        return found

    def _font(self, units: float) -> int:
        return max(8, self._sheet.px(units))

    def _background(self, seat: str) -> Canvas:
        """Everything that is the same in every picture for this seat."""
        canvas, px = self._board.canvas(), self._sheet.px
        canvas.text(px(12), px(20), self.title, self._font(20), bold=True)
        canvas.rounded(px(_RIGHT), px(44), px(200), px(460), _PANEL)
        self._table(canvas)
        canvas.rounded(px(6), px(348), px(292), px(156), _PANEL)
        players = tuple(
            ((f"{hue} player",), f"{hue} (you)" if hue == seat else f"{hue} player") for hue in SEATS
        )
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
        for number, (event, cells) in enumerate(zip(self._events, self.shown, strict=True)):
            y = self._row(number)
            canvas.fill(left + px(8), y - px(22), px(184), px(1), "line")
            size = self.icon_units
            for place, things in enumerate(cells):
                x = left + px(8 + place * (size + 3))
                canvas.place(self.stack(things, px(size), _PANEL), x, y - px(size) // 2)
            for column, reward in zip(_COLUMNS, (event.red, event.blue), strict=False):
                said = f"{reward:+d}" if reward else "0"
                canvas.text(left + px(column), y, said, self._font(16), "ink", _PANEL, "mm")
            if self._worded:
                canvas.text(left + px(10), y + px(26), event.words, px(12), ground=_PANEL, room=px(184))
        canvas.fill(left + px(8), px(_SCORE - 22), px(184), px(2), "line")
        canvas.text(left + px(10), px(_SCORE), "score", self._font(15), ground=_PANEL, bold=True)
        canvas.text(left + px(10), px(440), "last moves", self._font(13), ground=_PANEL, bold=True)

    def _numbers(self, canvas: Canvas, state: GridState) -> None:
        px, left, font = self._sheet.px, self._sheet.px(_RIGHT), self._font(16)
        canvas.text(px(500), px(20), f"step {state.step} of {self._horizon}", font, "ink", None, "rm")
        for number, count in enumerate(state.counts):
            canvas.text(
                left + px(_COLUMNS[2]), self._row(number), str(count), font, "ink", _PANEL, "mm", bold=True
            )
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


def _stacks(things: tuple[str, ...], cells: list[int]) -> dict[int, Stack]:
    found: dict[int, Stack] = {}
    for thing, cell in zip(things, cells, strict=True):
        found[cell] = (*found.get(cell, ()), thing)
    return found
