"""Lesion pictures: looks differ without colour, and a case can be solved from the picture alone."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, Canvas, Sprite, SpriteSheet
from ludens.games.comma.dialogue import advise, read, write
from ludens.games.comma.telehealth import (
    LINE,
    LOOKS,
    PAINTERS,
    PICTURE,
    SPRITE,
    TEXT,
    VALUE,
    VARIANTS,
    Telehealth,
    TelehealthView,
    draw_lesion,
)
from tests.games.comma.reading import Known, Pixels, pixels
from tests.support.looks import themes_and_sizes

SIZES = (256, 512, 1024)


def view(theme: str = "classic", size: int = 512, seed: int = 0) -> TelehealthView:
    found = view_of(Telehealth(), RenderOptions(theme, size), seed)
    assert isinstance(found, TelehealthView)
    return found


def lesion(sheet: SpriteSheet, look: str, skin: int, seed: int, side: int) -> Sprite:
    canvas = Canvas(sheet, width=side, height=side)
    draw_lesion(canvas, look, skin, seed, 0, 0, side)
    return canvas.pixels


def grey(sheet: SpriteSheet, sprite: Sprite) -> NDArray[np.float64]:
    levels: NDArray[np.float64] = sheet.palette.colours[sprite] @ np.array([0.299, 0.587, 0.114])
    return levels


@pytest.mark.parametrize(
    ("theme", "size"),
    [*product(THEMES, [256]), ("classic", 512), pytest.param("plain", 1024, marks=pytest.mark.slow)],
)
def test_looks_differ_in_grey_on_every_skin(theme: str, size: int) -> None:
    """Mean difference in grey levels, over the pixels that belong to either of two centred lesions."""
    sheet = view(theme, size).sheet
    side = sheet.px(SPRITE) + 1  # no room to move
    for skin in range(1, 7):
        drawn = {
            name: [grey(sheet, lesion(sheet, name, skin, seed, side)) for seed in range(4)] for name in LOOKS
        }
        for one, other in combinations(LOOKS, 2):
            for a, b in product(drawn[one], drawn[other]):
                inside = (a != a[0, -1]) | (b != b[0, -1])
                assert np.abs(a - b)[inside].mean() > 20, f"{one} and {other} on skin {skin}"


@pytest.mark.parametrize("theme", THEMES)
def test_lesions_stand_out_from_every_skin(theme: str) -> None:
    sheet = view(theme, 256).sheet
    for look, skin, seed in product(LOOKS, range(1, 7), range(4)):
        levels = grey(sheet, lesion(sheet, look, skin, seed, sheet.px(PICTURE)))
        ground = np.median(np.concatenate((levels[0], levels[-1], levels[:, 0], levels[:, -1])))
        assert (np.abs(levels - ground) > 40).mean() > 0.04, f"{look} on skin {skin}"


def test_pictures_vary_with_the_seed_and_are_deterministic() -> None:
    sheet = view().sheet
    for look in LOOKS:
        drawn = [lesion(sheet, look, 2, seed, 260).tobytes() for seed in range(8)]
        assert len(set(drawn)) == 8
        assert [lesion(sheet, look, 2, seed, 260).tobytes() for seed in range(8)] == drawn


def test_every_look_has_a_painter_and_variants_of_its_own() -> None:
    sheet = view().sheet
    assert set(PAINTERS) == set(LOOKS)
    side = sheet.px(SPRITE) + 1
    for look in LOOKS:
        orientations = {lesion(sheet, look, 1, seed, side).tobytes() for seed in range(200)}
        assert len(orientations) > 4 * VARIANTS - 4


def test_plain_lesions_are_grey() -> None:
    sheet = view("plain").sheet
    for look, skin in product(LOOKS, range(1, 7)):
        colours = sheet.palette.colours[lesion(sheet, look, skin, 3, 260)].astype(int)
        tint = colours.max(2) - colours.min(2)
        assert tint.max() <= 4  # that of the nearest entry of the palette


def chart(seen: Pixels, sheet: SpriteSheet) -> dict[str, str]:
    """Size, itching and bleeding, read from the chart."""
    px, font = sheet.px, sheet.font_px(TEXT)
    x, y = px(16) + px(PICTURE) + px(14) + px(VALUE), px(72) + px(12) + px(18)

    def value(row: int, words: list[str]) -> str:
        sprites = {word: sheet.text(word, font, "black", "white", bold=True) for word in words}
        width, height = max(sprite.shape[1] for sprite in sprites.values()), len(sprites[words[0]])
        padded = {
            word: np.pad(sprite, ((0, 0), (0, width - sprite.shape[1])), constant_values=sheet.index("white"))
            for word, sprite in sprites.items()
        }
        return Known(sheet, padded).at(seen, x, y + row * px(LINE) - height // 2)

    sizes = [f"{a} x {b}" for a in range(2, 25) for b in range(max(2, a - 3), a + 1)]
    return {"size": value(4, sizes), "itches": value(5, ["yes", "no"]), "bleeds": value(6, ["yes", "no"])}


@themes_and_sizes(THEMES, SIZES)
def test_cases_are_solved_from_the_picture(theme: str, size: int) -> None:
    game = Telehealth(manual="random")
    for seed in range(6):
        state = game.start(seed)
        shown = view(theme, size, seed)
        sheet, seen, puzzle = shown.sheet, pixels(shown, state), state.puzzle
        left, top, side, rim = sheet.px(16), sheet.px(84), sheet.px(PICTURE), sheet.px(2)
        inside = slice(rim, side - rim)
        drawn = {
            name: lesion(sheet, name, puzzle.chart.skin_type, puzzle.drawing, side)[inside, inside]  # type: ignore[attr-defined]
            for name in LOOKS
        }
        look, card = Known(sheet, drawn).at(seen, left + rim, top + rim), chart(seen, sheet)
        report = write(
            {
                "looks": LOOKS[look].phrase,
                "widest": card["size"].split()[0],
                "irritated": "yes" if "yes" in (card["itches"], card["bleeds"]) else "no",
            }
        )
        answer = read(advise(state.manual, [report]))
        state.apply({"solver": f"diagnose_{answer['diagnosis']}\ntreat_{answer['treatment']}"})
        assert (state.solved, state.mistakes) == (True, 0), f"{theme} {size} seed {seed}: {report}"


def test_the_diagnosis_is_highlighted() -> None:
    state, shown = Telehealth().start(1), view()
    before = shown.image(state, "solver").hash
    state.apply({"solver": f"diagnose_{state.manual.entry(state.puzzle.look.name).code}"})  # type: ignore[attr-defined]
    assert shown.image(state, "solver").hash != before
    assert "Diagnosis: none yet" not in shown.text(state, "solver")
