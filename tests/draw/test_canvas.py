import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.errors import BadOption, UnknownName
from ludens.draw import Kit, kit, theme
from ludens.draw.fonts import LONGEST, fit, mask, width, wrap

PENS = kit("classic", 256)
NUMBERS = st.integers(-400, 700)


@pytest.mark.parametrize("size", [0, 255, 1025])
def test_size_has_bounds(size: int) -> None:
    with pytest.raises(BadOption, match="256 to 1024"):
        Kit(theme("classic"), size)


@given(NUMBERS, NUMBERS, st.integers(1, 300), st.integers(1, 300))
def test_fill_and_place_clip_alike(x: int, y: int, w: int, h: int) -> None:
    filled, placed, masked = PENS.canvas(), PENS.canvas(), PENS.canvas()
    filled.fill(x, y, w, h, "red")
    sprite = np.full((h, w), PENS.index("red"), np.uint8)
    placed.place(sprite, x, y)
    overlay = PENS.overlay("box", w, h, lambda draw, s: draw.rectangle((0, 0, w * s, h * s), PENS.rgb("red")))
    masked.place(overlay, x, y)
    reference = np.pad(PENS.canvas().pixels, 1200)
    reference[1200 + y : 1200 + y + h, 1200 + x : 1200 + x + w] = PENS.index("red")
    expected = reference[1200:1456, 1200:1456]
    for canvas in (filled, placed, masked):
        assert np.array_equal(canvas.pixels, expected)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.integers(1, 9))
def test_lines_and_frames_never_fail(x0: int, y0: int, x1: int, y1: int, thick: int) -> None:
    canvas = PENS.canvas()
    canvas.line(x0, y0, x1, y1, "ink", thick)
    canvas.frame(x0, y0, x1, y1, "ink", thick)
    assert canvas.pixels.shape == (256, 256)


@given(st.text(max_size=80), st.integers(1, 40), NUMBERS, NUMBERS, st.booleans(), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_text_can_be_drawn(string: str, px: int, x: int, y: int, bold: bool, mono: bool) -> None:
    canvas = PENS.canvas()
    canvas.text(x, y, string, px, anchor="mm", bold=bold, mono=mono)
    canvas.wrap(x, y, 90, string, px)
    canvas.table(0, 0, 100, [[string, "b"], [string]], px)
    canvas.place(PENS.token("red", 30, "page", string), 0, 0)
    canvas.place(PENS.piece(string, "white", "black", 30, "page"), 0, 0)


HOSTILE = ["\ud800", "a\x00b", "x" * 2_000_000, "\u202eabc", "\n", "", " ", "e\u0301" * 3000]


@pytest.mark.parametrize("string", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_can_be_drawn(string: str) -> None:
    canvas = PENS.canvas()
    canvas.text(5, 50, string, 12)
    assert canvas.wrap(5, 5, 200, string, 12) >= 0
    assert mask(string, 12).shape[1] <= LONGEST * 14


def test_missing_glyphs_show_as_a_box() -> None:
    box = mask("漢", 20)
    assert (box > 100).sum() > 20
    assert np.array_equal(box, mask("\U0001f600", 20))
    assert not np.array_equal(box, mask("♥", 20))


@given(st.text("abc wxyz\n-é", max_size=300), st.integers(20, 200))
@settings(deadline=None)
def test_wrapping_loses_nothing_and_fits(string: str, room: int) -> None:
    lines = wrap(string, room, 12)
    assert "".join("".join(lines).split()) == "".join(string.split())
    assert all(width(line, 12) <= room for line in lines)


def test_fit_cuts_with_an_ellipsis() -> None:
    assert fit("short", 100, 12) == "short"
    cut = fit("a rather long sentence", 60, 12)
    assert cut.endswith("…")
    assert width(cut, 12) <= 60


def test_wrap_returns_the_height_and_obeys_the_limit() -> None:
    canvas = PENS.canvas()
    one = canvas.wrap(0, 0, 200, "short", 10)
    assert canvas.wrap(0, 0, 60, "one two three four five six seven", 10, lines=2) == 2 * one


def test_own_sprites_are_painted_once_and_read_only() -> None:
    calls = []

    def paint(draw: object, scale: float) -> None:
        calls.append(scale)

    first = PENS.sprite("mine", 10, 12, "wood", paint)
    assert PENS.sprite("mine", 10, 12, "wood", paint) is first
    assert first.shape == (12, 10)
    assert calls == [4]
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_cutout_leaves_the_background_alone() -> None:
    canvas = PENS.canvas()
    canvas.fill(0, 0, 20, 256, "dark")
    before = canvas.copy()
    me = PENS.cutout("me", lambda ground: PENS.token("red", 40, ground, shape="disc"), "page")
    canvas.centre(me, 20, 60)
    assert canvas.pixels[60, 20] == PENS.index("red")
    assert np.array_equal(canvas.pixels[41, :6], before.pixels[41, :6])
    changed = (canvas.pixels != before.pixels).sum()
    assert abs(changed - 3.14159 * 20 * 20) < 60


def test_unknown_names_are_named() -> None:
    canvas = PENS.canvas()
    with pytest.raises(UnknownName):
        canvas.fill(0, 0, 1, 1, "rde")
    with pytest.raises(UnknownName):
        PENS.token("red", 20, "page", shape="disk")
    with pytest.raises(UnknownName):
        PENS.mark("z", "red", 20, "page")
    with pytest.raises(UnknownName):
        PENS.arrow("north", "red", 20, "page")
    with pytest.raises(UnknownName):
        PENS.card("A", "stars", 20, "page")
    with pytest.raises(BadOption):
        canvas.text(0, 0, "a", 10, anchor="xx")


def test_lettered_themes_letter_coloured_tokens_only() -> None:
    for name, differs in (("classic", False), ("contrast", True), ("plain", True)):
        pens = kit(name, 256)
        bare = pens.token("red", 40, "page", letter=" ")
        assert np.array_equal(pens.token("red", 40, "page"), bare) is not differs
        assert np.array_equal(pens.token("black", 40, "page"), pens.token("black", 40, "page", letter=" "))


def test_a_full_cache_is_emptied_and_pixels_stay_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pens = Kit(theme("classic"), 256)
    first = pens.token("red", 40, "page").copy()
    monkeypatch.setattr("ludens.draw.studio.CACHE_BYTES", 20_000)
    for number in range(100):
        pens.text(f"line {number}", 12)
    assert len(pens._sprites) < 60
    assert np.array_equal(pens.token("red", 40, "page"), first)
