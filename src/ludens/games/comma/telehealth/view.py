"""How the consultation looks: the lesion, the chart beside it, and below them what can be done."""

from __future__ import annotations

from ludens.draw import Canvas
from ludens.games.comma.frame import Box
from ludens.games.comma.telehealth.lesions import draw_lesion
from ludens.games.comma.telehealth.manual import CODES
from ludens.games.comma.telehealth.rules import TelehealthPanel
from ludens.games.comma.telehealth.tones import INKS
from ludens.games.comma.view import CommaView

PICTURE, CHART, LINE, VALUE = 260, 206, 22, 112
"""Side of the picture, width of the chart, height of its lines and where its values stand, in units."""
TEXT = 14
_TREATMENTS = ("SURGERY", "NO TREATMENT", "CRYOTHERAPY")


class TelehealthView(CommaView):
    """Lesions have their own colours, in plain their greys; a found diagnosis stays marked."""

    inks = ("blue", "black", *INKS)
    grounds = ("page", "panel", "white")

    def draw(self, canvas: Canvas, box: Box, puzzle: TelehealthPanel) -> None:
        px = self.sheet.px
        _, top, _, _ = box
        left, y, side, chart = px(16), top + px(12), px(PICTURE), puzzle.chart
        lesion = draw_lesion(self.sheet, puzzle.look.name, chart.skin_type, puzzle.drawing, side)
        canvas.place(lesion, left, y)
        canvas.frame(left, y, side, side, "line", px(2))
        self._draw_chart(canvas, left + side + px(14), y, side, puzzle)
        self._draw_buttons(canvas, y + side, puzzle)

    def _draw_chart(self, canvas: Canvas, x: int, y: int, height: int, puzzle: TelehealthPanel) -> None:
        px, font = self.sheet.px, self.sheet.font_px(TEXT)
        canvas.fill(x, y, px(CHART), height, "white")
        canvas.frame(x, y, px(CHART), height, "line")
        for row, (name, value) in enumerate(puzzle.chart.lines()):
            at = y + px(18) + row * px(LINE)
            canvas.text(x + px(10), at, name, font, "black", "white")
            canvas.text(x + px(VALUE), at, value, font, "black", "white", bold=True)

    def _draw_buttons(self, canvas: Canvas, y: int, puzzle: TelehealthPanel) -> None:
        sheet, px, found = self.sheet, self.sheet.px, puzzle.diagnosis
        for row, (title, names, wide) in enumerate((("Diagnose", CODES, 58), ("Treat", _TREATMENTS, 124))):
            middle = y + px(42) + row * px(64)
            canvas.text(px(16), middle, title, sheet.font_px(15), bold=True)
            for index, name in enumerate(names):
                fill = "blue" if name == found else "panel"
                button = sheet.button(name, px(wide), px(44), fill, "page")
                canvas.centre(button, px(110) + px(wide) // 2 + index * px(wide + 8), middle)
