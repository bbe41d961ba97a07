"""Camera pictures: the shipped set can be played, projections are right, meshes shrink and stay in place."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import ludens
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.view import RenderOptions, view_of
from ludens.draw import Picture
from ludens.games.viki.camera import EGO, ROOM, Kitchens, Projection, RoomCamera, metres
from ludens.games.viki.checker import check
from ludens.games.viki.models import SOURCES, THINGS, _decimated, model_file
from ludens.games.viki.sources import SEAT
from ludens.games.viki.world import KINDS, ROBOTS, Scene
from ludens.pictures import open_set
from ludens.testing import check_game

SET = "viki-8"


def test_the_shipped_set() -> None:
    found = open_set(SET)
    assert found.check() == sum(len(entry.files) for entry in found.entries)
    assert len(found.entries) == 8
    for entry in found.entries:
        scene = Scene.from_json(entry.scene["scene"])
        assert set(entry.files) == {"front", "corner", *(f"ego_{robot.id.lower()}" for robot in scene.robots)}
        assert check(scene, scene.plan).right
        pixels = found.picture(entry, "front").rgb()
        assert np.asarray(pixels).std() > 25  # neither blank nor dark
    assert sum(path.stat().st_size for path in found.folder.rglob("*") if path.is_file()) < 2_000_000


@pytest.mark.parametrize("level", ["activate", "plan", "trace"])
def test_levels_through_cameras(level: str) -> None:
    game = ludens.make(f"viki/{level}?look=camera")
    view, seen = view_of(game, RenderOptions(), 0), set()
    for seed in range(24):
        state = game.start(seed)
        pictures = view.images(state, SEAT)
        assert len(pictures) == (1 if level == "trace" else 2)
        seen.add(pictures[0].hash)
        answer = state.solution(SEAT)
        assert answer is not None
        assert state.canonical(answer) == answer  # the true points are inside the picture
        state.apply({SEAT: answer})
        assert state.returns[SEAT] == 1.0
        assert "Positions" in view.text(state, SEAT) or level != "trace"
    assert len(seen) > 3
    assert "camera" in view.rules(SEAT)
    assert all(f"{kind}: {source.looks}" in view.rules(SEAT) for kind, source in SOURCES.items())


@pytest.mark.parametrize("level", ["activate", "plan", "trace"])
def test_the_size_asked_for(level: str) -> None:
    """Larger pictures are made smaller; the coordinates of level 3 stay those of the file."""
    game = ludens.make(f"viki/{level}?look=camera")
    state, whole = game.start(0), (EGO if level == "trace" else ROOM)
    for size in (512, 640, 1024):
        view = view_of(game, RenderOptions(size=size), 0)
        for picture in view.images(state, SEAT):
            assert max(picture.width, picture.height) == min(size, max(whole))
            assert picture.width * whole[1] == pytest.approx(picture.height * whole[0], rel=0.01)
    assert state.setup.size == EGO
    with pytest.raises(BadOption, match="512"):
        view_of(game, RenderOptions(size=256), 0)


@pytest.mark.parametrize("level", ["activate", "plan", "trace"])
def test_conformance_through_cameras(level: str) -> None:
    views = tuple(RenderOptions(size=size) for size in (512, 640))
    check_game(ludens.make(f"viki/{level}?look=camera"), seeds=(0, 1), views=views)


def test_paths_are_seen_from_the_robot_that_marks_them() -> None:
    traces = [entry.scene["trace"] for entry in open_set(SET).entries if entry.scene["trace"]]
    assert len(traces) >= 4
    game = ludens.make("viki/trace?look=camera")
    for seed in range(12):
        state = game.start(seed)
        assert state.setup.size == EGO
        first = {robot: action for step in reversed(state.scene.plan) for robot, action in step.items()}
        assert {errand.robot for errand in state.errands} <= set(first)
    assert all(trace["view"].startswith("ego_") for trace in traces)


def test_a_set_without_a_split() -> None:
    with pytest.raises(BadOption, match="split=ood"):
        ludens.make("viki/plan?look=camera&split=ood").start(0)


def test_projection_by_hand() -> None:
    """A camera 2 m in front of the origin, with an angle of view of 90 degrees."""
    project = Projection(RoomCamera((0.0, -2.0, 0.0), (0.0, 0.0, 0.0), 90.0), 200, 100)
    assert project((0.0, 0.0, 0.0)) == pytest.approx((100, 50))
    assert project((1.0, 0.0, 0.0)) == pytest.approx((125, 50))
    assert project((0.0, 0.0, 1.0)) == pytest.approx((100, 25))
    assert project((0.0, -1.0, 1.0)) == pytest.approx((100, 0))
    assert project((0.0, -3.0, 0.0)) is None
    assert metres(250, 100, 0.5) == (2.5, -1.0, 0.5)


def test_decimation() -> None:
    axis = np.linspace(0, 1, 41)
    x, y = np.meshgrid(axis, axis)
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = [i * 41 + j for i in range(40) for j in range(40)]
    lower, upper = ([[c + a, c + b, c + 41] for c in corner] for a, b in ((0, 1), (1, 42)))
    faces = np.array([*lower, *upper], np.int32)
    fewer, kept = _decimated(vertices, faces, 0.1)
    assert len(fewer) < len(vertices) / 8
    assert kept.max() < len(fewer)
    assert not np.any((kept[:, 0] == kept[:, 1]) | (kept[:, 1] == kept[:, 2]))
    assert fewer.min() >= 0
    assert fewer.max() <= 1


def test_everything_has_a_shape() -> None:
    assert set(THINGS) - {"cutting board"} == {name for name, kind in KINDS.items() if not kind.fixture}
    assert set(SOURCES) == set(ROBOTS)
    for shapes in THINGS.values():
        lowest = min(shape.at[2] - _reach_down(shape.form, shape.size, shape.turn) for shape in shapes)
        assert -0.003 <= lowest <= 0.011  # stands on the surface: neither floats nor sinks


def _reach_down(form: str, size: tuple[float, float, float], turn: tuple[float, float, float]) -> float:
    if form == "capsule":
        return size[0] if turn[1] or turn[0] else size[0] + size[1]
    return {"sphere": size[0], "cylinder": size[1]}.get(form, size[2])


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.games.viki.models.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="robots"):
        model_file(SOURCES["fetch"])


def test_missing_meshes_are_named_before_anything_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.games.viki.models.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="robots"):
        Kitchens().prepare()


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(find_spec, ("mujoco", "robosuite_models", "gymnasium_robotics"))),
    reason="needs the extra robots",
)
def test_a_kitchen_is_rendered() -> None:
    """Two views of the room and one of each robot, none of them blank."""
    kitchens = Kitchens(seed=3)
    assert kitchens.prepare().startswith("OpenGL through")
    made = kitchens.make(1)
    robots = Scene.from_json(made.scene["scene"]).robots
    assert set(made.pictures) == {"front", "corner", *(f"ego_{robot.id.lower()}" for robot in robots)}
    for data in made.pictures.values():
        assert np.asarray(Picture.from_bytes(data).rgb()).std() > 20
