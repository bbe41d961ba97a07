"""The map: the kitchen from above, with robots, things, open and closed furniture, heights and a legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Canvas, Picture, SpriteSheet, sprite_sheet
from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.floor import BOTTOM, GROUND, HEAD, ROBOT, SIDE, Box, Floor, Item, own_box
from ludens.games.viki.furniture_art import furniture
from ludens.games.viki.object_art import thing
from ludens.games.viki.robot_art import robot

if TYPE_CHECKING:
    from ludens.core.view import RenderOptions

INKS = (
    "ink", "accent", "line", "muted", "white", "black", "gray", "red", "orange", "yellow", "green", "blue",
    "cyan", "purple", "magenta", "brown",
)  # fmt: skip
GROUNDS = ("page", "panel", "light", "wood")
_LEGEND = "1.2 m: height of a surface, or of what is inside.  ON: used.  A line from a robot: reaches for."


class Map:
    """Draws floor plans in one theme and size."""

    def __init__(self, render: RenderOptions, seed: int = 0) -> None:
        self._sheet: SpriteSheet = sprite_sheet(render.theme, render.size, seed, inks=INKS, grounds=GROUNDS)
        self._base: Canvas | None = None

    def picture(self, floor: Floor, you: str = "") -> Picture:
        """The picture of a floor plan; the robot `you` is marked."""
        if self._base is None:
            self._base = self._background()
        canvas = self._base.copy()
        heights = {area.name: area.height for area in floor.scene.areas}
        for area, box in floor.surfaces.items():
            self._surface(canvas, area, box, heights[area])
            if not floor.sees(area):
                cx, cy = box.centre
                ground = "page" if area == GROUND else "wood"
                canvas.text(self._sheet.px(cx), self._sheet.px(cy), "not in view", self._sheet.font_px(11),
                            "ink", ground, "mm")  # fmt: skip
            for item in floor.items[area]:
                self._item(canvas, item, floor, "page" if area == GROUND else "wood")
        self._reaching(canvas, floor)
        for one in floor.present:
            self._robot(canvas, floor, one.id, one.type, you == one.id)
        return canvas.picture()

    def _background(self) -> Canvas:
        sheet, px = self._sheet, self._sheet.px
        canvas = Canvas(sheet, "page")
        canvas.fill(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), "light")
        canvas.frame(px(4), px(4), px(SIDE - 8), px(BOTTOM - 4), "line", px(2))
        font, step = sheet.font_px(10.5), (SIDE - 8) / len(ROBOTS)
        canvas.text(px(8), px(BOTTOM + 8), "Robot types:", font, bold=True)
        for number, kind in enumerate(ROBOTS):
            x = 4 + step * (number + 0.5)
            canvas.centre(robot(sheet, kind, px(ROBOT), "page"), px(x), px(BOTTOM + 40))
            canvas.text(px(x), px(BOTTOM + 71), kind, font, anchor="mm")
        canvas.text(px(8), px(BOTTOM + 90), _LEGEND, font, "muted")
        canvas.pixels.setflags(write=False)
        return canvas

    def _surface(self, canvas: Canvas, area: str, box: Box, height: float) -> None:
        px, sheet = self._sheet.px, self._sheet
        x, y, w, h = px(box.x), px(box.y), px(box.w), px(box.h)
        ground = "page" if area == GROUND else "wood"
        canvas.fill(x, y, w, h, ground)
        canvas.frame(x, y, w, h, "line", px(1 if area == GROUND else 2))
        font, middle = sheet.font_px(10), px(box.y + HEAD / 2 + 1)
        canvas.text(x + px(4), middle, area, font, "ink", ground, bold=True)
        if area != GROUND:
            canvas.text(x + w - px(4), middle, f"{height:g} m", font, "ink", ground, "rm")

    def _item(self, canvas: Canvas, item: Item, floor: Floor, ground: str) -> None:
        px, sheet, box = self._sheet.px, self._sheet, own_box(item)
        if item.inside:
            group = item.box
            canvas.frame(px(group.x + 1), px(group.y), px(group.w - 2), px(group.h - 2), "line", px(1))
        name, kind = item.asset.name, KINDS[item.asset.kind]
        lines = [name, f"{kind.height:g} m"] if kind.height is not None else [name]
        if " " in name:
            lines = name.split(" ")
        size = px(min(box.w - 6, box.h - 8 - 9 * (len(lines) + item.low), 32))
        cx, cy = px(box.x + box.w / 2), px(box.y + 2) + size // 2
        if kind.fixture:
            state = "" if not kind.opens else "closed" if name in floor.snapshot.closed else "open"
            canvas.centre(furniture(sheet, item.asset.kind, state, size, ground), cx, cy)
        else:
            canvas.centre(thing(sheet, item.asset.kind, size, ground), cx, cy)
        font = sheet.font_px(9)
        for number, line in enumerate(lines):
            y = cy + size // 2 + px(5) + (number + item.low) * max(px(9), font - 1)
            canvas.text(cx, y, line, font, "ink", ground, "mm", room=px(max(box.w + 6, 60)))
        if name in floor.snapshot.active:
            canvas.text(cx, cy, "ON", sheet.font_px(10), "white", "black", "mm", bold=True)
        for one in item.inside:
            self._item(canvas, one, floor, ground)

    def _robot(self, canvas: Canvas, floor: Floor, name: str, kind: str, you: bool) -> None:
        px, sheet, small = self._sheet.px, self._sheet, self._sheet.font_px(9)
        x, y = floor.robots[name]
        side = min(ROBOT, floor.room(name) - 2)
        canvas.centre(robot(sheet, kind, px(side), "light"), px(x), px(y - side / 2))
        ink, ground = ("black", "yellow") if you else ("white", "black")
        top = px(y - side - 6)
        canvas.text(px(x), top, f"{name} (you)" if you else name, sheet.font_px(11), ink, ground, "mm", True)
        held = floor.seen_in(name)
        for number, one in enumerate(held):
            canvas.centre(thing(sheet, one.kind, px(18), "light"), px(x + 22), px(y - side + 8 + 20 * number))
        for number, one in enumerate(held):
            at = px(y + 5 + 10 * number)
            canvas.text(px(x), at, one.name, small, "ink", "light", "mm", room=px(floor.room(name) + 6))

    def _reaching(self, canvas: Canvas, floor: Floor) -> None:
        """A line from each robot to what it reaches for."""
        px = self._sheet.px
        for name, (x, y) in floor.robots.items():
            assets = floor.snapshot.reached.get(name, ())
            for asset in assets:
                if asset in floor.centres:
                    cx, cy = floor.centres[asset]
                    canvas.line(px(x), px(y - 30), px(cx), px(cy), "accent", px(2))


__all__ = ["Map"]
