"""The view of LED: a row of lights above four lettered buttons."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.led.manual import COLOURS
from ludens.games.comma.led.rules import LedPanel
from ludens.games.comma.view import CommaView

LIGHT, LIGHTS_AT, STEP = 58, 136, 92
"""Side of a light, height of its centre, and distance between lights, in units."""
BUTTON = 116
CORNERS_AT = ((172, 302), (340, 302), (340, 434), (172, 434))
"""The centres of the buttons, clockwise from the top left."""


def light_at(number: int, lights: int) -> int:
    """The centre of a light, in units from the left."""
    return 256 + round(STEP * (number - (lights - 1) / 2))


class LedView(CommaView):
    """A row of lights, the current one on a plate, above a square of four buttons.

    Lights that wait or burn are filled and have rays, those that are done are hollow.
    """

    inks = (*COLOURS, "black", "white", "highlight")
    grounds = ("page", "panel", "white", "highlight", "wood")

    def boxes(self, box: Box, puzzle: LedPanel) -> Mapping[str, Box]:
        px, side = self.sheet.px, self.sheet.px(BUTTON)
        return {
            action: centred(px(x), px(y), side, side)
            for action, (x, y) in zip(puzzle.actions, CORNERS_AT, strict=True)
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: LedPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        small, lights = sheet.font_px(13), len(puzzle.lights)
        for number, colour in enumerate(puzzle.lights):
            x, y, now = px(light_at(number, lights)), px(LIGHTS_AT), number == puzzle.stage
            ground = "white" if now else "page"
            if now:
                w, h = px(84), px(112)
                canvas.rounded(x - w // 2 - px(3), px(81), w + 2 * px(3), h + 2 * px(3), "ink")
                canvas.rounded(x - w // 2, px(81) + px(3), w, h, "white", "ink")
            words = "black" if now else "ink"
            label = f"Stage {number + 1}"
            canvas.text(x, px(97), label, small, words, ground, "mm")
            canvas.centre(sheet.led(colour, px(LIGHT), ground, on=number >= puzzle.done), x, y)
            if number < puzzle.done:
                canvas.text(x, px(178), "done", small, words, ground, "mm")
            elif sheet.theme.lettered:
                canvas.text(x, px(178), colour, small, words, ground, "mm", bold=True)
        canvas.rounded(px(92), px(232), px(328), px(272), "panel")
        for letter, (x, y, w, h) in zip(puzzle.letters, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(sheet.button(letter, w, h, "wood", "panel"), x, y)
