"""Sprites for what lies on boards: tokens, stones, marks, pieces, pawns, coins, arrows and lights."""

from __future__ import annotations

from PIL import Image
from PIL.ImageDraw import Draw, ImageDraw

from ludens.core.errors import UnknownName
from ludens.draw import fonts
from ludens.draw.colour import contrast, edge_of, letter_on, mix
from ludens.draw.shapes import edged, fill_shape, letters, regular
from ludens.draw.studio import Sprite, Studio, remembered

PIECES = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"}
DIRECTIONS = {
    "right": 0, "down-right": 1, "down": 2, "down-left": 3, "left": 4, "up-left": 5, "up": 6, "up-right": 7,
}  # fmt: skip


def _edge(px: float) -> float:
    return max(1.0, px * 0.055)


class Tokens(Studio):
    """Everything round or piece-like. Methods keep what they made; `px` is the side of a square sprite."""

    @remembered
    def token(self, hue: str, px: int, ground: str, letter: str = "", shape: str | None = None) -> Sprite:
        """A coloured token. In lettered themes it carries its hue's letter unless you give another."""
        outline = shape or self.theme.shape("token")
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle = px * s / 2
            edged(draw, outline, middle, middle, middle, fill, edge_of(fill), _edge(px) * s)
            low = middle * 1.22 if outline == "triangle" else middle
            letters(draw, mark, middle, low, px * s * 0.62, px * s * 0.56, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @remembered
    def dot(self, colour: str, px: int, ground: str) -> Sprite:
        """A small disc without an outline: a star point, a legal move, a dot of a die."""

        def paint(draw: ImageDraw, s: float) -> None:
            fill_shape(draw, "disc", px * s / 2, px * s / 2, px * s / 2, self.rgb(colour))

        return self._paint(px, px, ground, paint)

    def stone(self, hue: str, px: int, ground: str, letter: str = "") -> Sprite:
        """A token in the theme's shape for stones."""
        return self.token(hue, px, ground, letter, self.theme.shape("stone"))

    @remembered
    def split(
        self, left: str, right: str, px: int, ground: str, letter_left: str = "", letter_right: str = ""
    ) -> Sprite:
        """Two tokens in one cell: a disc of two halves."""
        marks = letter_left or self.theme.letter(left), letter_right or self.theme.letter(right)

        def paint(draw: ImageDraw, s: float) -> None:
            side, line = px * s, _edge(px) * s
            for hue, mark, start, x in ((left, marks[0], 90, 0.29), (right, marks[1], 270, 0.71)):
                fill = self.rgb(hue)
                draw.pieslice((0, 0, side - 1, side - 1), start, start + 180, fill=edge_of(fill))
                draw.pieslice((line, line, side - 1 - line, side - 1 - line), start, start + 180, fill=fill)
                letters(draw, mark, side * x, side / 2, side * 0.34, side * 0.4, letter_on(fill))
            draw.rectangle(
                (side / 2 - line / 2, line, side / 2 + line / 2 - 1, side - 1 - line), fill=self.rgb(ground)
            )

        return self._paint(px, px, ground, paint)

    @remembered
    def mark(self, kind: str, hue: str, px: int, ground: str) -> Sprite:
        """The cross ("x") or ring ("o") of tic-tac-toe."""
        if kind not in ("x", "o"):
            raise UnknownName("mark", kind, ("x", "o"))

        def paint(draw: ImageDraw, s: float) -> None:
            side, width = px * s, px * s * 0.17
            if kind == "o":
                draw.ellipse((0, 0, side - 1, side - 1), fill=self.rgb(hue))
                draw.ellipse((width, width, side - 1 - width, side - 1 - width), fill=self.rgb(ground))
                return
            near, far, round_end = side * 0.1, side * 0.9, width / 2
            for ends in ((near, near, far, far), (near, far, far, near)):
                draw.line(ends, fill=self.rgb(hue), width=round(width))
                for x, y in (ends[:2], ends[2:]):
                    draw.ellipse(
                        (x - round_end, y - round_end, x + round_end, y + round_end), fill=self.rgb(hue)
                    )

        return self._paint(px, px, ground, paint)

    @remembered
    def piece(self, glyph: str, fill: str, outline: str, px: int, ground: str) -> Sprite:
        """A chess piece ("knight" or its solid glyph), or any other single character, with an outline."""
        character = PIECES.get(glyph, glyph)[:1] or " "

        def paint(draw: ImageDraw, s: float) -> None:
            face = fonts.font(round(px * s * 0.94))
            left, top, right, bottom = face.getbbox(character, anchor="ls")
            at = (px * s / 2 - (left + right) / 2, px * s / 2 - (top + bottom) / 2)
            stroke = round(max(1.0, px * 0.035) * s)
            draw.text(
                at,
                character,
                self.rgb(outline),
                face,
                "ls",
                stroke_width=stroke,
                stroke_fill=self.rgb(outline),
            )
            draw.text(at, character, self.rgb(fill), face, "ls")

        return self._paint(px, px, ground, paint)

    @remembered
    def pawn(self, hue: str, px: int, ground: str, letter: str = "") -> Sprite:
        """A player's pawn: head, body and foot, with its letter on the body."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def body(draw: ImageDraw, s: float, inset: float, colour: tuple[int, int, int]) -> None:
            side, i = px * s, inset
            sides = [(0.34, 0.34), (0.66, 0.34), (0.82, 0.84), (0.18, 0.84)]
            points = [(side * x - i * (x > 0.5) + i * (x < 0.5), side * y) for x, y in sides]
            draw.polygon(points, fill=colour)
            foot = (side * 0.12 + i, side * 0.8 + i, side * 0.88 - i, side * 0.98 - i)
            draw.rounded_rectangle(foot, side * 0.07, fill=colour)
            fill_shape(draw, "disc", side / 2, side * 0.25, side * 0.23 - i, colour)

        def paint(draw: ImageDraw, s: float) -> None:
            body(draw, s, 0, edge_of(fill))
            body(draw, s, _edge(px) * s, fill)
            letters(draw, mark, px * s / 2, px * s * 0.67, px * s * 0.42, px * s * 0.38, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @remembered
    def coin(self, px: int, ground: str, hue: str = "yellow", letter: str = "") -> Sprite:
        """A coin with a rim, with its hue's letter in lettered themes."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle = px * s / 2
            rim = mix(fill, edge_of(fill), 1, 2)
            edged(draw, "disc", middle, middle, middle, fill, edge_of(fill), _edge(px) * s)
            fill_shape(draw, "disc", middle, middle, middle * 0.76, rim)
            fill_shape(draw, "disc", middle, middle, middle * 0.76 - _edge(px) * s, fill)
            letters(draw, mark, middle, middle, middle * 1.1, middle * 0.95, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @remembered
    def arrow(self, direction: str, hue: str, px: int, ground: str) -> Sprite:
        """An arrow in one of eight directions: "up", "up-right", "right", ..."""
        eighth = DIRECTIONS.get(direction)
        if eighth is None:
            raise UnknownName("direction", direction, DIRECTIONS)

        def paint(draw: ImageDraw, s: float) -> None:
            side = round(px * s)
            stencil = Image.new("L", (side, side), 0)
            outline = [
                (0.06, 0.4),
                (0.52, 0.4),
                (0.52, 0.16),
                (0.96, 0.5),
                (0.52, 0.84),
                (0.52, 0.6),
                (0.06, 0.6),
            ]
            Draw(stencil).polygon([(x * side, y * side) for x, y in outline], fill=255)
            turned = stencil.rotate(-45 * eighth, Image.Resampling.BICUBIC)
            draw.bitmap((0, 0), turned, fill=self.rgb(hue))

        return self._paint(px, px, ground, paint)

    @remembered
    def led(self, hue: str, px: int, ground: str, on: bool = True, letter: str = "") -> Sprite:
        """A light: filled with rays when on, hollow when off, so that no colour is needed to tell."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle, floor = px * s / 2, self.rgb(ground)
            bold = max(fill, edge_of(fill), key=lambda colour: contrast(colour, floor))
            if on:
                for x, y in regular(8, middle, middle, middle, 0.0625):
                    draw.line((middle, middle, x, y), fill=bold, width=round(max(1.5, px * 0.08) * s))
                fill_shape(draw, "disc", middle, middle, middle * 0.76, floor)
                edged(draw, "disc", middle, middle, middle * 0.68, fill, edge_of(fill), _edge(px) * s)
            else:
                edged(draw, "disc", middle, middle, middle * 0.68, fill, bold, _edge(px) * s / 2)
                fill_shape(draw, "disc", middle, middle, middle * 0.68 - _edge(px) * s * 2.2, floor)
            letters(draw, mark, middle, middle, middle * 0.9, middle * 0.8, letter_on(fill if on else floor))

        return self._paint(px, px, ground, paint)
