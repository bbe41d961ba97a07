"""The pictures suffice: looks are told apart by plain features, in greys alone, and the chart is read off.

Drawings differ from seed to seed, so there is no template to match; instead a drawing is taken for the look
of those it resembles most among others drawn from other seeds.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.draw import THEMES, SpriteSheet, sprite_sheet
from ludens.games.comma.bots import advise
from ludens.games.comma.language import read, write
from ludens.games.comma.telehealth.cases import LOOKS
from ludens.games.comma.telehealth.lesions import draw_lesion
from ludens.games.comma.telehealth.rules import Telehealth
from ludens.games.comma.telehealth.tones import INKS
from ludens.games.comma.telehealth.view import LINE, PICTURE, TEXT, VALUE, TelehealthView
from tests.games.comma.reading import Known, Pixels, pixels

Features = NDArray[np.float64]
NEIGHBOURS = 5


def grey(rgb: NDArray[np.integer]) -> Features:  # type: ignore[type-arg]
    return rgb @ np.array([0.299, 0.587, 0.114])


def features(level: Features) -> Features:
    """What a look comes to without colour: how large, bright, dark, restless and round it is."""
    side = len(level)
    rim = np.concatenate((level[: side // 12].ravel(), level[-side // 12 :].ravel()))
    apart = level - np.median(rim)
    inside = np.abs(apart) > 28
    restless = np.abs(np.diff(level, axis=0))[:, 1:] + np.abs(np.diff(level, axis=1))[1:]
    rows, columns = np.flatnonzero(inside.any(1)), np.flatnonzero(inside.any(0))
    box = max(1, np.ptp(rows) * np.ptp(columns)) if len(rows) else 1
    middle = slice(side // 3, -side // 3)
    return np.array(
        [
            inside.mean(),
            (apart > 50).mean(),
            (apart < -50).mean(),
            (level < 40).mean(),
            _pieces(apart > 50),
            _pieces(apart < -50),
            (restless > 40).mean(),
            (restless[middle, middle] > 40).mean(),
            inside.sum() / box,
            level[inside].std() / 100 if inside.any() else 0.0,
        ]
    )


def _pieces(mask: NDArray[np.bool_]) -> float:
    """How often a line across meets a piece of the mask."""
    return float((mask[:, 1:] & ~mask[:, :-1]).sum()) / len(mask)


def pens(theme: str) -> SpriteSheet:
    inks = ("ink", "muted", "line", "gray", "red", "green", "blue", "black", *INKS)
    return sprite_sheet(theme, 512, 0, inks, ("page", "panel", "white"))


@cache
def gallery(side: int) -> tuple[Features, list[str]]:
    """Features of drawings whose looks are known, four of each look on every skin."""
    known, names, paper = [], [], pens("classic")
    for number, name in enumerate(LOOKS):
        for skin in range(1, 7):
            for seed in range(4):
                drawn = draw_lesion(paper, name, skin, 1000 * number + 10 * skin + seed, side)
                known.append(features(grey(paper.palette.colours[drawn])))
                names.append(name)
    return np.array(known), names


def recognise(level: Features) -> str:
    known, names = gallery(130 if len(level) < 200 else 260)
    spread = known.std(0)
    distance = (np.abs(known - features(level)) / spread).sum(1)
    votes = [names[index] for index in np.argsort(distance, kind="stable")[:NEIGHBOURS]]
    return max(sorted(set(votes)), key=votes.count)


@pytest.mark.parametrize("theme", ["classic", "plain"])
def test_looks_are_told_apart_in_greys(theme: str) -> None:
    paper, wrong = pens(theme), []
    for name in LOOKS:
        for seed in range(24):
            drawn = draw_lesion(paper, name, 1 + seed % 6, stream(seed, "fresh").bits(), 260)
            found = recognise(grey(paper.palette.colours[drawn]))
            wrong += [f"{name} {seed} taken for {found}"] if found != name else []
    assert not wrong


def chart(seen: Pixels, paper: SpriteSheet) -> dict[str, str]:
    """Size, itching and bleeding from the card."""
    px, font = paper.px, paper.font_px(TEXT)
    x, y = px(16) + px(PICTURE) + px(14) + px(VALUE), px(72) + px(12) + px(18)

    def value(row: int, words: list[str]) -> str:
        sprites = {word: paper.text(word, font, "black", "white", bold=True) for word in words}
        height, width = (
            next(iter(sprites.values())).shape[0],
            max(sprite.shape[1] for sprite in sprites.values()),
        )
        blank = paper.index("white")
        padded = {
            word: np.pad(sprite, ((0, 0), (0, width - sprite.shape[1])), constant_values=blank)
            for word, sprite in sprites.items()
        }
        return Known(paper, padded).at(seen, x, y + row * px(LINE) - height // 2)

    sizes = [
        f"{first} x {second}" for first in range(2, 25) for second in range(max(2, first - 3), first + 1)
    ]
    return {"size": value(4, sizes), "itches": value(5, ["yes", "no"]), "bleeds": value(6, ["yes", "no"])}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", [256, 512])
def test_the_patient_is_treated_from_the_picture(theme: str, size: int) -> None:
    game = Telehealth(manual="random")
    for seed in range(10):
        state = game.start(seed)
        view = view_of(game, RenderOptions(theme, size), seed)
        assert isinstance(view, TelehealthView)
        paper, seen = view.sheet, pixels(view, state)
        left, top, side, rim = paper.px(16), paper.px(84), paper.px(PICTURE), paper.px(2)
        look = recognise(grey(seen[top + rim : top + side - rim, left + rim : left + side - rim]))
        card = chart(seen, paper)
        told = write(
            {
                "looks": LOOKS[look].phrase,
                "widest": card["size"].split()[0],
                "irritated": "yes" if "yes" in (card["itches"], card["bleeds"]) else "no",
            }
        )
        answer = read(advise(state.manual, [told]))
        state.apply({"solver": f"diagnose_{answer['diagnosis']}\ntreat_{answer['treatment']}"})
        assert (state.solved, state.mistakes) == (True, 0), f"{theme} {size} seed {seed}: {told}"


def test_drawings_are_never_alike_and_always_the_same() -> None:
    paper = pens("classic")
    for name in LOOKS:
        drawn = [draw_lesion(paper, name, 2, seed, 130).tobytes() for seed in range(8)]
        assert len(set(drawn)) == 8
        paper.cache.clear()
        assert [draw_lesion(paper, name, 2, seed, 130).tobytes() for seed in range(8)] == drawn


def test_plain_drawings_have_no_tint() -> None:
    paper = pens("plain")
    for name in LOOKS:
        colours = paper.palette.colours[draw_lesion(paper, name, 5, 3, 130)].astype(int)
        assert (colours.max(2) == colours.min(2)).all()


def test_a_found_diagnosis_is_shown() -> None:
    game = Telehealth()
    state = game.start(1)
    view = view_of(game, RenderOptions(), 0)
    before = view.image(state, "solver").hash
    state.apply({"solver": f"diagnose_{state.manual.entry(state.puzzle.look.name).code}"})  # type: ignore[attr-defined]
    assert view.image(state, "solver").hash != before
    assert "Diagnosis: none yet" not in view.text(state, "solver")
