"""Two independent slow checkers agree with both rule sets on random and mutated plans."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from ludens.games.viki.checker import check
from tests.games.viki.plans import random_plan, random_scene
from tests.games.viki.slow_default import slow_default
from tests.games.viki.slow_released import CRASH, slow_released


def compare(seed: int, count: int, seeds: int) -> dict[str, Counter[str | None]]:
    rng = random.Random(seed)
    seen: dict[str, Counter[str | None]] = {"default": Counter(), "released": Counter()}
    for _ in range(count // 20):
        scene = random_scene(rng, seeds)
        for _ in range(20):
            plan = random_plan(rng, scene)
            if scene.robots[0].place != scene.robots[0].id:
                said = check(scene, plan)
                code = None if said.code == "long" else said.code
                assert code == slow_default(scene, plan), (scene.to_json(), plan, said)
                seen["default"][said.code] += 1
            said = check(scene, plan, "released")
            code = None if said.code == "long" else said.code
            expected = slow_released(scene, plan)
            if expected == CRASH:
                assert not said.right
            else:
                assert code == expected, (scene.to_json(), plan, said)
            seen["released"][expected] += 1
    return seen


def test_slow_checkers_agree() -> None:
    seen = compare(1, 1_500, 4)
    for codes in seen.values():
        assert {None, "entity", "infeasible", "incompatible", "goal", "format"} <= set(codes)


@pytest.mark.slow
def test_slow_checkers_agree_on_many_plans() -> None:
    seen = compare(2, 100_000, 100)
    for codes in seen.values():
        assert {None, "format", "entity", "infeasible", "incompatible", "order", "goal"} <= set(codes)
