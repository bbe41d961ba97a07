"""Drawn scenes: every kind of object looks different, and nothing is hidden."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from ludens.core.random import stream
from ludens.draw import THEMES
from ludens.games.spy.flat import GROUND, UNIT, Floor
from ludens.games.spy.scene import COLORS, MATERIALS, SHAPES, SIZES, Object, Scene, make_pair


def _alone(floor: Floor, shape: str, size: str, material: str, color: str) -> bytes:
    return floor.draw(Scene((Object(shape, size, material, color, 0, 0),))).pixels.tobytes()


@pytest.mark.parametrize("theme", THEMES)
def test_every_kind_of_object_looks_different(theme: str) -> None:
    floor = Floor(theme, 256, 4)
    kinds = list(product(SHAPES, SIZES, MATERIALS, COLORS))
    assert len({_alone(floor, *kind) for kind in kinds}) == len(kinds) == 96


@pytest.mark.parametrize("size", [256, 512])
def test_no_object_hides_another_or_leaves_the_floor(size: int) -> None:
    floor = Floor("classic", size)
    empty = floor.draw(Scene(())).pixels
    for seed in range(60):
        scene = make_pair(stream(seed, "pair")).original
        alone = [floor.draw(Scene((thing,))).pixels != empty for thing in scene.objects]
        for first, second in combinations(alone, 2):
            assert not (first & second).any()
        together = floor.draw(scene).pixels != empty
        assert together.sum() == sum(mask.sum() for mask in alone)
        for thing, mask in zip(scene.objects, alone, strict=True):
            rows, columns = np.nonzero(mask)
            x, y = (columns.min() + columns.max()) / 2, (rows.min() + rows.max()) / 2
            unit = UNIT * size / 512
            assert abs(x - (size / 2 + thing.x * unit)) < 0.1 * unit
            assert abs(y - (size / 2 - thing.y * unit)) < 0.1 * unit
            assert columns.min() > 0
            assert columns.max() < size - 1
            assert rows.min() > 0


def test_the_picture_depends_on_the_scene_alone() -> None:
    scene = make_pair(stream(1, "pair")).original
    first, second = Floor("classic", 512), Floor("classic", 512)
    second.draw(make_pair(stream(2, "pair")).modified)
    assert first.draw(scene).hash == second.draw(scene).hash
    assert first.sheet.index(GROUND) == int(first.draw(scene).pixels[20, 20])
