import numpy as np
import pytest

from ludens.core.errors import BadOption, UnknownName
from ludens.draw import THEMES, board, kit
from tests.draw.pictures import chess, everything, gomoku


@pytest.mark.parametrize("size", [256, 512, 1024])
@pytest.mark.parametrize("name", THEMES)
def test_every_theme_and_size_draws(name: str, size: int) -> None:
    pens = kit(name, size, 3)
    for draw in (gomoku, chess, everything):
        picture = draw(pens)
        assert (picture.width, picture.height) == (size, size)
        assert len(np.unique(picture.pixels)) > 8


@pytest.mark.parametrize("style", ["squares", "checkered", "lines", "points"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (5, 9), (15, 15), (19, 19)])
def test_cells_tile_the_box_and_do_not_overlap(style: str, rows: int, columns: int) -> None:
    pens = kit("classic", 512)
    box = (100, 50, 400, 300)
    grid = board(pens, rows, columns, ["9"] * rows, ["m"] * columns, style=style, labels="lrtb", box=box)
    assert grid.px * max(rows, columns) > 200
    for row in range(rows):
        for column in range(columns):
            x, y, px = grid.cell(row, column)
            assert (x, y) == (grid.x + column * px, grid.y + row * px)
            assert box[0] <= x
            assert x + px <= box[0] + box[2]
            assert box[1] <= y
            assert y + px <= box[1] + box[3]
    outside = np.ones((512, 512), bool)
    outside[50:350, 100:500] = False
    assert (grid.canvas().pixels[outside] == pens.index("page")).all()


@pytest.mark.parametrize("style", ["squares", "checkered", "lines", "points"])
def test_ground_is_the_colour_of_the_cell(style: str) -> None:
    pens = kit("classic", 512)
    grid = board(pens, 5, 4, style=style)
    for row in range(5):
        for column in range(4):
            x, y, px = grid.cell(row, column)
            assert grid.base.pixels[y + px // 4, x + px // 4] == pens.index(grid.ground(row, column))


def test_put_and_tint_stay_in_their_cell() -> None:
    pens = kit("classic", 512)
    grid = board(pens, 8, 8, style="squares")
    canvas = grid.canvas()
    grid.tint(canvas, 2, 3)
    grid.put(canvas, 2, 3, pens.token("red", grid.room(), "highlight"))
    rows, columns = np.nonzero(canvas.pixels != grid.base.pixels)
    x, y, px = grid.cell(2, 3)
    assert rows.min() >= y
    assert rows.max() < y + px
    assert columns.min() >= x
    assert columns.max() < x + px
    cx, cy = grid.middle(2, 3)
    assert canvas.pixels[cy, cx] == pens.index("red")


def test_base_is_drawn_once_and_never_written() -> None:
    pens = kit("classic", 512)
    grid = board(pens, 6, 6, "abcdef", "123456")
    assert board(pens, 6, 6, list("abcdef"), list("123456")) is grid
    before = grid.base.pixels.copy()
    grid.canvas().fill(0, 0, 512, 512, "red")
    assert np.array_equal(grid.base.pixels, before)


def test_nonsense_is_refused() -> None:
    pens = kit("classic", 256)
    grid = board(pens, 3, 3)
    for row, column in ((-1, 0), (0, 3)):
        with pytest.raises(IndexError):
            grid.cell(row, column)
    with pytest.raises(UnknownName, match="squares"):
        board(pens, 3, 3, style="square")
    with pytest.raises(BadOption):
        board(pens, 3, 3, "ab")
    with pytest.raises(BadOption, match="does not fit"):
        board(pens, 90, 90)


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("columns", [3, 7, 8, 15])
def test_room_can_be_centred_exactly(part: float, columns: int) -> None:
    grid = board(kit("classic", 512), columns, columns)
    assert (grid.px - grid.room(part)) % 2 == 0
    assert grid.room(part) <= grid.px
