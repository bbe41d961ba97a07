"""Twins of VIKI: the same task, kitchen and robots; no team, and no plan, is right in both scenes."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.viki.levels import ActivateLevel, PlanLevel
from ludens.testing.trial import Trial
from ludens.testing.views import twins_differ_only_in_pictures

PAIRS = (0, 5)
"""Pairs that are made in tenths of a second; most take seconds."""


@pytest.mark.parametrize("game", [ActivateLevel(twins=True), PlanLevel(twins=True)])
def test_scenes_of_a_pair_differ_only_in_places(game: ActivateLevel | PlanLevel) -> None:
    for seed in PAIRS:
        first, second = (world.scene for world in game.pair(seed))
        assert first.task == second.task
        assert (first.layout, first.style) == (second.layout, second.style)
        assert Counter(r.type for r in first.robots) == Counter(r.type for r in second.robots)
        assert first.assets != second.assets or first.robots != second.robots
    twins_differ_only_in_pictures(Trial(game, seeds=PAIRS, views=(RenderOptions("random", 256),)))


def test_another_team_is_the_best() -> None:
    for seed in PAIRS:
        first, second = (world.scene for world in ActivateLevel(twins=True).pair(seed))
        assert first.team != second.team


def test_plan_of_one_scene_is_not_right_in_the_other() -> None:
    for seed in PAIRS:
        worlds = PlanLevel(twins=True).pair(seed)
        for own, other in (worlds, worlds[::-1]):
            solution = other.solution("planner")
            assert solution is not None
            answered = own.clone()
            answered.apply({"planner": solution})
            assert answered.returns == {"planner": 0.0}
        assert worlds[0].scene.limit != worlds[1].scene.limit


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("viki/plan?twins=true&feedback=2", "need feedback=0"),
        ("viki/plan?twins=true&step_penalty=false", "need feedback=0"),
    ],
)
def test_options_that_let_one_plan_be_right_twice_are_refused(spec: str, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        make(spec)


def test_pictures_from_files_have_no_twins() -> None:
    with pytest.raises(BadOption, match="need look=map"):
        make("viki/activate?twins=true&look=camera").start(0)
