"""The canvas: a surface with blocks of text on it, that is wrapped paragraphs, tables and titled panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ludens.draw import fonts
from ludens.draw.surface import Surface

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

Box = tuple[int, int, int, int]


class Canvas(Surface):
    """Pixels to draw on (see `Kit.canvas`). Colours are theme names or `#rrggbb`; coordinates are pixels."""

    __slots__ = ()

    def wrap(
        self,
        x: int,
        y: int,
        w: int,
        string: str,
        px: int,
        ink: str = "ink",
        ground: str | None = None,
        bold: bool = False,
        mono: bool = False,
        lines: int | None = None,
    ) -> int:
        """A paragraph broken at `w` pixels; returns the height used. `lines` is the most there may be."""
        room = max(0, self.height - y)
        step = round(px * 1.35)
        most = room // step + 1 if lines is None else lines
        broken = fonts.wrap(string[: 40 * fonts.LONGEST], w, px, bold, mono)
        if len(broken) > most:
            broken = broken[:most]
            if broken:
                broken[-1] = fonts.fit(broken[-1] + " …", w, px, bold, mono)
        for number, line in enumerate(broken):
            self.text(x, y + number * step, line, px, ink, ground, "lt", bold, mono)
        return len(broken) * step

    def table(
        self,
        x: int,
        y: int,
        w: int,
        rows: Sequence[Sequence[str]],
        px: int,
        header: bool = True,
        align: str = "",
        ink: str = "ink",
        ground: str | None = None,
        mono: bool = False,
    ) -> int:
        """Rows of text in columns across `w` pixels; returns the height used.

        Args:
            x: Left edge.
            y: Top edge.
            w: Width of the whole table; columns share it by what they hold.
            rows: The cells; short rows are fine.
            px: Font size.
            header: The first row is bold and ruled off.
            align: A letter a column: l, m or r; columns without one are l.
            ink: Colour of the text.
            ground: Colour behind; the canvas's own unless given.
            mono: Letters of equal width.
        """
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            return 0
        pad, step = round(px * 0.5), round(px * 1.75)
        wants = [0] * columns
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                wants[column] = max(wants[column], fonts.width(cell, px, header and number == 0, mono))
        if sum(wants) + 2 * pad * columns > w:
            pad = max(1, round(px * 0.2))
        wants = [want + 2 * pad for want in wants]
        total = sum(wants)
        lefts = [x + w * sum(wants[:column]) // total for column in range(columns + 1)]
        for number, row in enumerate(rows):
            top = y + number * step
            for column, cell in enumerate(row):
                side = align[column] if column < len(align) else "l"
                left, right = lefts[column] + pad, lefts[column + 1] - pad
                at = {"l": left, "m": (left + right) // 2, "r": right}[side]
                bold = header and number == 0
                self.text(
                    at, top + step // 2, cell, px, ink, ground, side + "m", bold, mono, max(1, right - left)
                )
            heavy = header and number == 0 and len(rows) > 1
            if number + 1 < len(rows):
                self.fill(x, top + step - 1, w, self.kit.px(2 if heavy else 1), "line" if heavy else "panel")
        return step * len(rows)

    def rounded(
        self,
        x: int,
        y: int,
        w: int,
        h: int,
        colour: str,
        ground: str | None = None,
        radius: int | None = None,
    ) -> None:
        """A filled rectangle with round corners that lies on `ground`."""
        behind = self.ground if ground is None else ground
        r = min(self.kit.px(8) if radius is None else radius, w // 2, h // 2)
        self.fill(x, y, w, h, colour)
        for cx, cy, dx, dy in (
            (x, y, 1, 1),
            (x + w - r, y, 0, 1),
            (x, y + h - r, 1, 0),
            (x + w - r, y + h - r, 0, 0),
        ):
            if r < 1:
                break

            def paint(draw: ImageDraw, s: float, dx: int = dx, dy: int = dy) -> None:
                d, left, top = 2 * r * s, (dx - 1) * r * s, (dy - 1) * r * s
                draw.ellipse((left, top, left + d - 1, top + d - 1), fill=self.kit.rgb(colour))

            self.place(self.kit.sprite(("corner", colour, dx, dy), r, r, behind, paint), cx, cy)

    def panel(
        self,
        x: int,
        y: int,
        w: int,
        h: int,
        title: str = "",
        colour: str = "panel",
        ground: str | None = None,
    ) -> Box:
        """A rounded panel with an optional bold title; returns the box (x, y, w, h) left inside it."""
        self.rounded(x, y, w, h, colour, ground)
        pad, head = self.kit.px(12), 0
        if title:
            px = self.kit.font_px(15)
            head = round(px * 1.6)
            self.text(x + pad, y + pad, title, px, "ink", colour, "lt", bold=True, room=max(1, w - 2 * pad))
        return x + pad, y + pad + head, max(0, w - 2 * pad), max(0, h - 2 * pad - head)
