"""The view of Who: the display and the six buttons."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.view import CommaView
from ludens.games.comma.who.rules import WhoPanel

DISPLAY = (56, 94, 400, 92)
"""The display: x, y, width, height in units."""
BUTTON = (188, 74)
COLUMNS, ROWS = (150, 362), (248, 346, 444)
"""The centres of the buttons."""


class WhoView(CommaView):
    """A lit display, and below it two columns of three buttons."""

    inks = ("white", "black", "yellow")
    grounds = ("page", "panel", "white", "black", "wood")

    def boxes(self, box: Box, puzzle: WhoPanel) -> Mapping[str, Box]:
        px, centres = self.sheet.px, [(column, row) for row in ROWS for column in COLUMNS]
        return {
            action: centred(px(x), px(y), px(BUTTON[0]), px(BUTTON[1]))
            for action, (x, y) in zip(puzzle.actions, centres, strict=True)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: WhoPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        x, y, w, h = map(px, DISPLAY)
        canvas.rounded(x - px(6), y - px(6), w + px(12), h + px(12), "line")
        canvas.rounded(x, y, w, h, "black", "line")
        canvas.text(x + w // 2, y + h // 2, puzzle.display, px(44), "white", "black", "mm", bold=True)
        for label, (left, top, wide, high) in zip(
            puzzle.labels, self.boxes(box, puzzle).values(), strict=True
        ):
            canvas.place(sheet.button(label, wide, high, "wood", "page"), left, top)
