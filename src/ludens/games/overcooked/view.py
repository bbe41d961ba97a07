"""The view of Overcooked: step and score on top, the kitchen from above, and a legend below.

Both chefs see the same kitchen; the chef of the seat that looks is framed. A frame once drawn is kept, since
it is shown in four observations.
"""

from __future__ import annotations

from functools import lru_cache

from ludens.core.places import Place, Places
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, sprite_sheet
from ludens.games.overcooked.art import GROUNDS, HUES, INKS, Art
from ludens.games.overcooked.cooking import DISH, NOTHING, ONION, SOUPS, Chef, Pot
from ludens.games.overcooked.kitchens import COUNTER, DISHES, FLOOR, HATCH, ONIONS, POT, kitchen
from ludens.games.overcooked.rules import POINTS, SEATS, Frame, Overcooked, OvercookedState

_TOP, _LEFT, _LEGEND = 52, 26, 388
"""Vertical positions of kitchen and legend, in units of 1/512 of the picture."""
_KEPT_FRAMES = 64


class OvercookedView(View):
    """The kitchen, drawn tile by tile."""

    def __init__(self, game: Overcooked, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._kitchen, self._horizon = kitchen(game.layout), game.horizon
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=INKS, grounds=GROUNDS)
        px, rows, columns = self._sheet.px, len(self._kitchen.rows), self._kitchen.width
        self._px = min(px(_LEGEND - 8 - _TOP) // rows, (render.size - px(_LEFT + 8)) // columns)
        self._x = px(_LEFT) + (render.size - px(_LEFT + 8) - self._px * columns) // 2
        self._y = px(_TOP)
        self._art = Art(self._sheet, self._px)
        self._bases = [self._background(me) for me in range(len(SEATS))]
        self._frame = lru_cache(maxsize=_KEPT_FRAMES)(self._drawn)

    def image(self, state: OvercookedState, seat: str) -> Picture:
        return self._frame(state.frames[-1], SEATS.index(seat))

    def images(self, state: OvercookedState, seat: str) -> tuple[Picture, ...]:
        return tuple(self._frame(frame, SEATS.index(seat)) for frame in state.frames)

    def places(self, state: OvercookedState, seat: str) -> Places:
        """The chef's own cell and those beside it; clicking the tile in front of the chef uses it."""
        chef, tiles, size = state.snapshot.chefs[SEATS.index(seat)], self._kitchen.tiles, self.render.size
        found = {}
        for action in state.legal(seat):
            way = chef.facing if action == "INTERACT" else action
            cell = chef.cell + self._kitchen.steps.get(way, 0)
            used = way == chef.facing and tiles[cell] != FLOOR
            if action != "STAY" and used != (action == "INTERACT"):
                continue  # a step against the tile in front has no effect, nor has using the floor
            found[action] = (Place.of_pixels((*self._corner(cell), self._px, self._px), size, size),)
        return found

    def _drawn(self, frame: Frame, me: int) -> Picture:
        canvas, font = self._bases[me].copy(), self._sheet.font_px(20)
        px, tiles, snapshot = self._sheet.px, self._kitchen.tiles, frame.snapshot
        canvas.text(px(12), px(18), f"step {frame.step} of {self._horizon}", font, bold=True)
        canvas.text(px(500), px(18), f"score {frame.score}", font, anchor="rm", bold=True)
        for cell, pot in zip(self._kitchen.pots, snapshot.pots, strict=True):
            self._put(canvas, cell, self._art.pot(pot))
        for cell, lying in snapshot.counters:
            self._put(canvas, cell, self._art.tile(tiles[cell], lying))
        for number, chef in enumerate(snapshot.chefs):
            self._put(canvas, chef.cell, self._art.chef(number, chef, number == me))
        return canvas.picture()

    def _put(self, canvas: Canvas, cell: int, sprite: Sprite) -> None:
        canvas.place(sprite, *self._corner(cell))

    def _corner(self, cell: int) -> tuple[int, int]:
        """The top left pixel of a tile."""
        row, column = divmod(cell, self._kitchen.width)
        return self._x + column * self._px, self._y + row * self._px

    def _background(self, me: int) -> Canvas:
        """Everything that is the same in every frame for this chef."""
        canvas, px, font = Canvas(self._sheet), self._sheet.px, self._sheet.font_px(14)
        for row in range(len(self._kitchen.rows)):
            middle = self._y + row * self._px + self._px // 2
            canvas.text(self._x - px(12), middle, "ABCDEFGHI"[row], font, anchor="mm", bold=True)
        for column in range(self._kitchen.width):
            middle = self._x + column * self._px + self._px // 2
            canvas.text(middle, self._y - px(11), str(column + 1), font, anchor="mm", bold=True)
        for cell, tile in enumerate(self._kitchen.tiles):
            self._put(canvas, cell, self._art.tile(tile) if tile != POT else self._art.pot(Pot()))
        self._legend(canvas, me)
        canvas.pixels.setflags(write=False)
        return canvas

    def _legend(self, canvas: Canvas, me: int) -> None:
        px, size = self._sheet.px, self._sheet.px(34)
        small = Art(self._sheet, size)
        entries = (
            *(
                (small.chef(n, Chef(0, "DOWN"), n == me), "you" if n == me else seat)
                for n, seat in enumerate(SEATS)
            ),
            (small.tile(COUNTER, ONION), "onion"),
            (small.tile(COUNTER, DISH), "dish"),
            (small.tile(COUNTER, SOUPS[-1]), "soup of 3"),
            (small.tile(ONIONS), "onion box"),
            (small.tile(DISHES), "dish rack"),
            (small.pot(Pot(2)), "pot"),
            (small.pot(Pot(3, 2)), "cooking"),
            (small.tile(HATCH), "hatch"),
        )
        for place, (sprite, words) in enumerate(entries):
            x, y = px(6 + 100 * (place % 5) + 50), px(_LEGEND + 62 * (place // 5))
            canvas.place(sprite, x - size // 2, y)
            canvas.text(x, y + px(46), words, self._sheet.font_px(13), anchor="mm", room=px(100))

    def text(self, state: OvercookedState, seat: str) -> str:
        place = self._kitchen
        lines = [
            "The kitchen, without chefs and things:",
            "  " + "".join(map(str, range(1, place.width + 1))),
        ]
        rows = [place.tiles[at : at + place.width] for at in range(0, len(place.tiles), place.width)]
        lines += [f"{letter} {row}" for letter, row in zip("ABCDEFGHI", rows, strict=False)]
        lines.append(
            f"{FLOOR} floor, {COUNTER} counter, {POT} pot, {ONIONS} onion box, {DISHES} dish rack, "
            f"{HATCH} serving hatch"
        )
        return "\n".join([*lines, *(self._describe(frame, seat) for frame in state.frames)])

    def _describe(self, frame: Frame, me: str) -> str:
        """One frame in words."""
        name, snapshot = self._kitchen.name, frame.snapshot
        said = [f"Step {frame.step} of {self._horizon}, score {frame.score}:"]
        for seat, hue, chef in zip(SEATS, HUES, snapshot.chefs, strict=True):
            way = chef.facing.lower()
            who = f"{seat} ({hue}, you)" if seat == me else f"{seat} ({hue})"
            said.append(f"{who} at {name(chef.cell)} facing {way}, holding {_held(chef.holds)};")
        for cell, pot in zip(self._kitchen.pots, snapshot.pots, strict=True):
            said.append(f"pot {name(cell)}: {_cooked(pot)};")
        lying = ", ".join(f"{what} on {name(cell)}" for cell, what in snapshot.counters)
        return " ".join([*said, f"on counters: {lying or 'nothing'}."])

    def notes(self, state: OvercookedState, seat: str) -> str:
        chef = state.snapshot.chefs[SEATS.index(seat)]
        lines = [f"You hold {_held(chef.holds)}. What both chefs did lately:"]
        for frame in state.frames:
            both = ", ".join(f"{who} {action}" for who, action in zip(SEATS, frame.actions, strict=False))
            lines += [f"step {frame.step}: {both}"] if both else []
        return "\n".join(lines if len(lines) > 1 else [lines[0] + " nothing yet."])

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        variant = str(values["variant"])
        points = {f"points_{event}": f"+{earned}" for event, earned in POINTS[variant].items()}
        me = SEATS.index(seat)
        useful = self.templates.fill(f"useful {variant}")
        return {**values, **points, "useful": useful, "hue": HUES[me], "other": SEATS[1 - me], "number": me}


def _held(what: str) -> str:
    return "nothing" if what == NOTHING else f"a {what}" if what != ONION else "an onion"


def _cooked(pot: Pot) -> str:
    inside = f"{pot.onions} onion{'s' * (pot.onions != 1)}"
    if pot.cooked < 0:
        return f"{inside}, not cooking"
    return f"{inside}, {'ready' if pot.ready else f'cooked {pot.cooked} steps'}"
