"""Twins of VIKI: the same task and robots; no team, plan or path is right in both scenes."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.viki.checker import check
from ludens.games.viki.floor import turned
from ludens.games.viki.levels import ActivateLevel, PlanLevel, TraceLevel
from ludens.games.viki.replies import points_of, write_points
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


def test_no_paths_are_right_in_both_kitchens() -> None:
    game = TraceLevel(twins=True)
    twins_differ_only_in_pictures(Trial(game, seeds=PAIRS, views=(RenderOptions("random", 256),)))
    for seed in PAIRS:
        worlds = game.pair(seed)
        first, second = (points_of(str(world.solution("planner"))) for world in worlds)
        for part in (0.0, 0.25, 0.5, 0.75, 1.0):
            between = write_points(
                [
                    [(a + (c - a) * part, b + (d - b) * part) for (a, b), (c, d) in zip(*paths, strict=True)]
                    for paths in zip(first, second, strict=True)
                ]
            )
            answered = [world.clone() for world in worlds]
            for world in answered:
                world.apply({"planner": world.canonical(between)})
            right = [world.facts["right"] for world in answered]
            assert not all(right)
            assert any(right) or 0 < part < 1


def test_turned_kitchen_has_the_same_plans() -> None:
    first, second = (world.scene for world in TraceLevel(twins=True).pair(0))
    assert turned(second).areas == first.areas
    assert check(second, first.plan).right
