"""Intervals over clusters: episodes that share a picture are not independent."""

from __future__ import annotations

from math import isnan, sqrt

import numpy as np
import pytest

from ludens.agents import agent
from ludens.core.errors import MissingPictures
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.games.spy.game import Spy
from ludens.loop import play
from ludens.run.comparisons import blind_control, compare, joint_clusters
from ludens.run.stats import clustered_mean, mean, rate
from ludens.run.task import EpisodeResult, Observation, cluster_of, groups_of, mean_of, rate_of

NEVER = rate_of("won", lambda result: None)
VALUE = mean_of("value", lambda result: None)


def test_by_hand() -> None:
    """Two clusters of 2 and 4: the mean of six values, the error of a ratio of sums."""
    estimate = clustered_mean([[1, 1], [0, 0, 0, 1]])
    assert estimate.mean == 0.5
    assert estimate.n == 2
    # Sums of deviations are 1 and -1: variance (1 + 1) * 2 / 1 / 36.
    assert estimate.standard_error == pytest.approx(sqrt(4 / 36))
    assert clustered_mean([]).n == 0
    assert isnan(clustered_mean([[1, 0]]).low)
    assert clustered_mean([[2.0, 2.0], [2.0]]).high == 2.0


def test_only_what_seeds_share_is_a_cluster() -> None:
    assert groups_of([0, 0, 1, 2, 2], ["a", "b", "a", "c", ""]) == ["a", 0, "a", 2, 2]


def test_a_game_without_dice_counts_once() -> None:
    """Two players without dice on a board that no seed changes play one game, on however many seeds."""
    lost = rate_of("lost", lambda result: result.episode.returns["o"] < 0)
    for spec, games in (("tic_tac_toe", 1), ("tic_tac_toe?opening=2", 6)):
        game = make(spec)
        seats = {seat: agent("bot/first", game) for seat in game.seats}
        episodes = [run_sync(play(game, seats, seed)) for seed in range(6)]
        assert lost.estimate([EpisodeResult("", episode, ("o",)) for episode in episodes]).n == games


def test_copies_of_one_episode_add_nothing() -> None:
    once = [1.0] * 5 + [0.0] * 11
    few = clustered_mean([[value] for value in once], bounds=(0, 1))
    many = clustered_mean([[value] * 7 for value in once], bounds=(0, 1))
    assert (many.mean, many.low, many.high, many.n) == pytest.approx((few.mean, few.low, few.high, 16))
    assert few.high - few.low >= rate(5, 16).high - rate(5, 16).low
    pretended = rate(35, 112)
    assert many.high - many.low > 2 * (pretended.high - pretended.low)


def test_all_right_is_as_certain_as_there_are_clusters() -> None:
    assert clustered_mean([[1.0] * 7] * 16, bounds=(0, 1)).low == pytest.approx(rate(16, 16).low)


def test_the_interval_is_never_narrower_than_that_of_independent_episodes() -> None:
    """Clusters whose means agree by luck do not make the mean certain."""
    balanced = clustered_mean([[1.0, 0.0]] * 16, bounds=(0, 1))
    assert balanced.standard_error == pytest.approx(mean([1.0, 0.0] * 16).standard_error)


def test_intervals_contain_the_truth() -> None:
    """16 pictures, each with a difficulty of its own, drawn 50 times: 95% of the intervals must cover 50%;
    those that count episodes cover far less."""
    dice = np.random.default_rng(4)
    covered = pretended = 0
    rounds = 400
    for _ in range(rounds):
        difficulty = dice.choice([0.1, 0.9], 16)
        drawn = dice.integers(0, 16, 50)
        right = (dice.random(50) < difficulty[drawn]).astype(float)
        estimate = clustered_mean([right[drawn == k].tolist() for k in range(16)], bounds=(0, 1))
        covered += estimate.low <= 0.5 <= estimate.high
        alone = rate(int(right.sum()), 50)
        pretended += alone.low <= 0.5 <= alone.high
    assert covered / rounds > 0.92
    assert pretended / rounds < 0.8


@pytest.mark.parametrize("metric", [NEVER, VALUE])
def test_metrics_count_clusters_where_there_are_some(metric: object) -> None:
    alone: list[Observation] = [(seed, float(seed % 2)) for seed in range(40)]
    shared: list[Observation] = [(f"pair {seed % 8}", value) for seed, value in alone]
    by_seed, by_pair = metric.over(alone), metric.over(shared)  # type: ignore[attr-defined]
    assert by_seed.mean == by_pair.mean == 0.5
    assert by_pair.n == 8
    assert by_pair.high - by_pair.low > 1.5 * (by_seed.high - by_seed.low)


def test_entrants_are_compared_on_clusters() -> None:
    places = [(seed, 0, 0) for seed in range(40)]
    ours, theirs = dict.fromkeys(places, 1.0), {place: float(place[0] % 4 == 0) for place in places}
    clusters = {seed: f"pair {seed % 4}" for seed in range(40)}
    by_seed, by_pair = compare(NEVER, ours, theirs, 1), compare(NEVER, ours, theirs, 1, clusters)
    assert by_seed.difference.mean == by_pair.difference.mean == 0.75
    assert (by_seed.difference.n, by_seed.verdict) == (40, "a")
    assert (by_pair.difference.n, by_pair.verdict, by_pair.missing_episodes) == (4, "open", None)


def test_only_shared_seeds_of_a_cluster_are_compared() -> None:
    ours = {(0, 0, 0): 1.0, (1, 0, 0): 0.0}
    theirs = {(0, 0, 0): 1.0}
    pair = compare(NEVER, ours, theirs, 1, {0: "a", 1: "a"})
    assert (pair.difference.n, pair.difference.mean) == (1, 0.0)


def test_a_blind_control_is_compared_on_clusters() -> None:
    seen = {(seed, 0, 0): 1.0 for seed in range(40)}
    unseen = {(seed, 0, 0): 0.0 for seed in range(40)}
    ones, noughts = mean([1.0] * 40), mean([0.0] * 40)
    clusters = {seed: f"{seed % 3}" for seed in range(40)}
    few = blind_control("b", NEVER, (ones, seen), (noughts, unseen), 1, clusters)
    assert not few.sees
    assert "3 shared clusters" in few.sentence
    assert blind_control("b", NEVER, (ones, seen), (noughts, unseen), 1).sees


def test_the_seeds_of_a_set_share_its_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Spy(source="clevr-16")
    clusters = {game.cluster(seed) for seed in range(50)}
    assert len(clusters) <= 16
    assert all(name.startswith("clevr-16@") for name in clusters)
    state = game.start(7)
    assert game.cluster(7).endswith(state.pair.entry.id)  # type: ignore[union-attr]
    assert Spy().cluster(7) == ""
    assert Game.cluster(game, 7) == ""


def test_an_episode_whose_pictures_are_not_here_stands_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    from ludens import play_sync

    game = Spy(source="clevr-16", civilians=2, rounds=1)
    episode = play_sync(game, dict.fromkeys(game.seats, agent("bot/random", game)), 3)
    assert cluster_of(episode) == game.cluster(3)

    def missing(self: Spy, seed: int) -> str:
        raise MissingPictures("not here")

    monkeypatch.setattr(Spy, "cluster", missing)
    assert cluster_of(episode) == ""


def test_two_entrants_share_what_both_repeat() -> None:
    assert joint_clusters({0: "a", 1: "a", 2: "b"}, {0: "x", 1: "y"}) == {0: "a / x", 1: "a / y"}
