"""How fast pictures are: busy gomoku boards, drawn, encoded and base64'd, by us and by plain Pillow.

Each board is another one, so that nothing of it was seen before; and the boards of a game, move by move.
"""

from __future__ import annotations

import base64
import io
import time
from collections.abc import Callable
from functools import cache

from ludens.core.random import stream
from ludens.draw import fonts
from ludens.draw.boards import Board, board
from ludens.draw.colour import edge_of
from ludens.draw.kits import kit
from ludens.draw.picture import Picture
from ludens.draw.png import has_isal

SIDE, STONES, SIZE = 15, 60, 512
BOARDS_A_SECOND = 3000
Stones = list[tuple[int, int, str]]


@cache
def stones(turn: int = 0, game: int = 0) -> Stones:
    """60 stones on points drawn by lot; another turn or game, another position."""
    places = stream(turn, "bench", game).sample(range(SIDE * SIDE), STONES)
    return [
        (place // SIDE, place % SIDE, "black" if number % 2 else "white")
        for number, place in enumerate(places)
    ]


def grid() -> Board:
    """The labelled board everything here is drawn on."""
    rows, columns = [str(SIDE - row) for row in range(SIDE)], [chr(97 + column) for column in range(SIDE)]
    return board(kit("classic", SIZE), SIDE, SIDE, rows, columns, style="points")


def ours(placed: Stones) -> Picture:
    """The picture as a view would draw it."""
    table = grid()
    canvas, px = table.canvas(), table.room(0.9)
    for row, column, hue in placed:
        table.put(canvas, row, column, table.kit.stone(hue, px, table.ground(row, column)))
    return canvas.picture()


def with_pillow(turn: int) -> bytes:
    """The same picture drawn and encoded with Pillow alone, in true colour, from nothing each time."""
    from PIL import Image, ImageDraw

    table = grid()
    colour, px, x, y = table.kit.rgb, table.px, table.x, table.y
    image = Image.new("RGB", (SIZE, SIZE), colour("page"))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((x, y, x + px * SIDE - 1, y + px * SIDE - 1), 6, fill=colour("wood"))
    face, half, end = fonts.font(14, True), px // 2, px * (SIDE - 1)
    for number in range(SIDE):
        at = half + number * px
        draw.line((x + half, y + at, x + half + end, y + at), colour("line"))
        draw.line((x + at, y + half, x + at, y + half + end), colour("line"))
        draw.text((x - 6, y + at), str(SIDE - number), colour("ink"), face, "rm")
        draw.text((x + at, y + px * SIDE + 12), chr(97 + number), colour("ink"), face, "mm")
    for row, column, hue in stones(turn):
        cx, cy, radius = x + half + column * px, y + half + row * px, table.room(0.9) / 2
        box = (cx - radius, cy - radius, cx + radius, cy + radius)
        draw.ellipse(box, fill=colour(hue), outline=edge_of(colour(hue)), width=2)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def move(turn: int) -> Picture:
    """The board after another move; every 60 moves a new game begins."""
    game, moves = divmod(turn, STONES)
    return ours(stones(0, game + 1)[: moves + 1])


def shown(picture: Picture, fast: bool) -> bytes:
    """What playing asks of a picture: its hash, and a PNG for the model."""
    assert picture.hash
    return picture.png(fast, remember=True)


def _rate(make: Callable[[int], bytes], seconds: float) -> float:
    make(0)
    start, done = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds or not done:
        base64.b64encode(make(done)).decode("ascii")
        done += 1
    return done / spent


def measure(seconds: float = 1.0) -> list[dict[str, str | float]]:
    """Images a second on this core by each way; rows of name, images_per_second and ratio_to_pillow."""
    ways: dict[str, Callable[[int], bytes]] = {
        "pillow": with_pillow,
        "zlib": lambda turn: ours(stones(turn)).png(False),
        "zlib, a game": lambda turn: shown(move(turn), False),
    }
    if has_isal():
        ways["isal"] = lambda turn: ours(stones(turn)).png(True)
        ways["isal, a game"] = lambda turn: shown(move(turn), True)
    for turn in range(round(BOARDS_A_SECOND * seconds)):  # dealt before the clock runs
        stones(turn)
    rates = {name: _rate(make, seconds) for name, make in ways.items()}
    return [
        {
            "name": name,
            "images_per_second": round(rate, 1),
            "ratio_to_pillow": round(rate / rates["pillow"], 1),
        }
        for name, rate in rates.items()
    ]


if __name__ == "__main__":
    for line in measure():
        print(
            f"{line['name']:12} {line['images_per_second']:>8} images/s {line['ratio_to_pillow']:>6} x Pillow"
        )
