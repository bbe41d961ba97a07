import numpy as np
import pytest

from ludens.core.errors import BadOption, UnknownName
from ludens.draw import SpriteSheet, get_theme, sprite_sheet

SHEET = sprite_sheet("classic", 256)


@pytest.mark.parametrize("size", [0, 63, 1025])
def test_size_has_bounds(size: int) -> None:
    with pytest.raises(BadOption, match="64 to 1024"):
        SpriteSheet(get_theme("classic"), size)


def test_custom_sprites_are_painted_once_and_read_only() -> None:
    calls = []

    def paint(draw: object, scale: float) -> None:
        calls.append(scale)

    first = SHEET.sprite("mine", 10, 12, "wood", paint)
    assert SHEET.sprite("mine", 10, 12, "wood", paint) is first
    assert first.shape == (12, 10)
    assert calls == [4]
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_lettered_themes_letter_coloured_tokens_only() -> None:
    for name, differs in (("classic", False), ("contrast", True), ("plain", True)):
        sheet = sprite_sheet(name, 256)
        bare = sheet.token("red", 40, "page", letter=" ")
        assert np.array_equal(sheet.token("red", 40, "page"), bare) is not differs
        assert np.array_equal(sheet.token("black", 40, "page"), sheet.token("black", 40, "page", letter=" "))


def test_clearing_a_full_cache_does_not_change_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = SpriteSheet(get_theme("classic"), 256)
    first = sheet.token("red", 40, "page").copy()
    monkeypatch.setattr("ludens.draw.sprites.CACHE_BYTES", 20_000)
    for number in range(100):
        sheet.text(f"line {number}", 12)
    assert len(sheet._sprites) < 60
    assert np.array_equal(sheet.token("red", 40, "page"), first)


def test_unknown_names_are_named() -> None:
    with pytest.raises(UnknownName):
        SHEET.token("red", 20, "page", shape="disk")
    with pytest.raises(UnknownName):
        SHEET.mark("z", "red", 20, "page")
    with pytest.raises(UnknownName):
        SHEET.arrow("north", "red", 20, "page")
    with pytest.raises(UnknownName):
        SHEET.card("A", "stars", 20, "page")


def test_sheets_are_shared_and_the_last_used_are_cached() -> None:
    assert sprite_sheet("classic", 512, 1) is sprite_sheet("classic", 512, 2)
    first = sprite_sheet("random", 256, 1)
    assert sprite_sheet("random", 256, 1) is first
    for seed in range(64):
        sprite_sheet("random", 256, 100 + seed)
    assert sprite_sheet("random", 256, 1) is not first
