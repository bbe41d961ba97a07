"""The view of the lock: five letters in windows, a button above and below each, and one to submit."""

from __future__ import annotations

from collections.abc import Mapping

from ludens.draw import Canvas
from ludens.games.comma.frame import Box, centred
from ludens.games.comma.password.rules import PasswordPanel
from ludens.games.comma.view import CommaView

STEP, WINDOW, LETTER = 92, (78, 110), 72
"""Distance of the slots, size of a window and of its letter, in units; a picture is 512 wide."""


class PasswordView(CommaView):
    """Letters in black on white, capitals of equal width."""

    inks = ("black", "blue")
    grounds = ("page", "panel", "white", "wood", "gray")

    def boxes(self, box: Box, puzzle: PasswordPanel) -> Mapping[str, Box]:
        px, (_, top, width, _) = self.sheet.px, box
        found = {}
        for slot in range(len(puzzle.word)):
            x, y = width // 2 + px(STEP) * (slot - 2), top + px(174)
            for direction, middle in (("up", y - px(92)), ("down", y + px(92))):
                found[f"{direction}_button_{slot + 1}"] = centred(x, middle, px(WINDOW[0]), px(56))
        return {**found, "submit": centred(width // 2, top + px(376), px(190), px(62))}

    def draw(self, canvas: Canvas, box: Box, puzzle: PasswordPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        boxes, (_, top, width, _) = self.boxes(box, puzzle), box
        canvas.rounded(px(16), top + px(20), width - px(32), px(300), "wood")
        for slot, letter in enumerate(puzzle.word):
            x, y = width // 2 + px(STEP) * (slot - 2), top + px(174)
            w, h = map(px, WINDOW)
            canvas.text(
                x, top + px(40), str(slot + 1), sheet.font_px(15), ground="wood", anchor="mm", bold=True
            )
            for direction in ("up", "down"):
                key = boxes[f"{direction}_button_{slot + 1}"]
                canvas.rounded(*key, "gray", "wood")
                canvas.centre(sheet.arrow(direction, "black", px(40), "gray"), x, key[1] + key[3] // 2)
            canvas.rounded(x - w // 2, y - h // 2, w, h, "white", "wood", px(4))
            canvas.frame(x - w // 2, y - h // 2, w, h, "line", px(2))
            canvas.text(x, y, letter.upper(), px(LETTER), "black", "white", "mm", mono=True)
        left, upper, w, h = boxes["submit"]
        canvas.place(sheet.button("SUBMIT", w, h, "blue", "page"), left, upper)
