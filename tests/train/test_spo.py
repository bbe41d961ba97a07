"""Iterative-SPO: equations 1-10 of Vision-Zero, by values computed by hand."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption
from ludens.games.spy.game import ABSTAIN, CLUE, DECISION, Spy, score_votes
from ludens.train.algorithms import (
    IterativeSpo,
    RoleBaselines,
    Switch,
    normalise_groups,
    return_to_go,
    two_stages,
)
from ludens.train.policy import TokenSample, Trajectory
from ludens.train.recipe import Recipe, SwitchOptions


def sample(role: str, seat: str, reward: float, group: object = None) -> TokenSample:
    return TokenSample([1], [2], [0.0], role=role, seat=seat, reward=reward, group=group)


def game(*samples: TokenSample) -> Trajectory:
    return Trajectory(Episode("spy", 1, {}, 0, {}), samples=list(samples))


def switching(**options: Any) -> Switch:
    return Switch(SwitchOptions(**options), two_stages(Spy()))


def test_role_baselines_are_updated_before_the_advantage() -> None:
    # n_c = 2, beta = lambda = 0.1; votes: spy 2, civilians 0 and 0 -> r_s = -0.2, r_c = 0.1 each.
    first = game(sample("spy", "spy", -0.2), sample("civilian", "a", 0.1), sample("civilian", "b", 0.1))
    # Votes: spy 0, civilians 2 and 0: mean 1, r_s = 0.1, r_a = 0.05 * -1 - 0.1 * 1 = -0.15, r_b = 0.05.
    second = game(sample("spy", "spy", 0.1), sample("civilian", "a", -0.15), sample("civilian", "b", 0.05))
    baselines = RoleBaselines(alpha=0.95)
    baselines.advantages([first, second])
    assert [s.advantage for s in first.samples] == pytest.approx([-0.2 + 0.01, 0.1 - 0.005, 0.1 - 0.005])
    # b_s = 0.95 * -0.01 + 0.05 * 0.1 = -0.0045; b_c = 0.95 * 0.005 + 0.05 * -0.05 = 0.00225.
    assert baselines.values == pytest.approx({"spy": -0.0045, "civilian": 0.00225})
    assert [s.advantage for s in second.samples] == pytest.approx([0.1045, -0.15225, 0.04775])
    # For a fixed number of civilians the baselines mirror one another.
    assert baselines.values["civilian"] == pytest.approx(-baselines.values["spy"] / 2)


def test_role_baselines_count_each_seat_once() -> None:
    baselines = RoleBaselines(alpha=0.5)
    two_clues = game(sample("spy", "spy", 1.0), sample("spy", "spy", 1.0))
    baselines.advantages([two_clues])
    assert baselines.values == {"spy": 0.5}


def test_role_baselines_may_start_at_the_first_value() -> None:
    baselines = RoleBaselines(alpha=0.95, from_first=True)
    one = game(sample("spy", "spy", -0.2))
    baselines.advantages([one])
    assert one.samples[0].advantage == pytest.approx(0.0)


def test_baselines_survive_a_checkpoint() -> None:
    first, second = RoleBaselines(), RoleBaselines()
    first.advantages([game(sample("spy", "spy", 0.4))])
    second.restore(first.state())
    assert second.values == first.values


def test_groups_are_normalised_by_the_population_deviation() -> None:
    # Votes of one game: right, right, n/a, wrong -> mean 0.125, variance 0.796875.
    votes = [sample("civilian", str(n), r, group="g") for n, r in enumerate((1.0, 1.0, -0.5, -1.0))]
    equal = [sample("civilian", str(n), -1.0, group="h") for n in range(4)]
    normalise_groups([*votes, *equal])
    deviation = 0.796875**0.5
    expected = [0.875 / deviation, 0.875 / deviation, -0.625 / deviation, -1.125 / deviation]
    assert [s.advantage for s in votes] == pytest.approx(expected)
    assert [s.advantage for s in equal] == [0.0] * 4
    normalise_groups(votes, scale=False)
    assert [s.advantage for s in votes] == pytest.approx([0.875, 0.875, -0.625, -1.125])


def test_return_to_go_is_per_seat() -> None:
    assert return_to_go([1, 10, 2, 20], ["a", "b", "a", "b"]) == [3, 30, 2, 20]
    assert return_to_go([1, 10, 2, 20], ["a", "b", "a", "b"], 0.5) == [2, 20, 2, 20]


@pytest.mark.parametrize(
    ("games", "accuracy", "na"),
    [
        ([(["2", "2", "3", None], "2")], 1.0, 0.25),
        ([(["2", "2", "3", "3"], "2")], 0.0, 0.0),  # a tie is wrong
        ([([None, None, "2", "2"], "2")], 0.0, 0.5),
        ([([None, None, None, "2"], "2")], 0.0, 0.75),  # n/a is the most frequent vote
        ([(["1", "1"], "1"), ([None, "3"], "1")], 0.5, 0.25),
    ],
)
def test_statistics_of_held_out_games(games: list, accuracy: float, na: float) -> None:
    scores = [score_votes([vote or ABSTAIN for vote in votes], spy) for votes, spy in games]
    assert fmean(score.right for score in scores) == accuracy
    assert fmean(score.abstained for score in scores) == na


def test_perfect_accuracy_passes_the_threshold_only_at_iteration_45() -> None:
    switch = switching(patience=0)
    switch.start(1.0, 0.0)
    assert next(n for n in range(1, 60) if switch.update(1.0, 0.0)) == 45
    assert switch.stage == CLUE


def test_both_thresholds_must_hold_to_leave_the_decision_stage() -> None:
    switch = switching(rho=0.0, k_min=0, patience=0)
    assert not switch.update(0.89, 0.0)
    assert not switch.update(0.95, 0.11)
    assert switch.update(0.9, 0.1)
    assert (switch.stage, switch.iterations) == (CLUE, 0)


def test_either_threshold_leaves_the_clue_stage() -> None:
    for accuracy, na, leaves in ((0.61, 0.49, False), (0.6, 0.0, True), (1.0, 0.5, True)):
        switch = switching(rho=0.0, k_min=0, patience=0, first=CLUE)
        assert switch.update(accuracy, na) is leaves
        assert switch.stage == (DECISION if leaves else CLUE)


def test_a_stage_lasts_at_least_k_min_and_at_most_patience() -> None:
    switch = switching(rho=0.0, k_min=3, patience=0)
    assert [switch.update(1.0, 0.0) for _ in range(3)] == [False, False, True]
    switch = switching(rho=0.0, k_min=3, patience=4)
    assert [switch.update(0.0, 0.0) for _ in range(9)] == [False] * 3 + [True] + [False] * 2 + [
        True,
        False,
        False,
    ]


def test_thresholds_relative_to_the_base_rate() -> None:
    switch = switching(rho=0.0, k_min=0, patience=0, relative=True, accuracy=0.5, from_first=True)
    switch.start(0.2, 0.0)
    assert (switch.accuracy, switch.level) == (0.2, 0.0)
    assert not switch.update(0.59, 0.0)
    assert switch.update(0.601, 0.0)


def test_switching_state_survives_a_checkpoint() -> None:
    first, second = switching(), switching()
    first.start(0.3, 0.1)
    for _ in range(7):
        first.update(0.9, 0.05)
    second.restore(first.state())
    assert [first.update(0.9, 0.0) for _ in range(40)] == [second.update(0.9, 0.0) for _ in range(40)]
    assert first.state() == second.state()
    with pytest.raises(BadFile, match="switching state"):
        second.restore({"stage": "other"})


def test_thresholds_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption, match="at most 1"):
        SwitchOptions(accuracy=1.5)


@pytest.mark.parametrize(("kind", "expected"), [("role", [0.95 * 0.4, 0.95 * 1.0]), ("none", [0.4, 1.0])])
def test_clues_are_compared_with_their_role_and_votes_with_one_another(
    kind: str, expected: list[float]
) -> None:
    settings = {"run": {"algorithm": "spo"}, "play": {"game": "spy"}, "advantage": {"kind": kind}}
    spo = IterativeSpo(Recipe.of(settings))
    clues, votes = (
        [sample("spy", "spy", 0.4), sample("civilian", "a", 1.0)],
        [sample("civilian", seat, reward) for seat, reward in (("a", 3.0), ("b", 1.0))],
    )
    for each, stage in [(clues[0], CLUE), (clues[1], CLUE), (votes[0], DECISION), (votes[1], DECISION)]:
        each.stage = stage
    assert [s.advantage for s in spo.samples([game(*clues, *votes)])] == pytest.approx([1.0, -1.0])
    spo.switch.stage = CLUE
    assert [s.advantage for s in spo.samples([game(*clues, *votes)])] == pytest.approx(expected)


def test_votes_of_a_game_that_all_agree_are_compared_with_those_of_other_games() -> None:
    advantage = {"decisions": "role", "alpha": 0.5, "from_first": True}
    settings = {"run": {"algorithm": "spo"}, "play": {"game": "spy"}, "advantage": advantage}
    spo = IterativeSpo(Recipe.of(settings))
    spo.baselines.values["civilian"] = 7.0  # of clues
    right, silent = ([sample("civilian", seat, r) for seat in "ab"] for r in (1.0, -0.5))
    for vote in (*right, *silent):
        vote.stage = DECISION
    chosen = spo.samples([game(*right), game(*silent)])
    assert [vote.advantage for vote in chosen] == pytest.approx([0.0, 0.0, -0.75, -0.75])
    assert spo.baselines.values == pytest.approx({"civilian": 7.0, "civilian decision": 0.25})


@pytest.mark.parametrize("keep", [0.0, 0.5])
def test_the_other_stage_is_kept_near_the_reference_or_left_out(keep: float) -> None:
    spo = IterativeSpo(
        Recipe.of({"run": {"algorithm": "spo"}, "play": {"game": "spy"}, "loss": {"keep": keep}})
    )
    clue, votes = (
        sample("spy", "spy", -0.2),
        [sample("civilian", seat, r) for seat, r in (("a", 1.0), ("b", -1.0))],
    )
    clue.stage = CLUE
    for vote in votes:
        vote.stage = DECISION
    trained, kept = (chosen := spo.samples([game(clue, *votes)]))[:2], chosen[2:]
    assert spo.stage == DECISION
    assert [(s.seat, round(s.advantage, 6), s.keep) for s in trained] == [
        ("a", 1.0, False),
        ("b", -1.0, False),
    ]
    assert [(s.seat, s.advantage, s.keep) for s in kept] == ([("spy", 0.0, True)] if keep else [])
