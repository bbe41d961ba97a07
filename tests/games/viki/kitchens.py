"""Small hand-made scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ludens.games.viki.generate import Split, generate
from ludens.games.viki.levels import ActivateLevel
from ludens.games.viki.world import Area, Asset, Condition, KitchenTask, Robot, Scene, Stage

AREAS = {"table": 0.75, "kitchen work area": 0.9, "rack": 1.7, "ground": 0.0}


@lru_cache(maxsize=1024)
def cached(seed: int, split: Split = "id", template: str | None = None) -> Scene:
    """The scene of a seed, made once for all tests of one process."""
    return generate(seed, split, template) if template else ActivateLevel(split=split).setup(seed).scene


def kitchen(
    things: Mapping[str, str],
    robots: Sequence[tuple[str, str]],
    goals: Sequence[Condition] = (),
    orders: Sequence[Sequence[Stage]] = (),
    closed: Sequence[str] = (),
    limit: int | None = None,
) -> Scene:
    """A scene: things by place, robots by type and place; four areas two metres apart."""
    return Scene(
        layout="test",
        style=0,
        width=8.0,
        depth=4.0,
        areas=tuple(
            Area(name, 2.0 * i, 1.0, 1.0, 0.8, height) for i, (name, height) in enumerate(AREAS.items())
        ),
        assets=tuple(Asset(name, name, place, name in closed) for name, place in things.items()),
        robots=tuple(Robot(f"R{i}", kind, place) for i, (kind, place) in enumerate(robots, 1)),
        task=KitchenTask("", 1, "1-1", "test", tuple(goals), tuple(tuple(order) for order in orders)),
        limit=limit,
    )
