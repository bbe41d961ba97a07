"""The telehealth panel: the lesion, the chart beside it, and buttons below."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.telehealth.lesions import INKS, SKINS, draw_lesion
from ludens.games.comma.telehealth.manual import CODES
from ludens.games.comma.telehealth.rules import TelehealthPanel
from ludens.games.comma.view import CommaView

PICTURE, CHART, LINE, VALUE, TEXT = 260, 206, 22, 112, 14
"""Side of the picture, width of the chart, height of a line, offset of the values and font size, in units."""
_BUTTONS = (("Diagnose", CODES, 58), ("Treat", ("SURGERY", "NO TREATMENT", "CRYOTHERAPY"), 124))


class TelehealthView(CommaView):
    """The picture, the chart and the buttons; the button of a correct diagnosis is highlighted."""

    inks = ("blue", "black", *INKS)
    grounds = ("page", "panel", "white", *SKINS)

    def boxes(self, box: Box, puzzle: TelehealthPanel) -> Mapping[str, Box]:
        px, found = self.sheet.px, list[Box]()
        for row, (_, names, width) in enumerate(_BUTTONS):
            middle = box[1] + px(12) + px(PICTURE) + px(42) + row * px(64)
            for index in range(len(names)):
                x = px(110) + px(width) // 2 + index * px(width + 8)
                found.append(centred(x, middle, px(width), px(44)))
        return dict(zip(puzzle.actions, found, strict=True))

    def draw(self, canvas: Canvas, box: Box, puzzle: TelehealthPanel) -> None:
        sheet, px, font = self.sheet, self.sheet.px, self.sheet.font_px(TEXT)
        left, y, side, chart = px(16), box[1] + px(12), px(PICTURE), puzzle.chart
        draw_lesion(canvas, puzzle.look.name, chart.skin_type, puzzle.drawing, left, y, side)
        canvas.frame(left, y, side, side, "line", px(2))
        x = left + side + px(14)
        canvas.fill(x, y, px(CHART), side, "white")
        canvas.frame(x, y, px(CHART), side, "line")
        for row, (name, value) in enumerate(chart.lines()):
            line = y + px(18) + row * px(LINE)
            canvas.text(x + px(10), line, name, font, "black", "white")
            canvas.text(x + px(VALUE), line, value, font, "black", "white", bold=True)
        for row, (title, _, _) in enumerate(_BUTTONS):
            canvas.text(left, y + side + px(42) + row * px(64), title, sheet.font_px(15), bold=True)
        names = [name for _, each, _ in _BUTTONS for name in each]
        for name, (across, upper, w, h) in zip(names, self.boxes(box, puzzle).values(), strict=True):
            fill = "blue" if name == puzzle.diagnosis else "panel"
            canvas.place(sheet.button(name, w, h, fill, "page"), across, upper)
