"""The view of Battle of the Colors: coloured blocks that fill their cells, and pawns on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludens.draw import Sprite
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters
from ludens.games.grid.view import GridView, Stack

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


class BattleView(GridView):
    """Adds the blocks; a player on a block is drawn in a window in it."""

    title = "Battle of the Colors"
    legend = ((("red block",), "red block"), (("blue block",), "blue block"))
    shown = (
        (("red player", "blue player"), ("red block",)),
        (("red player", "blue player"), ("blue block",)),
        (("red player", "red block"), ("blue player", "blue block")),
    )
    icon_units = 40

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        names = {"red_moves": "red moves", "blue_moves": "blue moves", "blocks": "blocks"}
        told = {key: self.templates.fill(f"{name} {values['variant']}") for key, name in names.items()}
        return {**values, **told}

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        hue, kind = thing.split()
        return self._blocks((hue,), px, ground) if kind == "block" else super().icon(thing, px, ground)

    def stack(self, things: Stack, px: int, ground: str) -> Sprite:
        hues = tuple(thing.split()[0] for thing in things if thing.endswith("block"))
        if not hues:
            return super().stack(things, px, ground)
        tile = self._blocks(hues, px, ground).copy()
        players = things[: -len(hues)]
        if players:
            room = round(px * 0.62)
            left, top = (px - room) // 2, px - room - round(px * 0.08)
            tile[top : top + room, left : left + room] = super().stack(players, room, ground)
        return tile

    def _blocks(self, hues: tuple[str, ...], px: int, ground: str) -> Sprite:
        """One block, or two halves where both are on one cell; letters are at the top."""

        def paint(draw: ImageDraw, scale: float) -> None:
            side, share = px * scale, px * scale / len(hues)
            line = max(1.0, px * 0.05) * scale
            for place, hue in enumerate(hues):
                fill, left = self._sheet.rgb(hue), place * share
                draw.rectangle(
                    (left, 0, left + share - 1, side - 1), fill=edge_of(fill, self._sheet.rgb(ground))
                )
                draw.rectangle((left + line, line, left + share - 1 - line, side - 1 - line), fill=fill)
                mark = self._sheet.theme.letter(hue)
                letters(draw, mark, left + share / 2, side * 0.17, share, side * 0.26, letter_on(fill))

        return self._sheet.sprite(("blocks", hues), px, px, ground, paint)
