"""Sprites for what is held or pressed: playing cards, hint cards, buttons and wires."""

from __future__ import annotations

from PIL.ImageDraw import ImageDraw

from ludens.core.errors import UnknownName
from ludens.draw.colour import RGB, edge_of, letter_on, mix
from ludens.draw.shapes import fill_shape, letters
from ludens.draw.studio import Sprite, Studio, remembered

SUITS = {"spades": "♠", "hearts": "♥", "diamonds": "♦", "clubs": "♣", "": ""}
CARD_SHAPE = 0.7


class Props(Studio):
    """Everything rectangular. Cards are given by their height and are 0.7 times as wide."""

    def _sheet(self, draw: ImageDraw, width: float, height: float, fill: RGB, edge: RGB, line: float) -> None:
        radius = min(width, height) * 0.1
        draw.rounded_rectangle((0, 0, width - 1, height - 1), radius, fill=edge)
        inside = (line, line, width - 1 - line, height - 1 - line)
        draw.rounded_rectangle(inside, max(1.0, radius - line), fill=fill)

    @remembered
    def card(self, rank: str, suit: str, height: int, ground: str) -> Sprite:
        """A playing card: rank "A" to "K"; suit "spades", "hearts", ..., its symbol, or "" for none."""
        symbol = suit if suit in SUITS.values() else SUITS.get(suit)
        if symbol is None:
            raise UnknownName("suit", suit, SUITS)
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h = width * s, height * s
            face, ink = self.rgb("white"), self.rgb("red" if symbol in ("♥", "♦") else "black")
            self._sheet(draw, w, h, face, edge_of(self.rgb("gray")), max(1.0, height * 0.012) * s)
            if not symbol:
                letters(draw, rank, w / 2, h / 2, w * 0.7, h * 0.5, ink)
                return
            for flip in (False, True):
                x = w * 0.81 if flip else w * 0.19
                letters(draw, rank, x, h * (0.89 if flip else 0.11), w * 0.28, h * 0.17, ink)
                letters(draw, symbol, x, h * (0.74 if flip else 0.26), w * 0.25, h * 0.15, ink)
            letters(draw, symbol, w / 2, h / 2, w * 0.6, h * 0.42, ink)

        return self._paint(width, height, ground, paint)

    @remembered
    def card_back(self, height: int, ground: str, hue: str = "blue") -> Sprite:
        """A card face down."""
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h, fill = width * s, height * s, self.rgb(hue)
            self._sheet(
                draw, w, h, self.rgb("white"), edge_of(self.rgb("gray")), max(1.0, height * 0.012) * s
            )
            gap = h * 0.05
            draw.rounded_rectangle((gap, gap, w - 1 - gap, h - 1 - gap), w * 0.05, fill=fill)
            step = h * 0.1
            for row in range(1, 9):
                for column in range(1, 6):
                    x, y = w / 2 + (column - 3) * step, h / 2 + (row - 4.5) * step
                    fill_shape(draw, "diamond", x, y, step * 0.3, mix(fill, self.rgb("white"), 2, 5))

        return self._paint(width, height, ground, paint)

    @remembered
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
        """A card of a hidden-hand game (Hanabi) with what its holder may know about it.

        Args:
            hue: Its colour, or None when it must not be shown.
            rank: Its rank, or None when it must not be shown.
            height: Height in pixels.
            ground: Colour the card lies on.
            hues: All colours of the game, in the order of the pips.
            ranks: All ranks of the game.
            may_hues: Colours the card may still have as far as its holder knows; None draws no pips at all.
            may_ranks: Ranks it may still have; None draws none.
        """
        width = round(height * CARD_SHAPE)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h = width * s, height * s
            fill = self.rgb(hue) if hue else self.rgb("gray")
            self._sheet(draw, w, h, fill, edge_of(fill), max(1.5, height * 0.02) * s)
            pips = may_hues is not None or may_ranks is not None
            letter = self.theme.letter(hue) if hue else ""
            centre = h * (0.31 if pips else 0.47)
            letters(
                draw,
                letter + (rank or "?"),
                w / 2,
                centre,
                w * 0.8,
                h * (0.42 if pips else 0.5),
                letter_on(fill),
            )
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
                fill_shape(draw, "disc", x, y, radius, edge_of(fill))
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

    @remembered
    def button(self, label: str, width: int, height: int, fill: str, ground: str) -> Sprite:
        """A push button with its label in black or white, whichever reads better."""
        colour = self.rgb(fill)

        def paint(draw: ImageDraw, s: float) -> None:
            w, h, lip = width * s, height * s, max(1.0, height * 0.07) * s
            radius = min(w, h) * 0.2
            draw.rounded_rectangle((0, 0, w - 1, h - 1), radius, fill=edge_of(colour))
            side = max(1.0, height * 0.025) * s
            draw.rounded_rectangle(
                (side, side, w - 1 - side, h - 1 - lip), max(1.0, radius - side), fill=colour
            )
            letters(draw, label, w / 2, (h - lip) / 2, w * 0.88, h * 0.42, letter_on(colour))

        return self._paint(width, height, ground, paint)

    @remembered
    def wire(
        self, hue: str, width: int, height: int, ground: str, cut: bool = False, letter: str = ""
    ) -> Sprite:
        """A wire between two sockets, along the longer side; when cut, its ends part in the middle."""
        fill, mark = self.rgb(hue), letter or self.theme.letter(hue)
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
                box(start, end, 0.56, edge_of(fill))
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
                fill_shape(draw, "disc", x, y, thick * s / 2, fill)
                letters(draw, mark, x, y, thick * s * 0.8, thick * s * 0.7, letter_on(fill))

        return self._paint(width, height, ground, paint)
