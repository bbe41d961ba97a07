"""`ludens bench viki`: the planner on 1,000 generated tasks, and the rate of the generator, on one core."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import process_time

from ludens.bench import Row
from ludens.games.viki.generate import generate
from ludens.games.viki.planner import shortest_plan

TASKS = 1_000
TYPICAL, LONGEST = 1.0, 10.0
"""Targets: seconds that the planner may need for a task, typically and at worst."""


def rows(seconds: float) -> Iterator[Row]:
    """Time and states of the planner over 1,000 tasks (fewer below one second), and samples per minute."""
    count = TASKS if seconds >= 1 else max(3, int(TASKS * seconds))
    started = process_time()
    scenes = [generate(seed) for seed in range(count)]
    rate = 60 * count / (process_time() - started)
    times, states = [], []
    for scene in scenes:
        started = process_time()
        result = shortest_plan(scene)
        times.append(process_time() - started)
        states.append(float(result.states))
        assert result.plan is not None
        assert len(result.plan) == scene.limit
    times.sort()
    states.sort()
    yield Row(
        "planner: median time", _quantile(times, 0.5), "s", note=f"{count} tasks; at most {TYPICAL:.0f} s"
    )
    yield Row("planner: 95% of tasks", _quantile(times, 0.95), "s")
    yield Row("planner: longest time", times[-1], "s", note=f"at most {LONGEST:.0f} s")
    yield Row("planner: median states", _quantile(states, 0.5), "states")
    yield Row("planner: 95% of tasks", _quantile(states, 0.95), "states")
    yield Row("planner: most states", states[-1], "states")
    yield Row("generator: labelled samples", rate, "samples/min", note="plan and best team proven")


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
