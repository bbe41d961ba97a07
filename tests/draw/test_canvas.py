import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.errors import BadOption, UnknownName
from ludens.draw import Canvas, sprite_sheet
from ludens.draw.fonts import LONGEST, mask

SHEET = sprite_sheet("classic", 256)
NUMBERS = st.integers(-400, 700)
HOSTILE = ["\ud800", "a\x00b", "x" * 2_000_000, "\u202eabc", "\n", "", " ", "e\u0301" * 3000]


@given(NUMBERS, NUMBERS, st.integers(1, 300), st.integers(1, 300))
def test_fill_and_place_clip_alike(x: int, y: int, w: int, h: int) -> None:
    filled, placed, masked = Canvas(SHEET), Canvas(SHEET), Canvas(SHEET)
    filled.fill(x, y, w, h, "red")
    sprite = np.full((h, w), SHEET.index("red"), np.uint8)
    placed.place(sprite, x, y)
    overlay = SHEET.overlay(
        "box", w, h, lambda draw, s: draw.rectangle((0, 0, w * s, h * s), SHEET.rgb("red"))
    )
    masked.place(overlay, x, y)
    reference = np.pad(Canvas(SHEET).pixels, 1200)
    reference[1200 + y : 1200 + y + h, 1200 + x : 1200 + x + w] = SHEET.index("red")
    expected = reference[1200:1456, 1200:1456]
    for canvas in (filled, placed, masked):
        assert np.array_equal(canvas.pixels, expected)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.integers(1, 9))
def test_lines_and_frames_never_fail(x0: int, y0: int, x1: int, y1: int, thick: int) -> None:
    canvas = Canvas(SHEET)
    canvas.line(x0, y0, x1, y1, "ink", thick)
    canvas.frame(x0, y0, x1, y1, "ink", thick)
    assert canvas.pixels.shape == (256, 256)


@given(st.text(max_size=80), st.integers(1, 40), NUMBERS, NUMBERS, st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_drawn(string: str, px: int, x: int, y: int, bold: bool, mono: bool) -> None:
    canvas = Canvas(SHEET)
    canvas.text(x, y, string, px, anchor="mm", bold=bold, mono=mono)
    canvas.panel(x, y, 90, 60, string)
    canvas.place(SHEET.token("red", 30, "page", string), 0, 0)
    canvas.place(SHEET.piece(string, "white", "black", 30, "page"), 0, 0)


@pytest.mark.parametrize("string", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_can_be_drawn(string: str) -> None:
    canvas = Canvas(SHEET)
    canvas.text(5, 50, string, 12)
    canvas.text(5, 80, string, 12, room=100)
    assert mask(string, 12).shape[1] <= LONGEST * 14


def test_unknown_names_are_named() -> None:
    canvas = Canvas(SHEET)
    with pytest.raises(UnknownName):
        canvas.fill(0, 0, 1, 1, "rde")
    with pytest.raises(BadOption):
        canvas.text(0, 0, "a", 10, anchor="xx")


def test_a_copy_is_independent() -> None:
    canvas = Canvas(SHEET, "wood", width=300, height=100)
    copy = canvas.copy()
    copy.fill(0, 0, 50, 50, "red")
    assert (canvas.pixels == SHEET.index("wood")).all()
    assert (copy.picture().width, copy.picture().height) == (300, 100)
