import pickle

import numpy as np
import pytest

from ludens.core.errors import BadOption, UnknownName
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.draw import THEMES, CellCache, Picture, Sprite, draw_board, sprite_sheet
from ludens.games.boards import BoardView, TurnView
from tests.draw.pictures import chess, everything, gomoku


@pytest.mark.parametrize("size", [256, 512, 1024])
@pytest.mark.parametrize("name", THEMES)
def test_every_theme_and_size_draws(name: str, size: int) -> None:
    sheet = sprite_sheet(name, size, 3)
    for draw in (gomoku, chess, everything):
        picture = draw(sheet)
        assert (picture.width, picture.height) == (size, size)
        assert len(np.unique(picture.pixels)) > 8


@pytest.mark.parametrize("style", ["squares", "checkered", "lines", "points"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 3), (5, 9), (15, 15), (19, 19)])
def test_cells_tile_the_box_and_do_not_overlap(style: str, rows: int, columns: int) -> None:
    sheet = sprite_sheet("classic", 512)
    box = (100, 50, 400, 300)
    grid = draw_board(
        sheet, rows, columns, ["9"] * rows, ["m"] * columns, style=style, labels="lrtb", box=box
    )
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
    assert (grid.canvas().pixels[outside] == sheet.index("page")).all()


@pytest.mark.parametrize("style", ["squares", "checkered", "lines", "points"])
def test_ground_is_the_colour_of_the_cell(style: str) -> None:
    sheet = sprite_sheet("classic", 512)
    grid = draw_board(sheet, 5, 4, style=style)
    for row in range(5):
        for column in range(4):
            x, y, px = grid.cell(row, column)
            assert grid.base.pixels[y + px // 4, x + px // 4] == sheet.index(grid.ground(row, column))


def test_put_and_tint_stay_in_their_cell() -> None:
    sheet = sprite_sheet("classic", 512)
    grid = draw_board(sheet, 8, 8, style="squares")
    canvas = grid.canvas()
    grid.tint(canvas, 2, 3)
    grid.put(canvas, 2, 3, sheet.token("red", grid.room(), "highlight"))
    rows, columns = np.nonzero(canvas.pixels != grid.base.pixels)
    x, y, px = grid.cell(2, 3)
    assert rows.min() >= y
    assert rows.max() < y + px
    assert columns.min() >= x
    assert columns.max() < x + px
    cx, cy = grid.middle(2, 3)
    assert canvas.pixels[cy, cx] == sheet.index("red")


def test_base_is_drawn_once_and_never_written() -> None:
    sheet = sprite_sheet("classic", 512)
    grid = draw_board(sheet, 6, 6, "abcdef", "123456")
    assert draw_board(sheet, 6, 6, list("abcdef"), list("123456")) is grid
    before = grid.base.pixels.copy()
    grid.canvas().fill(0, 0, 512, 512, "red")
    assert np.array_equal(grid.base.pixels, before)


def test_invalid_boards_are_refused() -> None:
    sheet = sprite_sheet("classic", 256)
    grid = draw_board(sheet, 3, 3)
    for row, column in ((-1, 0), (0, 3)):
        with pytest.raises(IndexError):
            grid.cell(row, column)
    with pytest.raises(UnknownName, match="squares"):
        draw_board(sheet, 3, 3, style="square")
    with pytest.raises(BadOption):
        draw_board(sheet, 3, 3, "ab")
    with pytest.raises(BadOption, match="does not fit"):
        draw_board(sheet, 90, 90)


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("columns", [3, 7, 8, 15])
def test_room_can_be_centred_exactly(part: float, columns: int) -> None:
    grid = draw_board(sprite_sheet("classic", 512), columns, columns)
    assert (grid.px - grid.room(part)) % 2 == 0
    assert grid.room(part) <= grid.px


def test_a_picture_may_be_wider_than_high() -> None:
    board = draw_board(sprite_sheet("classic", 512), 3, 6, "abc", "123456", size=(512, 300))
    assert board.canvas().pixels.shape == (300, 512)
    x, y, px = board.cell(2, 5)
    assert x + px <= 512
    assert y + px <= 300


@pytest.mark.parametrize("theme", ["classic", "contrast"])
@pytest.mark.parametrize("name", ["tic_tac_toe", "reversi", "gomoku?size=9", "breakthrough?rows=6", "chess"])
def test_cached_cells_give_the_same_pixels_as_drawing(name: str, theme: str) -> None:
    view = make(name).view(RenderOptions(theme, 300))
    assert isinstance(view, BoardView)
    for number in range(6):
        matrix = view.scatter(stream(number, name))
        canvas = view.board.canvas()
        for row, codes in enumerate(matrix):
            for column, code in enumerate(codes):
                piece = view.piece(row, column, code)
                if piece is not None:
                    view.board.put(canvas, row, column, piece)
        assert view.draw(matrix) == canvas.picture()


def test_a_cell_is_drawn_once() -> None:
    sheet = sprite_sheet("classic", 256)
    board, calls = draw_board(sheet, 2, 2), []

    def piece(row: int, column: int, code: int) -> Sprite | None:
        calls.append((row, column, code))
        return sheet.stone("red", board.room(), "light") if code else None

    cache = CellCache(board, piece)
    first = cache.picture([[0, 1], [1, 0]])
    assert len(calls) == 4
    assert cache.picture([[0, 1], [1, 0]]) == first
    assert cache.picture([[1, 1], [1, 0]]) != first
    assert calls[4:] == [(0, 0, 1)]


@pytest.mark.parametrize("hashed", [False, True])
def test_a_picture_sent_to_another_process_is_its_pixels(hashed: bool) -> None:
    game = make("chess")
    picture = game.view(RenderOptions(size=128)).image(game.start(0), "white")
    if hashed:
        assert picture.hash
    sent = pickle.dumps(picture)
    assert len(sent) < 1.2 * 128 * 128
    received: Picture = pickle.loads(sent)
    assert received.hash == picture.hash
    assert received.png() == Picture(*picture._decode()).png()
    assert np.array_equal(received.pixels, picture.pixels)


@pytest.mark.parametrize("size", [128, 300])
@pytest.mark.parametrize("name", ["tic_tac_toe", "breakthrough?rows=6", "chess"])
def test_frames_of_interleaved_games_have_the_pixels_of_drawing(name: str, size: int) -> None:
    game = make(name)
    view = game.view(RenderOptions(size=size))
    assert isinstance(view, TurnView)
    states = [game.start(seed) for seed in range(3)]
    for step in range(12):
        for number, state in enumerate(states):
            if state.over:
                continue
            canvas = view.board.canvas()
            for row, codes in enumerate(view.matrix(state)):
                for column, code in enumerate(codes):
                    if (piece := view.piece(row, column, code)) is not None:
                        view.board.put(canvas, row, column, piece)
            plain = canvas.copy().picture()
            for square in [square for move in state.last.values() for square in view.squares(move)]:
                view.board.outline(canvas, *divmod(view.cells().index(square), view.columns))
            view._draw_turn(canvas, (state.to_act, ()))
            picture, drawn = view.image(state, state.to_act[0]), canvas.picture()
            assert picture.hash == drawn.hash
            assert np.array_equal(picture.pixels, drawn.pixels)
            assert view.draw(view.matrix(state)).hash == plain.hash
            assert np.array_equal(Picture.from_bytes(picture.png()).pixels, drawn.pixels)
            state.apply(
                {
                    seat: state.legal(seat)[(step * 7 + number) % len(state.legal(seat))]
                    for seat in state.to_act
                }
            )
