"""The view of the ATM: a screen with an arrow on one of its lines, and fourteen keys below it."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.atm.rules import DELETE, DOWN, ENTER, UP, AtmPanel
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.view import CommaView

KEYS = (("1", "2", "3", "UP"), ("4", "5", "6", "DOWN"), ("7", "8", "9", "ENTER"), ("", "0", "", "DELETE"))
_FUNCTIONS = {"UP": UP, "DOWN": DOWN, "ENTER": ENTER, "DELETE": DELETE}
TOLD, OPTIONS = (32, 62), (112, 152)
"""Vertical positions of the screen's lines, in units from its top; a picture is 512 wide."""
LEFT, TEXT = 84, 20


class AtmView(CommaView):
    """The screen is black on white, written letter by letter; function keys have names."""

    inks = ("black", "blue")
    grounds = ("page", "panel", "white", "wood", "gray")

    def boxes(self, box: Box, puzzle: AtmPanel) -> Mapping[str, Box]:
        px, top = self.sheet.px, box[1]
        return {
            _FUNCTIONS.get(name, f"press_{name}"): centred(
                px(91) + column * px(110), top + px(246) + row * px(50), px(96), px(42)
            )
            for row, names in enumerate(KEYS)
            for column, name in enumerate(names)
            if name
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: AtmPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        _, top, width, _ = box
        canvas.rounded(px(16), top + px(12), width - px(32), px(416), "wood")
        screen = top + px(26)
        canvas.rounded(px(32), screen, width - px(64), px(184), "white", "wood")
        canvas.frame(px(32), screen, width - px(64), px(184), "line", px(2))
        told, options = puzzle.screen
        for words, y in zip(told, TOLD, strict=False):
            self._write(canvas, px(48), screen + px(y), words)
        for line, (words, y) in enumerate(zip(options, OPTIONS, strict=True)):
            self._write(canvas, px(LEFT), screen + px(y), words)
            if line == puzzle.line:
                canvas.centre(sheet.arrow("right", "blue", px(28), "white"), px(62), screen + px(y))
        names = filter(None, (name for row in KEYS for name in row))
        for name, (x, y, w, h) in zip(names, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(sheet.button(name, w, h, "panel" if name.isdigit() else "gray", "wood"), x, y)

    def _write(self, canvas: Canvas, x: int, y: int, words: str) -> None:
        """One sprite per character, so that sprites are reused whatever is typed."""
        size = self.sheet.px(TEXT)
        for index, character in enumerate(words):
            if character != " ":
                canvas.text(x + index * advance(size), y, character, size, "black", "white", "lm", mono=True)


def advance(size: int) -> int:
    """The distance between characters."""
    return round(size * 0.61)
