"""`ludens bench draw`: pictures per second on one core, by Ludens and by plain Pillow."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import cast

from PIL import Image, ImageDraw

from benchmarks import Row, rate
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.draw import Picture, fonts
from ludens.draw.bands import has_isal
from ludens.draw.palette import edge_of
from ludens.games.boards import BoardView, Matrix

TARGETS = {"zlib": 500.0, "isal": 1200.0}
SIDE, STONES, SIZE = 15, 60, 512
POSITIONS = 3000
"""Of each way to compress: none comes twice, since parts of earlier pictures are kept."""
HUES = {1: "black", 2: "white"}


def rows(seconds: float) -> Iterator[Row]:
    """15x15 boards with 60 stones at 512x512: drawn, hashed, encoded, base64'd, per second of a core."""
    view = cast(BoardView, make("gomoku").view(RenderOptions(size=SIZE)))
    positions = [position(seed) for seed in range(2 * POSITIONS)]

    def ours(seed: int, fast: bool) -> int:
        picture = cast(Picture, view.draw(positions[seed % POSITIONS + POSITIONS * fast]))
        assert picture.hash
        base64.b64encode(picture.png(fast)).decode("ascii")
        return 1

    def pillow(seed: int) -> int:
        base64.b64encode(with_pillow(view, positions[seed % POSITIONS])).decode("ascii")
        return 1

    rates = {"zlib": rate(lambda seed: ours(seed, False), seconds)}
    if has_isal():
        rates["isal"] = rate(lambda seed: ours(seed, True), seconds)
    for name, target in TARGETS.items():
        note = "" if name in rates else "pip install 'ludens[fast]'"
        yield Row(f"Ludens, {name}", rates.get(name), "images/s", target, note=note)
    plain = rate(pillow, seconds)
    yield Row("plain Pillow RGB", plain, "images/s", ratio=max(rates.values()) / plain)


def position(seed: int) -> Matrix:
    """A random position as codes."""
    matrix = [[0] * SIDE for _ in range(SIDE)]
    for number, point in enumerate(stream(seed, "bench").sample(range(SIDE * SIDE), STONES)):
        matrix[point // SIDE][point % SIDE] = 1 + number % 2
    return matrix


def with_pillow(view: BoardView, matrix: Matrix) -> bytes:
    """The same picture drawn and encoded from scratch with Pillow alone, in true colour."""
    board = view.board
    colour, px, x, y = board.sheet.rgb, board.px, board.x, board.y
    image = Image.new("RGB", (SIZE, SIZE), colour("page"))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((x, y, x + px * SIDE - 1, y + px * SIDE - 1), 6, fill=colour("wood"))
    face, half, end = fonts.font(14, True), px // 2, px * (SIDE - 1)
    for number in range(SIDE):
        at = half + number * px
        draw.line((x + half, y + at, x + half + end, y + at), colour("line"))
        draw.line((x + at, y + half, x + at, y + half + end), colour("line"))
        draw.text((x - 6, y + at), view.row_label(number), colour("ink"), face, "rm")
        draw.text((x + at, y - 12), view.column_label(number), colour("ink"), face, "mm")
    radius = board.room(0.84) / 2
    for row, codes in enumerate(matrix):
        for column, code in enumerate(codes):
            if code:
                cx, cy = board.middle(row, column)
                fill, box = colour(HUES[code]), (cx - radius, cy - radius, cx + radius, cy + radius)
                draw.ellipse(box, fill=fill, outline=edge_of(fill, colour("wood")), width=2)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
