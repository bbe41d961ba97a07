"""Every piece, mark and line of text stands out from its ground, in every theme and every game."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from ludens import GAMES, make
from ludens.core.errors import MissingExtra
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.draw import HUES, SpriteSheet, get_theme
from ludens.draw.palette import Palette, contrast, luminance
from ludens.draw.pieces import _sprite_sheet
from ludens.draw.sprites import Sprite, SpriteCache
from ludens.draw.theme import GROUNDS

LEAST = 3.0
"""WCAG 1.4.11, for graphics."""
DETAILS = 0.5
"""What may be lost of a shape: a rim of the colour of the ground, or the inside of an outline that an object
held in front of it interrupts. A lost body measures 0.7 to 1."""
SKIPPED = ("Canvas.rounded", "SpriteSheet.piece", "draw_lesion")
"""Panels need none, what is on them does; chess pieces have holes and are tested by colour; skin is skin."""
TILES = "Art."
"""Sprites with a line around them, which is cut off; a legend repeats them too small to be tested."""
LEGEND = 40
LOOKS = [("classic", 0), ("contrast", 0), ("plain", 0), ("random", 0), ("random", 1)]
MORE_LOOKS = [("random", seed) for seed in range(2, 6)]
look = pytest.mark.parametrize(
    ("theme", "seed"), [*LOOKS, *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE_LOOKS)]
)


@lru_cache(maxsize=16)
def luminances(palette: Palette) -> NDArray[np.float64]:
    return np.array([luminance((int(r), int(g), int(b))) for r, g, b in palette.colours])


def unseen(sheet: SpriteCache, sprite: Sprite, ground: str) -> float:
    """The share of the pixels well inside a shape that cannot be told from the ground around it.

    The ground is followed from the rim of the sprite into all that has less than the least contrast with it.
    A body or an outline that stands out stops it; a shape that does not is flooded. Lines, and the blended
    pixels along an edge, are thinner than what is counted.
    """
    index = sheet.index(ground)
    sprite = np.pad(sprite, 2, constant_values=index)
    under = luminance(sheet.rgb(ground))
    levels = luminances(sheet.palette)
    ratios = (np.maximum(levels, under) + 0.05) / (np.minimum(levels, under) + 0.05)
    faint, shape = (ratios < LEAST)[sprite], sprite != index
    depth = max(3, min(sprite.shape) // 9)
    rim = np.zeros_like(shape)
    rim[0, 0] = True
    flooded = ndimage.binary_propagation(rim, mask=faint)
    inside = ndimage.binary_erosion(shape, iterations=depth)
    return float((flooded & inside).sum() / max(1, inside.sum()))


def ready_made(sheet: SpriteSheet, hue: str, ground: str, px: int) -> Iterator[tuple[str, Sprite]]:
    yield "token", sheet.token(hue, px, ground)
    yield "stone", sheet.stone(hue, px, ground)
    yield "pawn", sheet.pawn(hue, px, ground)
    yield "coin", sheet.coin(px, ground, hue)
    yield "led", sheet.led(hue, px, ground)
    yield "arrow", sheet.arrow("up", hue, px, ground)
    yield "x", sheet.mark("x", hue, px, ground)
    yield "o", sheet.mark("o", hue, px, ground)
    yield "button", sheet.button("OK", 2 * px, px, hue, ground)
    yield "card", sheet.hint_card(hue, "1", 2 * px, ground)


@pytest.mark.parametrize(
    ("theme", "seed", "px"),
    [
        pytest.param(*one, px, marks=() if one in LOOKS and (number + px // 16) % 2 else pytest.mark.slow)
        for number, one in enumerate([*LOOKS, *MORE_LOOKS])
        for px in (32, 48)
    ],
)
def test_ready_made_sprites_stand_out(theme: str, seed: int, px: int) -> None:
    for ground in GROUNDS:
        for hue in HUES:
            # A fresh palette with the blends these two need, as views declare them.
            sheet = SpriteSheet(get_theme(theme, seed), 512, ("ink", "line", hue), (ground,))
            for name, sprite in ready_made(sheet, hue, ground, px):
                assert unseen(sheet, sprite, ground) < DETAILS, f"{hue} {name} on {ground}"


@look
def test_chess_pieces_stand_out_by_fill_or_outline(theme: str, seed: int) -> None:
    colour = get_theme(theme, seed).colour
    for ground in GROUNDS:
        assert max(contrast(colour(fill), colour(ground)) for fill in ("black", "white")) >= LEAST


def looks_of_games() -> Iterator[Any]:
    """Two looks of each game, which change from game to game, and with `--slow` all."""
    for number, name in enumerate(GAMES.names()):
        some = [LOOKS[number % len(LOOKS)], LOOKS[(number + 2) % len(LOOKS)]]
        others = [one for one in (*LOOKS, *MORE_LOOKS) if one not in some]
        yield pytest.param(name, some, id=f"{name}-some")
        yield pytest.param(name, others, id=f"{name}-others", marks=pytest.mark.slow)


@pytest.mark.parametrize(("name", "looks"), list(looks_of_games()))
def test_what_games_draw_stands_out(
    name: str, looks: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[SpriteCache, Sprite, str, str]] = []
    texts: set[tuple[str, str]] = set()
    paint, text = SpriteCache._paint, SpriteCache.text

    def painted(self: SpriteCache, width: int, height: int, ground: str, brush: Any) -> Sprite:
        sprite = paint(self, width, height, ground, brush)
        tile = brush.__qualname__.startswith(TILES)
        if not brush.__qualname__.startswith(SKIPPED) and not (tile and width < LEGEND):
            line = (width // 60 + 1) * tile
            inner = sprite[line : height - line, line : width - line]
            drawn.append((self, inner, ground, brush.__qualname__))
        return sprite

    def written(self: SpriteCache, string: str, px: int, ink: str = "ink", ground: str = "page",
                *rest: Any, **more: Any) -> Sprite:  # fmt: skip
        texts.add((ink, ground))
        return text(self, string, px, ink, ground, *rest, **more)

    monkeypatch.setattr(SpriteCache, "_paint", painted)
    monkeypatch.setattr(SpriteCache, "text", written)
    game = make(name)
    try:
        starts = {seed: game.start(seed) for seed in {seed for _, seed in looks}}
    except MissingExtra as missing:
        pytest.skip(str(missing))
    for theme, seed in looks:
        _sprite_sheet.cache_clear()
        drawn.clear()
        texts.clear()
        view, state, choose = (
            game.view(RenderOptions(theme), seed),
            starts[seed].clone(),
            stream(seed, "contrast"),
        )
        for _ in range(12):
            for seat in game.seats:
                view.images(state, seat)
            legal = {seat: state.legal(seat) for seat in state.to_act}
            if not legal or any(each.is_text for each in legal.values()):
                break
            state.apply({seat: each.sample(choose) for seat, each in legal.items()})
        for sheet, sprite, ground, brush in drawn:
            assert unseen(sheet, sprite, ground) < DETAILS, f"{brush} on {ground} in {theme} {seed}"
        colour = get_theme(theme, seed).colour
        for ink, ground in texts:
            assert contrast(colour(ink), colour(ground)) >= 4.5, f"{ink} on {ground} in {theme} {seed}"
    _sprite_sheet.cache_clear()
