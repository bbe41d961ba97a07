"""From games to training samples: GRPO with groups or role baselines, and Iterative-SPO."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from ludens.core.errors import BadOption
from ludens.games.spy.game import ABSTAIN, CLUE
from ludens.train.advantages import RoleBaselines, normalise_groups
from ludens.train.policy import Sample, Trajectory
from ludens.train.recipe import AdvantageOptions, Recipe
from ludens.train.rollout import grouped
from ludens.train.spo import Switch, decision_statistics


class Algorithm(ABC):
    """Chooses samples, sets their advantages, and decides by held-out games what is trained next."""

    stage = ""
    """The stage that is trained; empty for all."""

    @abstractmethod
    def samples(self, trajectories: Sequence[Trajectory]) -> list[Sample]:
        """The samples to train on, with advantages."""

    def observe(self, held_out: Sequence[Trajectory], *, first: bool) -> tuple[dict[str, float], bool]:
        """Statistics of held-out games, and whether the trained stage changed.

        Args:
            held_out: Games of the policy as the last update made it.
            first: Whether there was no update yet.
        """
        return {}, False

    def state(self) -> dict[str, Any]:
        """For checkpoints."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `state`."""


class Grpo(Algorithm):
    """Advantages relative to a group of samples or to the baseline of the role."""

    def __init__(self, options: AdvantageOptions) -> None:
        self.options = options
        self.baselines = RoleBaselines(options.alpha, options.from_first)

    def samples(self, trajectories: Sequence[Trajectory]) -> list[Sample]:
        penalise_unreadable(trajectories, self.options.unreadable)
        return without_unreadable_gains(self._compared(trajectories), self.options.unreadable)

    def _compared(self, trajectories: Sequence[Trajectory]) -> list[Sample]:
        if self.options.kind == "role":
            self.baselines.advantages(trajectories)
            return [sample for trajectory in trajectories for sample in trajectory.samples]
        samples = [sample for trajectory in trajectories for sample in trajectory.samples]
        if self.options.kind == "none":
            return raw(samples)
        result = grouped(samples, self.options.group.split())
        normalise_groups(result, scale=self.options.scale)
        return result

    def state(self) -> dict[str, Any]:
        return {"baselines": self.baselines.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.baselines.restore(state["baselines"])


class IterativeSpo(Algorithm):
    """Trains clues against role baselines and votes within the group of a game, one stage at a time.

    With `loss.keep`, replies of the other stage are kept near the reference meanwhile.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.options, self.keeps = recipe.advantage, recipe.loss.keep > 0
        self.baselines = RoleBaselines(self.options.alpha, self.options.from_first)
        self.switch = Switch(recipe.switch)

    @property
    def stage(self) -> str:  # type: ignore[override]
        return self.switch.stage

    def samples(self, trajectories: Sequence[Trajectory]) -> list[Sample]:
        every = [sample for trajectory in trajectories for sample in trajectory.samples]
        others = [sample for sample in every if sample.stage != self.switch.stage]
        for sample in others:
            sample.kept = True
        trained = without_unreadable_gains(self._trained(trajectories), self.options.unreadable)
        return [*trained, *(others if self.keeps else ())]

    def _trained(self, trajectories: Sequence[Trajectory]) -> list[Sample]:
        active = [
            Trajectory(t.episode, t.number, [s for s in t.samples if s.stage == self.switch.stage])
            for t in trajectories
        ]
        penalise_unreadable(active, self.options.unreadable)
        if self.switch.stage == CLUE:
            if self.options.kind == "role":
                self.baselines.advantages(active)
            else:
                raw([sample for trajectory in active for sample in trajectory.samples])
            return [sample for trajectory in active for sample in trajectory.samples]
        votes = grouped((s for t in active for s in t.samples), ("episode",))
        normalise_groups(votes, scale=self.options.scale)
        return votes

    def observe(self, held_out: Sequence[Trajectory], *, first: bool) -> tuple[dict[str, float], bool]:
        accuracy, na = decision_statistics([_votes(trajectory) for trajectory in held_out])
        if first:
            self.switch.start(accuracy, na)
        changed = not first and self.switch.update(accuracy, na)
        return {
            "accuracy": accuracy,
            "na": na,
            "accuracy_ema": self.switch.accuracy,
            "na_ema": self.switch.na,
        }, changed

    def state(self) -> dict[str, Any]:
        return {"baselines": self.baselines.state(), "switch": self.switch.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.baselines.restore(state["baselines"])
        self.switch.restore(state["switch"])


def raw(samples: list[Sample]) -> list[Sample]:
    """The samples, with their rewards as advantages."""
    for sample in samples:
        sample.advantage = sample.reward
    return samples


def penalise_unreadable(trajectories: Sequence[Trajectory], penalty: float) -> None:
    """Take a penalty off the rewards of replies that were not accepted."""
    if penalty:
        for trajectory in trajectories:
            for sample in trajectory.samples:
                if not sample.readable:
                    sample.reward -= penalty


def without_unreadable_gains(samples: list[Sample], penalty: float) -> list[Sample]:
    """The samples; with a penalty, replies that were not accepted have no advantage above 0.

    They earned what the fallback earned: where others of their group earned less, they would be learnt.
    """
    if penalty:
        for sample in samples:
            if not sample.readable:
                sample.advantage = min(sample.advantage, 0.0)
    return samples


def _votes(trajectory: Trajectory) -> tuple[list[str | None], str]:
    """The votes of a game and its spy."""
    facts = trajectory.episode.facts
    try:
        votes, spy = facts["votes"], facts["spy"]
    except KeyError:
        raise BadOption(
            f"{trajectory.episode.game} has no votes: the algorithm spo needs the game spy."
        ) from None
    return [None if vote == ABSTAIN else vote for vote in votes.values()], str(spy)


def algorithm(recipe: Recipe) -> Algorithm:
    """The algorithm of a recipe."""
    if recipe.run.algorithm == "spo":
        return IterativeSpo(recipe)
    return Grpo(recipe.advantage)
