"""Replies that were not accepted earn what the fallback earned, but are not learnt."""

from __future__ import annotations

from typing import Any

import pytest

from ludens.core.episode import Episode
from ludens.train.algorithms import algorithm
from ludens.train.policy import TokenSample, Trajectory
from ludens.train.recipe import Recipe

REWARDS = {"group": [1.0, -1.0, -1.0, 3.0], "role": [1.0, -1.0, -1.0, 3.0], "none": [1.0, -1.0, 0.5, 3.0]}


def trained(kind: str, unreadable: float | None, spo: bool = False) -> list[TokenSample]:
    """Four games of one seed; the replies of the first and the last were not accepted."""
    advantage: dict[str, Any] = {"kind": kind}
    if unreadable is not None:
        advantage["unreadable"] = unreadable
    sections: dict[str, Any] = {"play": {"samples": 4}, "advantage": advantage}
    if spo:
        sections |= {"run": {"algorithm": "spo"}, "switch": {"first": "clue"}}
        sections["play"]["game"] = "spy"
    games = [
        Trajectory(
            Episode("tic_tac_toe", 1, {}, 0, {}),
            number,
            [
                TokenSample(
                    [], [], [], seat="x", role="x", stage="clue", reward=reward, readable=number in (1, 2)
                )
            ],
        )
        for number, reward in enumerate(REWARDS[kind])
    ]
    return algorithm(Recipe.of(sections)).samples(games)


@pytest.mark.parametrize("spo", [False, True])
@pytest.mark.parametrize("kind", REWARDS)
def test_by_default_they_have_no_advantage(kind: str, spo: bool) -> None:
    samples = trained(kind, None, spo)
    assert [sample.readable for sample in samples] == [False, True, True, False]
    assert all(sample.advantage <= 0 for sample in samples if not sample.readable)
    assert samples[0].reward == REWARDS[kind][0] - 1


def test_without_a_penalty_they_earn_what_the_fallback_earned() -> None:
    samples = trained("group", 0.0)
    assert samples[3].advantage > 0
    assert [sample.reward for sample in samples] == REWARDS["group"]
