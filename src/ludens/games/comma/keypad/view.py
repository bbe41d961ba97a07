"""The view of the keypad: four white keys, two by two, with a lamp on each."""

from __future__ import annotations

from ludens.draw import Canvas
from ludens.games.comma.frame import Box
from ludens.games.comma.keypad.rules import KeypadPanel
from ludens.games.comma.keypad.symbols import sprite
from ludens.games.comma.view import CommaView

KEY, GAP, SYMBOL, LAMP = 180, 18, 126, 30
"""Sides in units; a picture is 512 wide."""


class KeypadView(CommaView):
    """Keys in black on white, so that symbols look the same in every theme."""

    inks = ("black",)
    grounds = ("page", "panel", "white", "gray")

    def draw(self, canvas: Canvas, box: Box, puzzle: KeypadPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        rim = px(GAP)
        side = 2 * px(KEY) + 3 * rim
        left, top, width, height = box
        left, top = left + (width - side) // 2, top + (height - side) // 2
        canvas.rounded(left, top, side, side, "gray")
        for index, symbol in enumerate(puzzle.symbols):
            x = left + rim + (index // 2) * (px(KEY) + rim)
            y = top + rim + (index % 2) * (px(KEY) + rim)
            canvas.rounded(x, y, px(KEY), px(KEY), "white", "gray")
            canvas.centre(
                sprite(sheet, symbol, px(SYMBOL), "black", "white"),
                x + px(KEY) // 2,
                y + px(KEY) // 2 + px(8),
            )
            # Without the letter of its colour, which could be taken for a symbol.
            lamp = sheet.led("green", px(LAMP), "white", symbol in puzzle.pressed, letter=" ")
            canvas.place(lamp, x + px(KEY) - px(LAMP) - px(6), y + px(6))
