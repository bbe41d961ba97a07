"""`ludens bench viki`: the planner on 1,000 generated tasks, the generator, and pictures, on one core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import process_time

from benchmarks import Row
from benchmarks import rate as rate_of
from ludens.core.view import RenderOptions
from ludens.games.viki.floor import FloorPlan
from ludens.games.viki.generate import MOST_STEPS, generate
from ludens.games.viki.search import shortest_plan
from ludens.games.viki.views import Map
from ludens.games.viki.world import Scene

TASKS = 1_000
PICTURES = 300.0
"""Target: maps per second."""
TYPICAL, LONGEST = 1.0, 10.0
"""Targets: seconds that the planner may need for a task, typically and at worst."""


def rows(seconds: float) -> Iterator[Row]:
    """Time and states of searches in 1,000 scenes (fewer below one second); samples and pictures."""
    count = TASKS if seconds >= 1 else max(3, int(TASKS * seconds))
    began = process_time()
    scenes = [generate(seed) for seed in range(count)]
    rate = 60 * count / (process_time() - began)
    times, states = [], []
    for scene in scenes:
        for task, limit, expected in _queries(scene):
            began = process_time()
            result = shortest_plan(task, limit=limit)
            times.append(process_time() - began)
            states.append(float(result.states))
            assert expected is None or (result.plan is not None) == expected
    times.sort()
    states.sort()
    yield Row(
        "planner: median time",
        _quantile(times, 0.5),
        "s",
        note=f"{len(times)} searches in {count} scenes; at most {TYPICAL:.0f} s",
    )
    yield Row("planner: 95% of tasks", _quantile(times, 0.95), "s")
    yield Row("planner: longest time", times[-1], "s", note=f"at most {LONGEST:.0f} s")
    yield Row("planner: median states", _quantile(states, 0.5), "states")
    yield Row("planner: 95% of tasks", _quantile(states, 0.95), "states")
    yield Row("planner: most states", states[-1], "states")
    yield Row("generator: labelled samples", rate, "samples/min", note="plan and best team proven")
    yield Row("map: pictures", _pictures(scenes, seconds), "images/s", PICTURES)


def _queries(scene: Scene) -> Iterator[tuple[Scene, int | None, bool | None]]:
    """A task, the most steps, and whether there is a plan: all robots, the proof that none is shorter, and
    each robot alone, which often cannot do it."""
    assert scene.limit is not None
    yield scene, None, True
    yield scene, scene.limit - 1, False
    for robot in scene.robots if len(scene.robots) > 1 else ():
        yield replace(scene, robots=(robot,)), MOST_STEPS, None


def _pictures(scenes: Sequence[Scene], seconds: float) -> float:
    """Maps of different scenes at 512x512: drawn, encoded, base64."""
    pictures = Map(RenderOptions())

    def work(seed: int) -> int:
        scene = scenes[seed % len(scenes)]
        pictures.picture(FloorPlan(scene)).data_uri()
        return 1

    for seed in range(min(100, len(scenes))):  # sprites are painted once
        work(seed)
    return rate_of(work, seconds)


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
