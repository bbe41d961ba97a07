"""Advantages: how much better than expected a sample was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Any

from ludens.train.policy import Sample, Trajectory

EPSILON = 1e-8


def normalise_groups(samples: Iterable[Sample], *, scale: bool = True) -> None:
    """Set each advantage to the reward relative to its group: (r - mean) / (std + 1e-8) (GRPO).

    The standard deviation is that of the population. Where all rewards of a group are equal, or with `scale`
    off, rewards are only centred.
    """
    groups: dict[Hashable, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.group].append(sample)
    for group in groups.values():
        rewards = [sample.reward for sample in group]
        mean, deviation = fmean(rewards), pstdev(rewards)
        for sample in group:
            centred = sample.reward - mean
            sample.advantage = centred / (deviation + EPSILON) if scale and deviation > 0 else centred


@dataclass
class RoleBaselines:
    """The mean reward of each role as an exponential moving average (Vision-Zero, equation 2).

    Updated once per game, before the advantage is taken: b <- alpha b + (1 - alpha) r.

    Args:
        alpha: Weight of the past.
        from_first: Start at the first value instead of 0.
    """

    alpha: float = 0.95
    from_first: bool = False
    values: dict[str, float] = field(default_factory=dict)

    def advantages(self, trajectories: Iterable[Trajectory]) -> None:
        """Update the baselines game by game and set the advantages of all samples."""
        for trajectory in trajectories:
            by_role = _seat_rewards(trajectory.samples)
            for role, seats in by_role.items():
                self.update(role, fmean(seats.values()))
            for sample in trajectory.samples:
                sample.advantage = sample.reward - self.values[sample.role]

    def update(self, role: str, reward: float) -> float:
        """Take in the reward of one game, the mean over the seats of the role; returns the new baseline."""
        start = reward if self.from_first else 0.0
        self.values[role] = self.alpha * self.values.get(role, start) + (1 - self.alpha) * reward
        return self.values[role]

    def state(self) -> dict[str, float]:
        """For checkpoints."""
        return dict(self.values)

    def restore(self, state: Mapping[str, Any]) -> None:
        """The reverse of `state`."""
        self.values = {role: float(value) for role, value in state.items()}


def _seat_rewards(samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """Role to seat to the mean reward of the seat's samples."""
    rewards: dict[tuple[str, str], list[float]] = defaultdict(list)
    for sample in samples:
        rewards[sample.role, sample.seat].append(sample.reward)
    by_role: dict[str, dict[str, float]] = defaultdict(dict)
    for (role, seat), values in rewards.items():
        by_role[role][seat] = fmean(values)
    return by_role


def return_to_go(rewards: Sequence[float], seats: Sequence[str], discount: float = 1.0) -> list[float]:
    """For each move the discounted sum of what its seat earns from it on."""
    following: dict[str, float] = defaultdict(float)
    result = [0.0] * len(rewards)
    for place in range(len(rewards) - 1, -1, -1):
        seat = seats[place]
        following[seat] = result[place] = rewards[place] + discount * following[seat]
    return result
