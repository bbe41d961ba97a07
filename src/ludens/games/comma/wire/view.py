"""The view of the wires: numbered on the left, a button for each on the right."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box
from ludens.games.comma.view import CommaView
from ludens.games.comma.wire.manual import COLOURS
from ludens.games.comma.wire.rules import WirePanel


class WireView(CommaView):
    """Two posts with wires between them, on grey, so that black and white ones are visible in every theme.

    In themes with letters, every wire has its colour's name.
    """

    inks = (*COLOURS, "orange")
    grounds = ("page", "panel", "white", "gray", "wood")

    def boxes(self, box: Box, puzzle: WirePanel) -> Mapping[str, Box]:
        """Each wire with its number and its button."""
        px, (_, top, _, height) = self.sheet.px, box
        left, right, side = px(20), px(470) + px(62) // 2, px(38)
        step = (height - px(32)) / len(puzzle.wires)
        middles = [top + px(16) + round(step * (number + 0.5)) for number in range(len(puzzle.wires))]
        return {
            action: (left, middle - side // 2, right - left, side)
            for action, middle in zip(puzzle.actions, middles, strict=True)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: WirePanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        _, top, _, height = box
        left, right, thick = px(58), px(392), px(34)
        canvas.fill(left, top + px(24), right - left, height - px(48), "gray")
        for post in (px(20), right):
            canvas.rounded(post, top + px(16), px(38), height - px(32), "wood")
        rows = self.boxes(box, puzzle).values()
        for number, (colour, (_, upper, _, side)) in enumerate(zip(puzzle.wires, rows, strict=True), 1):
            y = upper + side // 2
            canvas.text(px(39), y, str(number), px(22), ground="wood", anchor="mm", bold=True)
            wire = sheet.wire(colour, right - left, thick, "gray", number == puzzle.cut)
            canvas.place(wire, left, y - thick // 2)
            if sheet.theme.lettered:
                w, h, middle = px(76), thick, px(146 if number == puzzle.cut else 225)
                canvas.rounded(middle - w // 2, y - h // 2, w, h, "white", colour, px(4))
                canvas.frame(middle - w // 2, y - h // 2, w, h, "line")
                canvas.text(middle, y, colour, max(10, px(15)), "black", "white", "mm", bold=True)
            canvas.centre(sheet.button(f"CUT {number}", px(62), px(38), "panel", "page"), px(470), y)
