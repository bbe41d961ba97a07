"""Ready-made sprites: tokens, marks, pieces, pawns, coins, arrows, lights, cards, buttons and wires."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PIL import Image
from PIL.ImageDraw import Draw, ImageDraw

from ludens.core.errors import UnknownName
from ludens.draw import fonts
from ludens.draw.palette import OUTLINE_CONTRAST, RGB, edge_of, letter_on, mix, visible
from ludens.draw.shapes import edged, fill_shape, letters, regular
from ludens.draw.sprites import Sprite, SpriteCache, cached
from ludens.draw.theme import get_theme

PIECES = {"king": "♚", "queen": "♛", "rook": "♜", "bishop": "♝", "knight": "♞", "pawn": "♟"}
DIRECTIONS = {
    "right": 0, "down-right": 1, "down": 2, "down-left": 3, "left": 4, "up-left": 5, "up": 6, "up-right": 7,
}  # fmt: skip
SUITS = {"spades": "♠", "hearts": "♥", "diamonds": "♦", "clubs": "♣", "": ""}
CARD_SHAPE = 0.7


def _edge(px: float) -> float:
    return max(2.0, px * 0.065)


class SpriteSheet(SpriteCache):
    """Ready-made sprites of one theme and picture size (see `sprite_sheet`).

    `px` is the side of a square sprite; cards are given by their height and are 0.7 times as wide.
    """

    @cached
    def token(self, hue: str, px: int, ground: str, letter: str = "", shape: str | None = None) -> Sprite:
        """A coloured token; lettered themes add the letter of its hue unless another is given."""
        outline = shape or self.theme.shape("token")
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle = px * s / 2
            edged(draw, outline, middle, middle, middle, fill, edge_of(fill, self.rgb(ground)), _edge(px) * s)
            low = middle * 1.22 if outline == "triangle" else middle
            letters(draw, mark, middle, low, px * s * 0.62, px * s * 0.56, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @cached
    def dot(self, colour: str, px: int, ground: str) -> Sprite:
        """A small disc without an outline."""

        def paint(draw: ImageDraw, s: float) -> None:
            fill_shape(draw, "disc", px * s / 2, px * s / 2, px * s / 2, self.rgb(colour))

        return self._paint(px, px, ground, paint)

    def stone(self, hue: str, px: int, ground: str) -> Sprite:
        """A token in the theme's shape for stones."""
        return self.token(hue, px, ground, "", self.theme.shape("stone"))

    @cached
    def mark(self, kind: str, hue: str, px: int, ground: str) -> Sprite:
        """The cross ("x") or ring ("o") of tic-tac-toe."""
        if kind not in ("x", "o"):
            raise UnknownName("mark", kind, ("x", "o"))
        colour = visible(self.rgb(hue), self.rgb(ground))

        def paint(draw: ImageDraw, s: float) -> None:
            side, width = px * s, px * s * 0.17
            if kind == "o":
                draw.ellipse((0, 0, side - 1, side - 1), fill=colour)
                draw.ellipse((width, width, side - 1 - width, side - 1 - width), fill=self.rgb(ground))
                return
            near, far, round_end = side * 0.1, side * 0.9, width / 2
            for ends in ((near, near, far, far), (near, far, far, near)):
                draw.line(ends, fill=colour, width=round(width))
                for x, y in (ends[:2], ends[2:]):
                    draw.ellipse((x - round_end, y - round_end, x + round_end, y + round_end), fill=colour)

        return self._paint(px, px, ground, paint)

    @cached
    def piece(self, glyph: str, fill: str, outline: str, px: int, ground: str) -> Sprite:
        """A chess piece ("knight" or its solid glyph), or any other single character, with an outline."""
        character = PIECES.get(glyph, glyph)[:1] or " "

        def paint(draw: ImageDraw, s: float) -> None:
            face = fonts.font(round(px * s * 0.94))
            left, top, right, bottom = face.getbbox(character, anchor="ls")
            at = (px * s / 2 - (left + right) / 2, px * s / 2 - (top + bottom) / 2)
            stroke = round(max(1.5, px * 0.04) * s)
            edge = self.rgb(outline)
            draw.text(at, character, edge, face, "ls", stroke_width=stroke, stroke_fill=edge)
            draw.text(at, character, self.rgb(fill), face, "ls")

        return self._paint(px, px, ground, paint)

    @cached
    def pawn(self, hue: str, px: int, ground: str, letter: str = "") -> Sprite:
        """A pawn with its letter on the body."""
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
            body(draw, s, 0, edge_of(fill, self.rgb(ground)))
            body(draw, s, min(_edge(px), px * 0.075) * s, fill)
            letters(draw, mark, px * s / 2, px * s * 0.67, px * s * 0.42, px * s * 0.38, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @cached
    def coin(self, px: int, ground: str, hue: str = "yellow", letter: str = "") -> Sprite:
        """A coin with a rim; lettered themes add the letter of its hue."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle = px * s / 2
            rim = mix(fill, edge_of(fill, self.rgb(ground)), 1, 2)
            edged(draw, "disc", middle, middle, middle, fill, edge_of(fill, self.rgb(ground)), _edge(px) * s)
            fill_shape(draw, "disc", middle, middle, middle * 0.76, rim)
            fill_shape(draw, "disc", middle, middle, middle * 0.76 - _edge(px) * s, fill)
            letters(draw, mark, middle, middle, middle * 1.1, middle * 0.95, letter_on(fill))

        return self._paint(px, px, ground, paint)

    @cached
    def arrow(self, direction: str, hue: str, px: int, ground: str) -> Sprite:
        """An arrow in one of eight directions: "up", "up-right", "right", ..."""
        eighth = DIRECTIONS.get(direction)
        if eighth is None:
            raise UnknownName("direction", direction, DIRECTIONS)

        def paint(draw: ImageDraw, s: float) -> None:
            side = round(px * s)
            stencil = Image.new("L", (side, side), 0)
            outline = [(0.06, 0.4), (0.52, 0.4), (0.52, 0.16), (0.96, 0.5)]
            outline += [(x, 1 - y) for x, y in reversed(outline[:3])]
            Draw(stencil).polygon([(x * side, y * side) for x, y in outline], fill=255)
            turned = stencil.rotate(-45 * eighth, Image.Resampling.BICUBIC)
            draw.bitmap((0, 0), turned, fill=visible(self.rgb(hue), self.rgb(ground)))

        return self._paint(px, px, ground, paint)

    @cached
    def led(self, hue: str, px: int, ground: str, on: bool = True, letter: str = "") -> Sprite:
        """A light: filled with rays when on, hollow when off, so that it reads without colour."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)

        def paint(draw: ImageDraw, s: float) -> None:
            middle, floor = px * s / 2, self.rgb(ground)
            bold = visible(fill, floor, OUTLINE_CONTRAST)
            if on:
                for x, y in regular(8, middle, middle, middle, 0.0625):
                    draw.line((middle, middle, x, y), fill=bold, width=round(max(1.5, px * 0.08) * s))
                fill_shape(draw, "disc", middle, middle, middle * 0.76, floor)
                edged(draw, "disc", middle, middle, middle * 0.68, fill, edge_of(fill, floor), _edge(px) * s)
            else:
                edged(draw, "disc", middle, middle, middle * 0.68, fill, bold, _edge(px) * s)
                fill_shape(draw, "disc", middle, middle, middle * 0.68 - _edge(px) * s * 2.2, floor)
            letters(draw, mark, middle, middle, middle * 0.9, middle * 0.8, letter_on(fill if on else floor))

        return self._paint(px, px, ground, paint)

    @cached
    def card(self, rank: str, suit: str, height: int, ground: str) -> Sprite:
        """A playing card: rank "A" to "K"; suit "spades", "hearts", ..., its symbol, or "" for none."""
        symbol = suit if suit in SUITS.values() else SUITS.get(suit)
        if symbol is None:
            raise UnknownName("suit", suit, SUITS)
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h = width * s, height * s
            face, ink = self.rgb("white"), self.rgb("red" if symbol in ("♥", "♦") else "black")
            _card_base(draw, w, h, face, self.rgb(ground), max(1.5, height * 0.012) * s)
            if not symbol:
                letters(draw, rank, w / 2, h / 2, w * 0.7, h * 0.5, ink)
                return
            for flip in (False, True):
                x = w * 0.81 if flip else w * 0.19
                letters(draw, rank, x, h * (0.89 if flip else 0.11), w * 0.28, h * 0.17, ink)
                letters(draw, symbol, x, h * (0.74 if flip else 0.26), w * 0.25, h * 0.15, ink)
            letters(draw, symbol, w / 2, h / 2, w * 0.6, h * 0.42, ink)

        return self._paint(width, height, ground, paint)

    @cached
    def card_back(self, height: int, ground: str) -> Sprite:
        """A card face down."""
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h, fill, white = width * s, height * s, self.rgb("blue"), self.rgb("white")
            _card_base(draw, w, h, white, self.rgb(ground), max(1.5, height * 0.012) * s)
            gap = h * 0.05
            draw.rounded_rectangle((gap, gap, w - 1 - gap, h - 1 - gap), w * 0.05, fill=fill)
            step = h * 0.1
            for row in range(1, 9):
                for column in range(1, 6):
                    x, y = w / 2 + (column - 3) * step, h / 2 + (row - 4.5) * step
                    fill_shape(draw, "diamond", x, y, step * 0.3, mix(fill, white, 2, 5))

        return self._paint(width, height, ground, paint)

    @cached
    def hint_card(
        self,
        hue: str | None,
        rank: str | None,
        height: int,
        ground: str,
        hues: tuple[str, ...] = ("red", "yellow", "green", "white", "blue"),
        ranks: str = "12345",
        may_hues: tuple[str, ...] | None = None,
        may_ranks: str | None = None,
    ) -> Sprite:
        """A card of a hidden-hand game (Hanabi) with what its holder knows about it.

        Args:
            hue: Its colour, or None if hidden.
            rank: Its rank, or None if hidden.
            height: Height in pixels.
            ground: Background colour.
            hues: All colours of the game, in the order of the pips.
            ranks: All ranks of the game.
            may_hues: Colours the card may still have, to its holder's knowledge; None draws no pips.
            may_ranks: Ranks it may still have; None draws none.
        """
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h = width * s, height * s
            fill = self.rgb(hue) if hue else self.rgb("gray")
            _card_base(draw, w, h, fill, self.rgb(ground), max(1.5, height * 0.02) * s)
            pips = may_hues is not None or may_ranks is not None
            letter = self.theme.letter(hue) if hue else ""
            centre = h * (0.31 if pips else 0.47)
            px = h * (0.42 if pips else 0.5)
            letters(draw, letter + (rank or "?"), w / 2, centre, w * 0.8, px, letter_on(fill))
            if not pips:
                return
            line = max(1.5, height * 0.02) * s
            tray = (line * 2, h * 0.58, w - 1 - line * 2, h - 1 - line * 2)
            draw.rounded_rectangle(tray, w * 0.06, fill=self.rgb("page"))
            self._hue_pips(draw, w, h, hues, hues if may_hues is None else may_hues)
            self._rank_pips(draw, w, h, ranks, ranks if may_ranks is None else may_ranks)

        return self._paint(width, height, ground, paint)

    def _hue_pips(
        self, draw: ImageDraw, w: float, h: float, hues: tuple[str, ...], may: tuple[str, ...]
    ) -> None:
        step, y = w * 0.86 / max(1, len(hues)), h * 0.68
        radius = min(step * 0.46, h * 0.066)
        for number, name in enumerate(hues):
            x, fill = w * 0.07 + step * (number + 0.5), self.rgb(name)
            if name in may:
                fill_shape(draw, "disc", x, y, radius, edge_of(fill, self.rgb("page")))
                fill_shape(draw, "disc", x, y, radius * 0.78, fill)
                letters(draw, self.theme.letter(name), x, y, radius * 1.4, radius * 1.4, letter_on(fill))
            else:
                fill_shape(draw, "disc", x, y, radius * 0.3, self.rgb("muted"))

    def _rank_pips(self, draw: ImageDraw, w: float, h: float, ranks: str, may: str) -> None:
        step, y = w * 0.86 / max(1, len(ranks)), h * 0.86
        for number, rank in enumerate(ranks):
            x = w * 0.07 + step * (number + 0.5)
            if rank in may:
                letters(draw, rank, x, y, step, h * 0.15, self.rgb("ink"))
            else:
                fill_shape(draw, "disc", x, y, min(step * 0.46, h * 0.066) * 0.3, self.rgb("muted"))

    @cached
    def button(self, label: str, width: int, height: int, fill: str, ground: str) -> Sprite:
        """A push button with its label in black or white."""
        colour = self.rgb(fill)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h, lip = width * s, height * s, max(2.0, height * 0.07) * s
            radius = min(w, h) * 0.2
            draw.rounded_rectangle((0, 0, w - 1, h - 1), radius, fill=edge_of(colour, self.rgb(ground)))
            side = max(2.0, height * 0.04) * s
            draw.rounded_rectangle(
                (side, side, w - 1 - side, h - 1 - lip), max(1.0, radius - side), fill=colour
            )
            letters(draw, label, w / 2, (h - lip) / 2, w * 0.88, h * 0.42, letter_on(colour))

        return self._paint(width, height, ground, paint)

    @cached
    def wire(self, hue: str, width: int, height: int, ground: str, cut: bool = False) -> Sprite:
        """A wire between two sockets along the longer side, with a gap in the middle if cut."""
        fill, mark = self.rgb(hue), self.theme.letter(hue)
        long, thick = max(width, height), min(width, height)

        def paint(draw: ImageDraw, s: float) -> None:
            def box(start: float, end: float, part: float, colour: RGB) -> None:
                low, high = thick * s * (1 - part) / 2, thick * s * (1 + part) / 2 - 1
                ends = (start * s, end * s - 1)
                draw.rectangle(
                    (ends[0], low, ends[1], high) if width >= height else (low, ends[0], high, ends[1]),
                    colour,
                )

            socket, gap = min(thick, long / 6), min(long * 0.16, thick * 1.6)
            runs = [(0.0, (long - gap) / 2), ((long + gap) / 2, long)] if cut else [(0.0, long)]
            for start, end in runs:
                box(start, end, 0.56, edge_of(fill, self.rgb(ground)))
                box(start, end, 0.56 - min(0.2, 3 / thick), fill)
            if cut:
                bare = gap * 0.28
                box((long - gap) / 2, (long - gap) / 2 + bare, 0.22, self.rgb("orange"))
                box((long + gap) / 2 - bare, (long + gap) / 2, 0.22, self.rgb("orange"))
            for start in (0.0, long - socket):
                box(start, start + socket, 1.0, self.rgb("black"))
                box(start + socket * 0.2, start + socket * 0.8, 0.6, self.rgb("gray"))
            if mark:
                along = (socket + (long - gap) / 2) / 2 * s if cut else long * s / 2
                x, y = (along, thick * s / 2) if width >= height else (thick * s / 2, along)
                edge = edge_of(fill, self.rgb(ground))
                edged(draw, "disc", x, y, thick * s / 2, fill, edge, _edge(thick) * s)
                letters(draw, mark, x, y, thick * s * 0.8, thick * s * 0.7, letter_on(fill))

        return self._paint(width, height, ground, paint)


def _card_base(draw: ImageDraw, width: float, height: float, fill: RGB, ground: RGB, line: float) -> None:
    radius = min(width, height) * 0.1
    draw.rounded_rectangle((0, 0, width - 1, height - 1), radius, fill=edge_of(fill, ground))
    inside = (line, line, width - 1 - line, height - 1 - line)
    draw.rounded_rectangle(inside, max(1.0, radius - line), fill=fill)


@lru_cache(maxsize=64)
def _sprite_sheet(
    name: str, size: int, seed: int, inks: tuple[str, ...] | None, grounds: tuple[str, ...] | None
) -> SpriteSheet:
    return SpriteSheet(get_theme(name, seed), size, inks, grounds)


def sprite_sheet(
    theme: str = "classic",
    size: int = 512,
    seed: int = 0,
    inks: Sequence[str] | None = None,
    grounds: Sequence[str] | None = None,
) -> SpriteSheet:
    """The shared sprite sheet of a theme and size; the 64 used last are cached."""
    seed = seed if theme == "random" else 0
    return _sprite_sheet(theme, size, seed, inks and tuple(inks), grounds and tuple(grounds))
