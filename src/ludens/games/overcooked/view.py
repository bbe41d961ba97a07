"""The view of Overcooked: step and score on top, the kitchen from above, and a legend below.

Both chefs see the same kitchen; the chef of the seat that looks is framed. A frame once drawn is kept, since
it is shown in four observations.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from ludens.core.clock import realtime_rule
from ludens.core.forms import Place, Places
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, SpriteSheet, sprite_sheet
from ludens.draw.palette import edge_of, letter_on, mix
from ludens.draw.shapes import letters
from ludens.draw.sprites import SMALL
from ludens.games.overcooked.game import (
    COOK_STEPS,
    COUNTER,
    DISH,
    DISHES,
    FLOOR,
    HATCH,
    LAYOUTS,
    NOTHING,
    ONION,
    ONIONS,
    POINTS,
    POT,
    SEATS,
    SOUPS,
    Chef,
    Kitchen,
    KitchenFrame,
    Overcooked,
    OvercookedState,
    Pot,
)

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


HUES = ("blue", "green")
INKS = ("ink", "line", *HUES, "white", "black", "yellow", "orange", "gray", "brown")
GROUNDS = ("page", "panel", "light", "wood")

_WAYS = {"UP": (0, -1), "DOWN": (0, 1), "RIGHT": (1, 0), "LEFT": (-1, 0)}
_SLOTS = ((0.37, 0.34), (0.63, 0.34), (0.5, 0.56))


class TileBrush:
    """Paints on one tile with a sheet's colours; outlines stand out from the tile's ground."""

    def __init__(self, sheet: SpriteSheet, draw: ImageDraw, px: int, scale: float, ground: str) -> None:
        self.rgb, self.draw, self.side, self.ground = sheet.rgb, draw, px * scale, sheet.rgb(ground)
        self.line = max(0.025, 1.6 / px)

    def disc(self, x: float, y: float, radius: float, hue: str, edge: float = 0.0) -> None:
        colour, s, edge = self.rgb(hue), self.side, min(max(edge, self.line), radius * 0.4)
        for r, fill in ((radius, edge_of(colour, self.ground)), (radius - edge, colour)):
            self.draw.ellipse(((x - r) * s, (y - r) * s, (x + r) * s, (y + r) * s), fill=fill)

    def box(self, x: float, y: float, w: float, h: float, hue: str) -> None:
        colour, s, e, radius = self.rgb(hue), self.side, min(self.line, 0.4 * min(w, h)), 0.06
        outer = (x * s, y * s, (x + w) * s, (y + h) * s)
        inner = ((x + e) * s, (y + e) * s, (x + w - e) * s, (y + h - e) * s)
        self.draw.rounded_rectangle(outer, radius * s, fill=edge_of(colour, self.ground))
        self.draw.rounded_rectangle(inner, max(0.0, radius - e) * s, fill=colour)

    def say(self, words: str, x: float, y: float, room: float, size: float, on: str) -> None:
        s = self.side
        letters(self.draw, words, x * s, y * s, room * s, size * s, letter_on(self.rgb(on)))

    def onion(self, x: float, y: float, r: float) -> None:
        s, skin = self.side, self.rgb("yellow")
        tip = [(x - 0.45 * r, y - 0.62 * r), (x, y - 1.35 * r), (x + 0.45 * r, y - 0.62 * r)]
        self.draw.polygon([(a * s, b * s) for a, b in tip], fill=edge_of(skin, self.ground))
        self.disc(x, y + 0.05 * r, r * 0.95, "yellow", r * 0.17)
        for bulge in (0.32, 0.72):
            oval = ((x - bulge * r) * s, (y - 0.8 * r) * s, (x + bulge * r) * s, (y + 0.9 * r) * s)
            self.draw.ellipse(oval, outline=edge_of(skin, self.ground), width=max(1, round(r * 0.11 * s)))

    def dish(self, x: float, y: float, r: float) -> None:
        self.disc(x, y, r, "white", r * 0.14)
        self.disc(x, y, r * 0.62, "white", r * 0.09)

    def thing(self, name: str, x: float, y: float, r: float) -> None:
        if name == ONION:
            self.onion(x, y, r)
        elif name == DISH:
            self.dish(x, y, r)
        elif name in SOUPS:
            self.disc(x, y, r * 1.15, "white", r * 0.14)
            self.disc(x, y, r * 0.84, "orange", r * 0.09)
            self.say(str(SOUPS.index(name) + 1), x, y, r * 1.2, r * 1.15, "orange")


class Art:
    """The sprites of one sheet at one tile size."""

    def __init__(self, sheet: SpriteSheet, px: int) -> None:
        self._sheet, self._px = sheet, px

    def tile(self, kind: str, holds: str = "") -> Sprite:
        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, kind)
            if kind == ONIONS:
                brush.box(0.12, 0.2, 0.76, 0.66, "brown")
                for x, y in ((0.34, 0.42), (0.66, 0.42), (0.5, 0.64)):
                    brush.onion(x, y, 0.15)
            elif kind == DISHES:
                for lift in (0.1, 0.0, -0.1):
                    brush.dish(0.5 + lift, 0.5 + lift, 0.3)
            elif kind == HATCH:
                brush.box(0.08, 0.08, 0.84, 0.84, "gray")
                brush.say("SERVE", 0.5, 0.36, 0.74, 0.28, "gray")
                arrow = [(0.5, 0.86), (0.3, 0.62), (0.7, 0.62)]
                points = [(x * brush.side, y * brush.side) for x, y in arrow]
                draw.polygon(points, fill=letter_on(brush.rgb("gray")))
            brush.thing(holds, 0.5, 0.5, 0.24)

        return self._sheet.sprite(("kitchen", kind, holds), self._px, self._px, _under(kind), paint)

    def pot(self, pot: Pot) -> Sprite:
        """A pot with its onions and, while it cooks, the steps it has cooked."""

        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, COUNTER)
            brush.box(0.03, 0.3, 0.94, 0.18, "black")
            brush.disc(0.5, 0.42, 0.38, "black")
            brush.disc(0.5, 0.42, 0.32, "orange" if pot.cooked >= 0 else "gray")
            for x, y in _SLOTS[: pot.onions]:
                brush.onion(x, y, 0.13)
            if pot.cooked >= 0:
                label = "READY" if pot.ready else f"{pot.cooked}/{COOK_STEPS}"
                brush.box(0.1, 0.71, 0.8, 0.27, "white")
                brush.say(label, 0.5, 0.845, 0.72, 0.24, "white")

        return self._sheet.sprite(("pot", pot), self._px, self._px, _under(COUNTER), paint)

    def chef(self, number: int, chef: Chef, you: bool = False) -> Sprite:
        """A chef on the floor: hat with the chef's number, eyes and hands toward the tile in front.

        The chef of the seat that looks has a frame around the tile.
        """
        hue, (fx, fy) = HUES[number], _WAYS[chef.facing]

        def paint(draw: ImageDraw, scale: float) -> None:
            brush = self._ground(draw, scale, FLOOR)

            def at(ahead: float, aside: float) -> tuple[float, float]:
                return 0.5 + (ahead - 0.08) * fx - aside * fy, 0.5 + (ahead - 0.08) * fy + aside * fx

            if you:
                end, width = brush.side - 1, round(max(2, self._px * 0.05) * scale)
                draw.rectangle((0, 0, end, end), outline=self._sheet.rgb("ink"), width=width)
            brush.disc(*at(0, 0), 0.36, hue, 0.03)
            for aside in (-0.27, 0.27):
                brush.disc(*at(0.32, aside), 0.09, hue)
            for aside in (-0.12, 0.12):
                brush.disc(*at(0.22, aside), 0.075, "white", 0.015)
                brush.disc(*at(0.25, aside), 0.04, "black", 0.01)
            brush.disc(*at(-0.09, 0), 0.21, "white")
            brush.say(str(number), *at(-0.09, 0), 0.3, 0.3, "white")
            brush.thing(chef.holds, *at(0.39, 0), 0.16)

        key = ("chef", number, chef.facing, chef.holds, you)
        return self._sheet.sprite(key, self._px, self._px, _under(FLOOR), paint)

    def _ground(self, draw: ImageDraw, scale: float, kind: str) -> TileBrush:
        """The tile itself: a line around it, thicker around tiles that cannot be walked on."""
        brush, side = TileBrush(self._sheet, draw, self._px, scale, _under(kind)), self._px * scale
        ground, line = self._sheet.rgb(_under(kind)), self._sheet.rgb("line")
        soft = mix(ground, line, 1, 4) if kind == FLOOR else line
        draw.rectangle((0, 0, side - 1, side - 1), outline=soft, width=round(scale * max(1, self._px / 60)))
        return brush


def _under(kind: str) -> str:
    return "light" if kind == FLOOR else "wood"


_TOP, _LEFT, _LEGEND = 52, 26, 388
"""Top and left edge of the kitchen and top of the legend, in units of 1/512 of the picture."""
_STRIP = 11
"""The height of the line with step and score in small pictures, in pixels."""
_KEPT_FRAMES, _KEPT_KITCHENS = 64, 16


class KitchenDrawing:
    """The pictures of one kitchen."""

    def __init__(self, place: Kitchen, sheet: SpriteSheet, horizon: int) -> None:
        self._kitchen, self._sheet, self._horizon = place, sheet, horizon
        px, rows, columns = sheet.px, len(place.rows), place.width
        self._small = sheet.size < SMALL
        if self._small:
            self.px = min((sheet.size - _STRIP) // rows, sheet.size // columns)
            self._x, self._y = (sheet.size - self.px * columns) // 2, _STRIP
        else:
            self.px = min(px(_LEGEND - 8 - _TOP) // rows, (sheet.size - px(_LEFT + 8)) // columns)
            self._x = px(_LEFT) + (sheet.size - px(_LEFT + 8) - self.px * columns) // 2
            self._y = px(_TOP)
        self._art = Art(sheet, self.px)
        self._bases = [self._background(me) for me in range(len(SEATS))]

    def picture(self, frame: KitchenFrame, me: int) -> Picture:
        canvas, font = self._bases[me].copy(), self._sheet.font_px(20)
        px, tiles, snapshot = self._sheet.px, self._kitchen.tiles, frame.snapshot
        if self._small:
            canvas.text(1, _STRIP // 2, str(frame.step), font)
            canvas.text(self._sheet.size - 1, _STRIP // 2, str(frame.score), font, anchor="rm")
        else:
            canvas.text(px(12), px(18), f"step {frame.step} of {self._horizon}", font, bold=True)
            canvas.text(px(500), px(18), f"score {frame.score}", font, anchor="rm", bold=True)
        for cell, pot in zip(self._kitchen.pots, snapshot.pots, strict=True):
            canvas.place(self._art.pot(pot), *self.corner(cell))
        for cell, lying in snapshot.counters:
            canvas.place(self._art.tile(tiles[cell], lying), *self.corner(cell))
        for number, chef in enumerate(snapshot.chefs):
            canvas.place(self._art.chef(number, chef, number == me), *self.corner(chef.cell))
        return canvas.picture()

    def corner(self, cell: int) -> tuple[int, int]:
        """The top left pixel of a cell."""
        row, column = divmod(cell, self._kitchen.width)
        return self._x + column * self.px, self._y + row * self.px

    def _background(self, me: int) -> Canvas:
        canvas, px, font = Canvas(self._sheet), self._sheet.px, self._sheet.font_px(14)
        for row in range(0 if self._small else len(self._kitchen.rows)):
            middle = self._y + row * self.px + self.px // 2
            canvas.text(self._x - px(12), middle, "ABCDEFGHI"[row], font, anchor="mm", bold=True)
        for column in range(0 if self._small else self._kitchen.width):
            middle = self._x + column * self.px + self.px // 2
            canvas.text(middle, self._y - px(11), str(column + 1), font, anchor="mm", bold=True)
        for cell, tile in enumerate(self._kitchen.tiles):
            canvas.place(self._art.tile(tile) if tile != POT else self._art.pot(Pot()), *self.corner(cell))
        if not self._small:
            self._legend(canvas, me)
        canvas.pixels.setflags(write=False)
        return canvas

    def _legend(self, canvas: Canvas, me: int) -> None:
        px, size = self._sheet.px, self._sheet.px(34)
        small = Art(self._sheet, size)
        names = ["you" if number == me else seat for number, seat in enumerate(SEATS)]
        entries = (
            *((small.chef(n, Chef(0, "DOWN"), n == me), name) for n, name in enumerate(names)),
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


class OvercookedView(View):
    """The kitchen, drawn tile by tile; in small pictures without legend, with step and score as numbers."""

    @property
    def smallest(self) -> int:
        layout = self.game.options["layout"]
        return 64 if layout in LAYOUTS and len(LAYOUTS[layout][0]) <= 5 else 128

    def __init__(self, game: Overcooked, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._horizon, self._notes = game.horizon, game.notes
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=INKS, grounds=GROUNDS)
        self._drawing = lru_cache(maxsize=_KEPT_KITCHENS)(
            partial(KitchenDrawing, sheet=self._sheet, horizon=game.horizon)
        )
        self._frame = lru_cache(maxsize=_KEPT_FRAMES)(self._draw_frame)

    def _draw_frame(self, place: Kitchen, frame: KitchenFrame, me: int) -> Picture:
        return self._drawing(place).picture(frame, me)

    def rules(self, seat: str) -> str:
        return super().rules(seat) + realtime_rule(self.game.step_seconds, "STAY")

    def image(self, state: OvercookedState, seat: str) -> Picture:
        return self._frame(state.kitchen, state.frames[-1], SEATS.index(seat))

    def images(self, state: OvercookedState, seat: str) -> tuple[Picture, ...]:
        return tuple(self._frame(state.kitchen, frame, SEATS.index(seat)) for frame in state.frames)

    def places(self, state: OvercookedState, seat: str) -> Places:
        """The chef's own cell and those beside it; clicking the tile in front of the chef uses it."""
        chef, place, size = state.snapshot.chefs[SEATS.index(seat)], state.kitchen, self.render.size
        drawing = self._drawing(place)
        boxes = {}
        for action in state.legal(seat):
            way = chef.facing if action == "INTERACT" else action
            cell = chef.cell + place.steps.get(way, 0)
            uses = way == chef.facing and place.tiles[cell] != FLOOR
            if action != "STAY" and uses != (action == "INTERACT"):
                continue  # a step against the tile in front has no effect, nor has using the floor
            boxes[action] = (Place.of_pixels((*drawing.corner(cell), drawing.px, drawing.px), size, size),)
        return boxes

    def text(self, state: OvercookedState, seat: str) -> str:
        place = state.kitchen
        columns = "".join(map(str, range(1, place.width + 1)))
        rows = [place.tiles[at : at + place.width] for at in range(0, len(place.tiles), place.width)]
        lines = [f"{letter} {row}" for letter, row in zip("ABCDEFGHI", rows, strict=False)]
        legend = (
            f"{FLOOR} floor, {COUNTER} counter, {POT} pot, {ONIONS} onion box, {DISHES} dish rack, "
            f"{HATCH} serving hatch"
        )
        frames = [self._describe(place, frame, seat) for frame in state.frames]
        return "\n".join(["The kitchen, without chefs and things:", f"  {columns}", *lines, legend, *frames])

    def _describe(self, place: Kitchen, frame: KitchenFrame, me: str) -> str:
        name, snapshot = place.name, frame.snapshot
        parts = [f"Step {frame.step} of {self._horizon}, score {frame.score}:"]
        for seat, hue, chef in zip(SEATS, HUES, snapshot.chefs, strict=True):
            way = chef.facing.lower()
            label = f"{seat} ({hue}, you)" if seat == me else f"{seat} ({hue})"
            parts.append(f"{label} at {name(chef.cell)} facing {way}, holding {_phrase(chef.holds)};")
        for cell, pot in zip(place.pots, snapshot.pots, strict=True):
            parts.append(f"pot {name(cell)}: {_cooked(pot)};")
        lying = ", ".join(f"{thing} on {name(cell)}" for cell, thing in snapshot.counters)
        return " ".join([*parts, f"on counters: {lying or 'nothing'}."])

    def notes(self, state: OvercookedState, seat: str) -> str:
        if not self._notes:
            return ""
        chef = state.snapshot.chefs[SEATS.index(seat)]
        lines = [f"You hold {_phrase(chef.holds)}. What both chefs did lately:"]
        for frame in state.frames:
            both = ", ".join(f"{name} {action}" for name, action in zip(SEATS, frame.actions, strict=False))
            lines += [f"step {frame.step}: {both}"] if both else []
        return "\n".join(lines if len(lines) > 1 else [lines[0] + " nothing yet."])

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        variant = str(values["variant"])
        points = {f"points_{event}": f"+{earned}" for event, earned in POINTS[variant].items()}
        me = SEATS.index(seat)
        useful = self.templates.fill(f"useful {variant}")
        return {**values, **points, "useful": useful, "hue": HUES[me], "other": SEATS[1 - me], "number": me}


def _phrase(thing: str) -> str:
    return "nothing" if thing == NOTHING else f"a {thing}" if thing != ONION else "an onion"


def _cooked(pot: Pot) -> str:
    inside = f"{pot.onions} onion{'s' * (pot.onions != 1)}"
    if pot.cooked < 0:
        return f"{inside}, not cooking"
    return f"{inside}, {'ready' if pot.ready else f'cooked {pot.cooked} steps'}"
