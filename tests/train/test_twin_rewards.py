"""reward = "both": a reply earns only if the reply in the twin world is right too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.train.algorithms import Grpo, reward_pairs
from ludens.train.checks import check
from ludens.train.policy import TokenSample, Trajectory
from ludens.train.recipe import AdvantageOptions, PlayOptions, Recipe


def trajectory(seed: int, sample: int, reward: float, number: int) -> Trajectory:
    reply = TokenSample(
        [1], [2], [0.0], seat="viewer", role="viewer", seed=seed, episode=number, reward=reward
    )
    return Trajectory(Episode("qa", 1, {}, seed, {}, sample=sample), number, [reply])


def games() -> list[Trajectory]:
    rewards = {(4, 0): 1.0, (4, 1): 1.0, (5, 0): 1.0, (5, 1): 0.0, (6, 0): 1.0}
    return [trajectory(*place, reward, number) for number, (place, reward) in enumerate(rewards.items())]


def test_reply_earns_what_the_lower_one_of_its_pair_earns() -> None:
    rewards = {(t.episode.seed, t.episode.sample): t.samples[0].reward for t in reward_pairs(games())}
    assert rewards == {(4, 0): 1.0, (4, 1): 0.0, (5, 0): 1.0, (5, 1): 0.0}


def test_advantages_follow_the_pair() -> None:
    own = {s.episode: s.advantage for s in Grpo(AdvantageOptions()).samples(games())}
    both = {s.episode: s.advantage for s in Grpo(AdvantageOptions(reward="both")).samples(games())}
    assert own[0] == own[1] == 0  # the blind answer to seed 4 was right twice
    assert (both[0], both[1]) == (pytest.approx(1), pytest.approx(-1))


def test_recipe_needs_twins_and_even_numbers() -> None:
    plain = Recipe(play=PlayOptions(game="qa?board=chess"), advantage=AdvantageOptions(reward="both"))
    with pytest.raises(BadOption, match="played without it"):
        check(plain)
    with pytest.raises(BadOption, match="a game without twins"):
        check(replace(plain, play=PlayOptions(game="sudoku")))
    with pytest.raises(BadOption, match="must be even"):
        check(replace(plain, play=PlayOptions(game="qa?board=chess&twins=true", episodes=127)))
