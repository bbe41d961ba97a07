"""What clues and votes earn in training: equations 1 and 4 of Vision-Zero."""

from __future__ import annotations

from collections.abc import Sequence

BETA = LAMBDA = 0.1
"""Weights of the competition between spy and civilians, and of the differences among civilians."""
RIGHT, ABSTAINED, WRONG = 1.0, -0.5, -1.0


def clue_rewards(spy: int, civilians: Sequence[int]) -> tuple[float, list[float]]:
    """The reward of the spy and of each civilian, from the votes each of them received; they sum to zero."""
    count = len(civilians)
    mean = sum(civilians) / count
    lead = spy - mean
    return -BETA * lead, [BETA / count * lead - LAMBDA * (votes - mean) for votes in civilians]


def lowest_clue_rewards(civilians: int, voters: int) -> tuple[float, float]:
    """The least a spy and a civilian can earn with a clue: every vote goes to them."""
    spy, _ = clue_rewards(voters, [0] * civilians)
    _, [civilian, *_] = clue_rewards(0, [voters] + [0] * (civilians - 1))
    return spy, civilian


def vote_reward(vote: str, spy: str, abstention: str) -> float:
    """The reward of a vote; one that could not be read earns what a wrong one does."""
    return RIGHT if vote == spy else ABSTAINED if vote == abstention else WRONG
