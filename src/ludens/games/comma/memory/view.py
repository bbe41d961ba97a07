"""The view of Memory: the display, the buttons and the lights of the stages."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.memory.manual import STAGES
from ludens.games.comma.memory.rules import MemoryPanel
from ludens.games.comma.view import CommaView

DISPLAY = (44, 104, 340, 190)
"""The display: x, y, width, height in units."""
BUTTON, BUTTONS_AT = (78, 130), ((84, 406), (171, 406), (258, 406), (345, 406))
LIGHT, LIGHTS_AT = 50, tuple((452, 446 - 76 * stage) for stage in range(STAGES))
"""The centres of the lights, from the bottom up."""


class MemoryView(CommaView):
    """A display above four buttons, and a column of lights that fills from the bottom."""

    inks = ("white", "black", "green", "gray")
    grounds = ("page", "panel", "white", "black", "wood")

    def boxes(self, box: Box, puzzle: MemoryPanel) -> Mapping[str, Box]:
        px = self.sheet.px
        return {
            f"press_{label}": centred(px(x), px(y), px(BUTTON[0]), px(BUTTON[1]))
            for label, (x, y) in zip(puzzle.labels, BUTTONS_AT, strict=True)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: MemoryPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        x, y, w, h = map(px, DISPLAY)
        canvas.rounded(x - px(6), y - px(6), w + px(12), h + px(12), "line")
        canvas.rounded(x, y, w, h, "black", "line")
        shown = str(puzzle.display)
        canvas.text(x + w // 2, y + h // 2, shown, px(150), "white", "black", "mm", bold=True)
        canvas.rounded(px(34), px(324), px(360), px(164), "panel")
        for label, (x, y, w, h) in zip(puzzle.labels, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(sheet.button(str(label), w, h, "wood", "panel"), x, y)
        canvas.rounded(px(412), px(94), px(80), px(394), "panel")
        for stage, (across, down) in enumerate(LIGHTS_AT):
            done = stage < len(puzzle.pressed)
            light = sheet.led("green" if done else "gray", px(LIGHT), "panel", done, str(stage + 1))
            canvas.centre(light, px(across), px(down))
