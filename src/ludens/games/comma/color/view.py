"""The view of Color: a board with numbered rows and columns."""

from __future__ import annotations

from collections.abc import Mapping

from PIL.ImageDraw import ImageDraw

from ludens.draw import Canvas, Sprite
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters
from ludens.games.comma.color.manual import COLOURS, SIDE
from ludens.games.comma.color.rules import ColorPanel
from ludens.games.comma.frame import Box
from ludens.games.comma.view import CommaView

LEFT, TOP, STEP, SQUARE = 84, 112, 96, 88
"""Position of the first square, distance to the next, and size of one, in units."""


class ColorView(CommaView):
    """Squares on a plate; in themes with letters, each coloured one has its letter."""

    inks = (*COLOURS, "white")
    grounds = ("page", "panel", "white")

    def boxes(self, box: Box, puzzle: ColorPanel) -> Mapping[str, Box]:
        px, side = self.sheet.px, self.sheet.px(SQUARE)
        return {
            action: (px(LEFT + n % SIDE * STEP), px(TOP + n // SIDE * STEP), side, side)
            for n, action in enumerate(puzzle.actions)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: ColorPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        rim = px(8)
        canvas.rounded(
            px(LEFT) - rim, px(TOP) - rim, px(4 * STEP - 8) + 2 * rim, px(4 * STEP - 8) + 2 * rim, "panel"
        )
        for line in range(SIDE):
            middle = px(line * STEP + SQUARE / 2)
            label = str(line)
            canvas.text(
                px(LEFT) + middle, px(TOP - 22), label, sheet.font_px(17), "muted", anchor="mm", bold=True
            )
            canvas.text(
                px(LEFT - 26), px(TOP) + middle, label, sheet.font_px(17), "muted", anchor="mm", bold=True
            )
        canvas.text(px(LEFT - 26), px(TOP - 22), "row", sheet.font_px(11), "muted", anchor="mm")
        canvas.text(px(LEFT + 4 * STEP + 4), px(TOP - 22), "col", sheet.font_px(11), "muted", anchor="mm")
        for colour, (x, y, _, _) in zip(puzzle.board, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(self.square(colour), x, y)

    def square(self, colour: str) -> Sprite:
        """One square of a colour."""
        sheet, side = self.sheet, self.sheet.px(SQUARE)
        fill = sheet.rgb(colour)

        def paint(draw: ImageDraw, s: float) -> None:
            w, line = side * s, max(1.0, side * 0.025) * s
            draw.rounded_rectangle((0, 0, w - 1, w - 1), w * 0.1, fill=edge_of(fill, sheet.rgb("panel")))
            draw.rounded_rectangle((line, line, w - 1 - line, w - 1 - line), w * 0.1 - line, fill=fill)
            letters(draw, sheet.theme.letter(colour), w / 2, w / 2, w * 0.7, w * 0.5, letter_on(fill))

        return sheet.sprite(("comma square", colour), side, side, "panel", paint)
