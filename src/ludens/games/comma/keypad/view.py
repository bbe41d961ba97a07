"""The view of the keypad: four white keys, two by two, with a lamp on each."""

from __future__ import annotations

from collections.abc import Mapping

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

    def boxes(self, box: Box, puzzle: KeypadPanel) -> Mapping[str, Box]:
        (left, top, _, _), rim, key = self._plate(box), self.sheet.px(GAP), self.sheet.px(KEY)
        step = key + rim
        return {
            action: (left + rim + index // 2 * step, top + rim + index % 2 * step, key, key)
            for index, action in enumerate(puzzle.actions)
        }

    def _plate(self, box: Box) -> Box:
        """The plate below the keys."""
        left, top, width, height = box
        side = 2 * self.sheet.px(KEY) + 3 * self.sheet.px(GAP)
        return left + (width - side) // 2, top + (height - side) // 2, side, side

    def draw(self, canvas: Canvas, box: Box, puzzle: KeypadPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        canvas.rounded(*self._plate(box), "gray")
        for symbol, (x, y, w, h) in zip(puzzle.symbols, self.boxes(box, puzzle).values(), strict=True):
            canvas.rounded(x, y, w, h, "white", "gray")
            canvas.centre(
                sprite(sheet, symbol, px(SYMBOL), "black", "white"),
                x + px(KEY) // 2,
                y + px(KEY) // 2 + px(8),
            )
            # Without the letter of its colour, which could be taken for a symbol.
            lamp = sheet.led("green", px(LAMP), "white", symbol in puzzle.pressed, letter=" ")
            canvas.place(lamp, x + px(KEY) - px(LAMP) - px(6), y + px(6))
