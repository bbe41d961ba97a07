"""Kayles: knock down one pin or two neighbours; who knocks down the last pin wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import ludens
from ludens.draw import Canvas, Picture, sprite_sheet

SEATS = ("first", "second")


@dataclass(frozen=True)
class Kayles(ludens.Game):
    """Knock down one pin or two neighbours; the player who knocks down the last pin wins.

    Seats: `first`, then `second`.
    Observation: a row of pins with their numbers; a fallen pin leaves a gap.
    Actions: the pins, as in `4` or `4-5`.
    Rewards: +1 for the last pin, -1 for the other seat.
    """

    name = "kayles"
    version = 1
    seats = SEATS
    view_class = "kayles.game:KaylesView"
    bots = {"nimber": "kayles.bots:Nimber"}
    best = "bot/nimber"
    pins: int = ludens.option(9, low=3, high=12, help="how many pins stand in the row")

    def actions(self, seat: str) -> tuple[str, ...]:
        numbers = range(1, self.pins + 1)
        return (*map(str, numbers), *(f"{left}-{left + 1}" for left in numbers[:-1]))

    def start(self, seed: int) -> KaylesState:
        """A row in which one pin, drawn from the seed, has fallen already: else all games would be one."""
        gap = ludens.stream(seed, "gap").between(1, self.pins)
        return KaylesState(tuple(pin for pin in range(1, self.pins + 1) if pin != gap), 0)


class KaylesState(ludens.State):
    def __init__(self, standing: tuple[int, ...], moves: int) -> None:
        self.standing, self.moves = standing, moves

    @property
    def to_act(self) -> tuple[str, ...]:
        return (SEATS[self.moves % 2],) if self.standing else ()

    def legal(self, seat: str) -> ludens.Legal:
        if seat not in self.to_act:
            return ludens.Legal()
        pairs = [f"{pin}-{pin + 1}" for pin in self.standing if pin + 1 in self.standing]
        return ludens.Legal([*map(str, self.standing), *pairs])

    def _advance(self, actions: Mapping[str, str]) -> None:
        fallen = {int(pin) for pin in actions[self.to_act[0]].split("-")}
        self.standing = tuple(pin for pin in self.standing if pin not in fallen)
        self.moves += 1

    @property
    def returns(self) -> dict[str, float]:
        if self.standing:
            return dict.fromkeys(SEATS, 0.0)
        winner = SEATS[(self.moves - 1) % 2]
        return {seat: 1.0 if seat == winner else -1.0 for seat in SEATS}

    def clone(self) -> KaylesState:
        return KaylesState(self.standing, self.moves)


class KaylesView(ludens.View):
    """A row of discs with numbers below."""

    def __init__(self, game: Kayles, render: ludens.RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._pins = game.pins
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=("ink", "blue"), grounds=("page",))

    def image(self, state: KaylesState, seat: str) -> Picture:
        canvas, px = Canvas(self._sheet, "page"), self._sheet.px
        pin = self._sheet.stone("blue", self._side, "page")
        for number in range(1, self._pins + 1):
            x, y = self._corner(number)
            canvas.text(x + self._side // 2, y + px(50), str(number), px(18), anchor="mm", bold=True)
            if number in state.standing:
                canvas.place(pin, x, y)
        return canvas.picture()

    @property
    def _side(self) -> int:
        return self._sheet.px(28)

    def _corner(self, number: int) -> tuple[int, int]:
        middle = self._sheet.px(512) * (2 * number - 1) // (2 * self._pins)
        return middle - self._side // 2, self._sheet.px(220)

    def text(self, state: KaylesState, seat: str) -> str:
        numbers = range(1, self._pins + 1)
        return "row: " + " ".join(str(pin) if pin in state.standing else "_" for pin in numbers)

    def places(self, state: KaylesState, seat: str) -> ludens.Places:
        """Where people click: on a pin, or between two."""
        size, side, places = self._sheet.size, self._side, {}
        for action in state.legal(seat):
            (left, y), (right, _) = (
                self._corner(int(pin)) for pin in (action.split("-")[0], action.split("-")[-1])
            )
            box = (left, y, side, side) if left == right else (left + side, y, right - left - side, side)
            places[action] = (ludens.Place.of_pixels(box, size, size),)
        return places
