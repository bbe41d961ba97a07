"""A player that reads the words and does not look: a majority table over words, fitted on other seeds."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from statistics import mean

import pytest

from ludens.core.view import RenderOptions, view_of
from ludens.games.viki.checker import check
from ludens.games.viki.floor import distances
from ludens.games.viki.levels import ActivateLevel, PlanLevel, TraceLevel
from ludens.games.viki.sources import SEAT
from ludens.games.viki.views import conditions
from ludens.games.viki.world import AREAS, KINDS, Scene
from tests.games.viki.kitchens import cached

NAMES = re.compile("|".join(sorted(map(re.escape, {*KINDS, *AREAS}), key=len, reverse=True)))


def skeleton(text: str) -> tuple[str, list[str]]:
    """The words without names of things, and the names in their order, each once."""
    return NAMES.sub("_", text), list(dict.fromkeys(NAMES.findall(text)))


def in_slots(scene: Scene) -> str:
    """The shortest plan with the names of the task's things as numbers."""
    _, names = skeleton(scene.task.text)
    plan = [
        {robot: [f"#{names.index(w)}" if w in names else w for w in action] for robot, action in step.items()}
        for step in scene.plan
    ]
    return json.dumps(plan)


def filled(slots: str, scene: Scene) -> list[dict[str, tuple[str, ...]]]:
    _, names = skeleton(scene.task.text)
    for number, name in enumerate(names):
        slots = slots.replace(f'"#{number}"', json.dumps(name))
    return [{robot: tuple(action) for robot, action in step.items()} for step in json.loads(slots)]


def table(pairs: list[tuple[str, str]]) -> tuple[dict[str, str], str]:
    """The most frequent answer for each skeleton, and for all."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for key, answer in pairs:
        counts[key][answer] += 1
    overall = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return {key: some.most_common(1)[0][0] for key, some in counts.items()}, overall


def blind(fit: range, test: range) -> dict[str, float]:
    """Accuracies of levels 1 and 2, mean distance at level 3 and that of the mean path."""
    scenes = {seed: ActivateLevel().setup(seed).scene for seed in (*fit, *test)}
    keys = {seed: skeleton(scene.task.text)[0] for seed, scene in scenes.items()}
    by_words, usual = table([(keys[seed], json.dumps(scenes[seed].team)) for seed in fit])
    teams = mean(by_words.get(keys[seed], usual) == json.dumps(scenes[seed].team) for seed in test)
    plans, usual = table([(keys[seed], in_slots(scenes[seed])) for seed in fit])
    right = mean(
        check(scenes[seed], filled(plans.get(keys[seed], usual), scenes[seed])).right for seed in test
    )
    traces = {seed: TraceLevel().start(seed) for seed in (*fit, *test)}
    truths = {seed: state.truth for seed, state in traces.items()}

    def centre(some: list[int], who: int) -> list[tuple[float, float]]:
        return [
            (mean(truths[seed][who][n][0] for seed in some), mean(truths[seed][who][n][1] for seed in some))
            for n in range(5)
        ]

    middle = [centre(list(fit), who) for who in (0, 1)]
    apart = [distances(middle[who], truths[seed][who]) for seed in test for who in (0, 1)]
    return {"activate": teams, "plan": right, "trace": mean(mean(one.values()) for one in apart)}


@pytest.mark.slow
def test_who_does_not_look_is_near_chance() -> None:
    found = blind(range(10_000, 10_300), range(100))
    assert found["activate"] < 0.22
    assert found["plan"] < 0.15
    assert found["trace"] > 60


def test_two_seeds_share_few_questions() -> None:
    """Words and scene together; a set of one seed does not give away another."""
    games = ActivateLevel(), PlanLevel()
    assert games[0].setup(1).scene == games[1].setup(1).scene  # one scene for all levels
    said = [json.dumps(ActivateLevel().setup(seed).scene.to_json(), sort_keys=True) for seed in range(12)]
    assert len(set(said)) == 12


def test_words_do_not_tell_robots_or_places() -> None:
    for seed in range(4):
        for game in (ActivateLevel(), PlanLevel()):
            state = game.start(seed)
            notes = view_of(game, RenderOptions(), 0).notes(state, SEAT)
            assert not any(robot.id in notes for robot in state.scene.robots)
            task = state.scene.task
            assert notes == f"Task: {task.text}\nDone when: {conditions(task)}."
            homes = {area.name for area in state.scene.areas} - {goal.place for goal in task.goals}
            assert not any(home in notes for home in homes if home not in task.text)


@pytest.mark.parametrize("template", ["8-2", "9-1"])
def test_conditions_do_not_tell_where_furniture_is(template: str) -> None:
    scene = cached(2, template=template)
    said = conditions(scene.task)
    assert "knife where the cutting board is" in said
    assert not any(area.name in said for area in scene.areas)


def test_small_models_read_the_same_words() -> None:
    for game in (ActivateLevel(), PlanLevel(), PlanLevel(feedback=1)):
        state = game.start(1)
        view = view_of(game, RenderOptions(), 0)
        for line in view.brief(state, SEAT).splitlines():
            assert line in view.notes(state, SEAT)


def test_the_text_says_where_things_are_that_are_not_seen() -> None:
    for seed in range(30):
        scene = ActivateLevel().setup(seed).scene
        closed = {asset.name for asset in scene.assets if asset.closed}
        named = {goal.thing for goal in scene.task.goals}
        inside = [asset for asset in scene.assets if asset.name in named and asset.place in closed]
        assert all(asset.place in scene.task.text for asset in inside)
