"""Rendered scenes: what is in the picture, and where, is what the scene says."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.random import stream
from ludens.games.spy.scene import Object, Scene, make_pair
from ludens.games.spy.sources import clevr
from ludens.games.spy.sources.clevr import (
    HEIGHT,
    MIN_PIXELS,
    SIDE_PIXELS,
    WIDTH,
    Clevr,
    SceneCamera,
    changes,
    denoised,
    is_clear,
    make_camera,
    mesh,
)

STRAIGHT = SceneCamera((0, -9.5, 5.2), ((5.5, -3, 7), (-6.5, -5, 4.5), (-2.5, 6.5, 6.5)))


@pytest.mark.parametrize("shape", ["cube", "sphere", "cylinder"])
def test_meshes_are_closed_and_of_the_right_size(shape: str) -> None:
    """The volume enclosed by the triangles, by the divergence theorem, against the formula of the shape."""
    vertices, normals, triangles = mesh(shape)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    volume = abs(float(np.sum(a * np.cross(b, c))) / 6)
    expected = {"cube": 8, "sphere": 4 / 3 * math.pi, "cylinder": 2 * math.pi}[shape]
    assert expected * 0.96 < volume < expected
    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert (vertices.min(0), vertices.max(0)) == (pytest.approx([-1] * 3), pytest.approx([1] * 3))
    assert np.sum((a + b + c) * (normals[triangles[:, 0]])) > 0


def test_the_camera_projects() -> None:
    """By hand: the camera looks at (0, -0.2, 0.3), which is the middle of the picture."""
    assert STRAIGHT.pixel((0, -0.2, 0.3)) == pytest.approx((WIDTH / 2, HEIGHT / 2))
    distance = math.hypot(9.3, 4.9)
    right = WIDTH / 2 + WIDTH / 2 / math.tan(math.radians(22)) / distance
    assert STRAIGHT.pixel((1, -0.2, 0.3)) == pytest.approx((right, HEIGHT / 2))
    assert STRAIGHT.pixel((0, 2, 0))[1] < STRAIGHT.pixel((0, -2, 0))[1]


def test_scenes_are_clear() -> None:
    def scene(*places: tuple[float, float]) -> Scene:
        return Scene(tuple(Object("cube", "small", "metal", "red", x, y) for x, y in places))

    assert is_clear(scene((0, 0), (1, 1)), STRAIGHT)
    assert not is_clear(scene((0, 0), (6, 0)), STRAIGHT)  # outside
    assert not is_clear(scene((2.5, 3), (2, -2)), STRAIGHT)  # right on the floor, left in the picture
    seen = 0
    for seed in range(60):
        random = stream(seed, "test")
        pair, camera = make_pair(random), make_camera(random)
        if is_clear(pair.original, camera):
            seen += 1
            left_to_right = sorted(pair.original.objects, key=lambda thing: thing.x)
            columns = [camera.pixel((thing.x, thing.y, 0.3))[0] for thing in left_to_right]
            assert all(b - a > SIDE_PIXELS / 2 for a, b in pairwise(columns))
    assert seen > 15


def test_the_filter_removes_noise_and_keeps_edges() -> None:
    noise = np.random.default_rng(1)
    clean = np.full((60, 80, 3), 0.5, np.float32)
    clean[:, 40:] = 0.1
    noisy = (clean * noise.uniform(0.8, 1.2, (60, 80, 1))).astype(np.float32)
    noisy[30, 20] = 30
    albedo = clean.copy()
    normal = np.zeros_like(clean)
    normal[..., 2] = 1
    index = (clean[..., 0] < 0.3).astype(np.float32)
    result = denoised(noisy, albedo, normal, index, "filter")
    assert np.abs(result - clean).max() < 0.1
    assert np.abs(result - clean).mean() < 0.35 * np.abs(noisy - clean).mean()
    assert abs(float((result[:, 39] - result[:, 40]).mean()) - 0.4) < 0.05


def test_a_missing_renderer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mitsuba", None)
    clevr._works.cache_clear()  # an earlier test may have found out what works
    with pytest.raises(MissingExtra, match=r"ludens\[scenes\]"):
        Clevr().resolved()


def test_wrong_changes_are_refused() -> None:
    with pytest.raises(BadOption, match="not 'weight'"):
        Clevr(change="color,weight", variant="scalar").resolved()


def test_objects_are_where_the_scene_says() -> None:
    """Every pixel that shows an object lies where that object is projected to, in the right colour."""
    pytest.importorskip("mitsuba")
    scene = Scene(
        (
            Object("sphere", "large", "rubber", "red", -1.5, 0),
            Object("cube", "small", "rubber", "cyan", 1.5, -1),
        )
    )
    rendering = clevr.Rendering(scene, STRAIGHT, clevr.best_variant(), 1)
    sphere, cube = rendering.visible()
    assert sphere > 3 * cube > 3 * MIN_PIXELS
    pixels = rendering.pixels(1, "filter")
    assert pixels.shape == (HEIGHT, WIDTH, 3)
    for thing, radius in zip(scene.objects, (0.7, 0.25), strict=True):
        u, v = STRAIGHT.pixel((thing.x, thing.y, radius))
        red, green, blue = (int(value) for value in pixels[round(v), round(u)])
        assert red > 2 * blue if thing.color == "red" else min(green, blue) > 2 * red
    again = clevr.Rendering(scene, STRAIGHT, clevr.best_variant(), 1)
    assert np.array_equal(again.pixels(1, "filter"), pixels)


@pytest.mark.slow
def test_pairs_differ_in_the_changed_objects_only() -> None:
    pytest.importorskip("mitsuba")
    generator = Clevr(seed=3, samples=4).resolved()
    made = generator.make(0)
    pictures = [
        np.array(Image.open(io.BytesIO(made.pictures[role])), int) for role in ("original", "modified")
    ]
    apart = np.abs(pictures[0] - pictures[1]).max(-1)
    assert 0.002 < (apart > 40).mean() < 0.4
    assert np.median(apart) < 4
    assert len(made.changes) == 4
    other = replace(generator, change="size+material").make(0)
    assert {change["attribute"] for change in other.changes} == {"size", "material"}


def test_the_change_log_names_every_change() -> None:
    pair = make_pair(stream(2, "test"), ("color", "shape"))
    log = changes(pair)
    assert [(each["object"], each["attribute"]) for each in log] == [
        (index, name) for index in pair.changed for name in ("color", "shape")
    ]
    for each in log:
        assert getattr(pair.original.objects[each["object"]], each["attribute"]) == each["from"] != each["to"]
