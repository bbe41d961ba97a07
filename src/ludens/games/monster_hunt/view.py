"""The view of Monster Hunt: pawns, green apples and a black monster with horns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Sprite
from ludens.draw.palette import edge_of, visible
from ludens.games.grid.view import GridView

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


class HuntView(GridView):
    """Adds the monster and the apples."""

    title = "Monster Hunt"
    legend = ((("monster",), "monster"), (("apple",), "apple"))
    shown = (
        (("red player",), ("apple",)),
        (("blue player",), ("apple",)),
        (("red player",), ("monster",)),
        (("blue player",), ("monster",)),
        (("red player", "blue player"), ("monster",)),
    )
    inks = (*GridView.inks, "green", "brown")

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        return {**values, "apples": self.templates.fill(f"apples {values['variant']}")}

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        if thing == "monster":
            return self._monster(px, ground)
        return self._apple(px, ground) if thing == "apple" else super().icon(thing, px, ground)

    def _monster(self, px: int, ground: str) -> Sprite:
        body, white = self._sheet.rgb("black"), self._sheet.rgb("white")

        def paint(draw: ImageDraw, scale: float) -> None:
            side = px * scale
            for inset, colour in (
                (0.0, edge_of(body, self._sheet.rgb(ground))),
                (max(0.035, 1.8 / px), body),
            ):
                for x in (1, -1):
                    horn = ((0.5 - x * 0.44, 0.02), (0.5 - x * 0.4, 0.42), (0.5 - x * 0.12, 0.24))
                    middle = [sum(place) / 3 for place in zip(*horn, strict=True)]
                    draw.polygon([_inward(point, middle, inset, side) for point in horn], fill=colour)
                draw.ellipse(_box(0.06, 0.16, 0.94, 0.98, inset, side), fill=colour)
            for x in (1, -1):
                eye = ((0.5 - x * 0.32, 0.4), (0.5 - x * 0.08, 0.52), (0.5 - x * 0.26, 0.6))
                draw.polygon([(x * side, y * side) for x, y in eye], fill=white)
            teeth = (
                (0.26, 0.7),
                (0.74, 0.7),
                (0.66, 0.84),
                (0.58, 0.73),
                (0.5, 0.86),
                (0.42, 0.73),
                (0.34, 0.84),
            )
            draw.polygon([(x * side, y * side) for x, y in teeth], fill=white)

        return self._sheet.sprite("monster", px, px, ground, paint)

    def _apple(self, px: int, ground: str) -> Sprite:
        skin, stalk = self._sheet.rgb("green"), visible(self._sheet.rgb("brown"), self._sheet.rgb(ground))
        edge = edge_of(skin, self._sheet.rgb(ground))

        def paint(draw: ImageDraw, scale: float) -> None:
            side = px * scale
            for inset, colour in ((0.0, edge), (max(0.05, 1.7 / px), skin)):
                for left in (0.08, 0.36):
                    draw.ellipse(_box(left, 0.26, left + 0.56, 0.96, inset, side), fill=colour)
            draw.line([(0.5 * side, 0.36 * side), (0.56 * side, 0.06 * side)], stalk, round(0.07 * side))
            draw.chord((0.55 * side, 0.04 * side, 0.95 * side, 0.3 * side), 20, 215, fill=edge)

        return self._sheet.sprite("apple", px, px, ground, paint)


def _box(
    left: float, top: float, right: float, bottom: float, inset: float, side: float
) -> tuple[float, float, float, float]:
    return (left + inset) * side, (top + inset) * side, (right - inset) * side, (bottom - inset) * side


def _inward(
    point: tuple[float, float], middle: list[float], inset: float, side: float
) -> tuple[float, float]:
    """A corner moved toward the centre of its polygon, which leaves an outline."""
    part = inset * 11
    x, y = (place + (goal - place) * part for place, goal in zip(point, middle, strict=True))
    return x * side, y * side
