"""The header of every panel: title, serial number, status light, mistakes and turns."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.draw import Canvas, SpriteSheet

Box = tuple[int, int, int, int]
"""x, y, width, height, in pixels."""


def centred(x: int, y: int, width: int, height: int) -> Box:
    """The box of a sprite of this size whose centre is at (x, y)."""
    return x - width // 2, y - height // 2, width, height


HEAD = 72
"""Height of the header in units; a picture is 512 units wide."""

LIGHTS = {"off": ("gray", False, "off"), "red": ("red", True, "mistake"), "green": ("green", True, "solved")}
_MANY = 6


@dataclass(frozen=True)
class Head:
    """The contents of a panel's header."""

    serial: str
    light: str
    mistakes: int
    most_mistakes: int
    turn: int
    turns: int


class PanelLayout:
    """Draws the header; made once for a sheet and title."""

    def __init__(self, sheet: SpriteSheet, title: str) -> None:
        self._sheet = sheet
        px, height = sheet.px, sheet.px(HEAD)
        self._small, self._large = max(9, px(13)), max(9, px(17))
        self._base = canvas = Canvas(sheet)
        canvas.fill(0, 0, sheet.size, height, "panel")
        canvas.fill(0, height - px(2), sheet.size, px(2), "line")
        canvas.text(px(16), px(20), title, self._large, ground="panel", bold=True)
        width = canvas.text(px(16), px(51), "Mistakes", self._small, "muted", "panel")
        self._boxes_at = px(16) + width + px(10)
        canvas.text(px(274), px(51), "Turn", self._small, "muted", "panel", "rm")
        canvas.text(px(274), px(20), "Serial", self._small, "muted", "panel", "rm")
        canvas.fill(px(282), px(6), px(120), px(28), "white")
        canvas.frame(px(282), px(6), px(120), px(28), "line")

    @property
    def box(self) -> Box:
        """The box left for the puzzle."""
        head, side = self._sheet.px(HEAD), self._sheet.size
        return 0, head, side, side - head

    def canvas(self, head: Head) -> Canvas:
        """A canvas with the header drawn."""
        sheet, px = self._sheet, self._sheet.px
        canvas = self._base.copy()
        for index, digit in enumerate(head.serial):
            canvas.text(
                px(298) + index * px(18), px(20), digit, self._large, "black", "white", "mm", mono=True
            )
        self._draw_mistakes(canvas, head)
        canvas.text(px(284), px(51), f"{head.turn} of {head.turns}", self._small, ground="panel", bold=True)
        hue, on, word = LIGHTS[head.light]
        # The word below names the colour: its letter would be one more sign to explain.
        canvas.centre(sheet.led(hue, px(34), "panel", on, letter=" "), px(462), px(26))
        canvas.text(px(462), px(57), word, self._small, ground="panel", anchor="mm", bold=head.light != "off")
        return canvas

    def _draw_mistakes(self, canvas: Canvas, head: Head) -> None:
        """A box for every mistake allowed, crossed when made; a number where there are too many boxes."""
        px, left = self._sheet.px, self._boxes_at
        if head.most_mistakes > _MANY:
            words = f"{head.mistakes} of {head.most_mistakes}"
            canvas.text(left, px(51), words, self._small, ground="panel", bold=True)
            return
        for index in range(head.most_mistakes):
            x, side = left + index * px(20), px(15)
            canvas.fill(x, px(44), side, side, "white")
            canvas.frame(x, px(44), side, side, "line", px(1))
            if index < head.mistakes:
                cross = self._sheet.mark("x", "red", side - 2 * px(2), "white")
                canvas.place(cross, x + px(2), px(44) + px(2))
