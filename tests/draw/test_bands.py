"""Bands, what is remembered of them, boards put together from them: less work, and never another pixel."""

import base64
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.draw import Picture, bands, png
from ludens.draw.shelves import Shelves
from ludens.games.boards import BoardView

BOARDS = ("tic_tac_toe", "reversi", "gomoku?size=9", "breakthrough?rows=6", "chess")


def decoded(data: bytes) -> tuple[list[list[int]], list[int]]:
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        assert image.mode == "P"
        return np.array(image).tolist(), image.getpalette("RGB") or []


@given(arrays.arrays(np.uint8, st.tuples(st.integers(1, 100), st.integers(1, 9))), st.booleans())
def test_a_png_put_together_from_bands_shows_the_same(pixels: np.ndarray, fast: bool) -> None:
    palette = np.arange(768, dtype=np.uint8).reshape(256, 3)
    picture = Picture(pixels, palette)
    for _ in range(2):
        assert decoded(picture.png(fast, remember=True)) == decoded(picture.png(fast))
    assert np.array_equal(picture.pixels, pixels)


def test_what_was_written_before_changes_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).integers(0, 9, (100, 70), dtype=np.uint8)
    other = noise.copy()
    other[40:50] = 0
    palette = np.zeros((9, 3), np.uint8)
    first = Picture(noise, palette).data_uri()
    monkeypatch.setattr(bands, "_KEPT", Shelves(bands.KEPT_BYTES))
    Picture(other, palette).data_uri()
    assert Picture(noise, palette).data_uri() == first


def test_a_band_that_did_not_change_is_deflated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bands, "_KEPT", Shelves(bands.KEPT_BYTES))
    deflated: list[int] = []
    usual = png._part

    def counted(lines: np.ndarray, fast: bool, level: int) -> bands.Part:
        deflated.append(len(lines))
        return usual(lines, fast, level)

    monkeypatch.setattr(png, "_part", counted)
    pixels, palette = np.arange(100, dtype=np.uint8)[:, None].repeat(8, 1) % 7, np.zeros((7, 3), np.uint8)
    Picture(pixels, palette).data_uri()
    assert deflated == [32, 32, 32, 4]
    pixels[40] = 6 - pixels[40]
    Picture(pixels, palette).data_uri()
    assert deflated == [32, 32, 32, 4, 32]


def test_hash_does_not_depend_on_how_the_picture_was_made() -> None:
    pixels, palette = np.arange(70, dtype=np.uint8).reshape(70, 1).repeat(5, 1), np.zeros((70, 3), np.uint8)
    whole = Picture(pixels, palette)
    assert whole.hash == Picture.of(bands.cut(pixels), palette).hash
    assert (whole.width, whole.height) == (5, 70)


def test_equal_bytes_of_another_width_are_another_band() -> None:
    wide, high = np.zeros((2, 8), np.uint8), np.zeros((8, 2), np.uint8)
    palette = np.zeros((1, 3), np.uint8)
    uris = [Picture(pixels, palette).data_uri() for pixels in (wide, high)]
    sizes = [Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).size for uri in uris]
    assert sizes == [(8, 2), (2, 8)]


@pytest.mark.parametrize("theme", ["classic", "contrast"])
@pytest.mark.parametrize("name", BOARDS)
def test_boards_from_remembered_rows_are_those_drawn_cell_by_cell(name: str, theme: str) -> None:
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
        assert view.draw(matrix).hash == view.draw([list(codes) for codes in matrix]).hash


def test_shelves_forget_what_was_not_asked_for() -> None:
    shelves: Shelves[int, str] = Shelves(8)
    for key in range(4):
        shelves.put(key, str(key), 1)
    assert shelves.get(0, 1) == "0"
    for key in range(4, 8):
        shelves.put(key, str(key), 1)
        assert shelves.get(0, 1) == "0"
    assert shelves.get(1, 1) is None


def test_what_is_larger_than_the_shelves_is_kept_until_the_next_comes() -> None:
    shelves: Shelves[int, str] = Shelves(8)
    shelves.put(1, "one", 100)
    assert shelves.get(1, 100) == "one"
    shelves.put(2, "two", 100)
    shelves.put(3, "three", 100)
    assert shelves.get(1, 100) is None
