"""From games to training samples: GRPO with groups or role baselines, and Iterative-SPO, which alternates
between two stages by how well the decision is made (Vision-Zero, equations 7-10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, pstdev
from typing import Any

from ludens.core.errors import BadFile, BadOption
from ludens.core.game import Game, GameStage
from ludens.core.registry import make
from ludens.core.twins import pair_of
from ludens.train.policy import TokenSample, Trajectory
from ludens.train.recipe import AdvantageOptions, Recipe, SwitchOptions

EPSILON = 1e-8


def normalise_groups(samples: Iterable[TokenSample], *, scale: bool = True) -> None:
    """Set each advantage to the reward relative to its group: (r - mean) / (std + 1e-8) (GRPO).

    The standard deviation is that of the population. Where all rewards of a group are equal, or with `scale`
    off, rewards are only centred.
    """
    groups: dict[Hashable, list[TokenSample]] = defaultdict(list)
    for sample in samples:
        groups[sample.group].append(sample)
    for group in groups.values():
        rewards = [sample.reward for sample in group]
        mean, deviation = fmean(rewards), pstdev(rewards)
        for sample in group:
            centred = sample.reward - mean
            sample.advantage = centred / (deviation + EPSILON) if scale and deviation > 0 else centred


def reward_pairs(trajectories: Iterable[Trajectory]) -> list[Trajectory]:
    """Give each sample the lower reward of it and its counterpart in the twin world: both must be right.

    The counterpart is that of the same seat, step and attempt in the episode of the twin with the same number
    among the episodes of its seed. Samples without one, where an episode was void, are left out.
    """
    worlds: dict[tuple[int, int], dict[int, Trajectory]] = defaultdict(dict)
    for trajectory in trajectories:
        episode = trajectory.episode
        worlds[pair_of(episode.seed), episode.sample][episode.seed % 2] = trajectory
    paired = []
    for world in worlds.values():
        places = [{(s.seat, s.step, s.attempt): s for s in world[n].samples} for n in sorted(world)]
        if len(places) < 2:
            continue
        shared = places[0].keys() & places[1].keys()
        for number, samples in enumerate(places):
            counterparts = places[1 - number]
            own = world[number]
            pairs = [
                replace(sample, reward=min(sample.reward, counterparts[place].reward))
                for place, sample in samples.items()
                if place in shared
            ]
            paired.append(replace(own, samples=pairs))
    return sorted(paired, key=lambda trajectory: trajectory.number)


@dataclass
class RoleBaselines:
    """The mean reward of each role as an exponential moving average (Vision-Zero, equation 2).

    Updated once per game, before the advantage is taken: b <- alpha b + (1 - alpha) r.
    """

    alpha: float = 0.95
    from_first: bool = False
    values: dict[str, float] = field(default_factory=dict)

    def advantages(self, trajectories: Iterable[Trajectory], stage: str = "") -> None:
        """Update the baselines game by game and set the advantages of all samples.

        Args:
            stage: Of the samples, where a role has a baseline of its own in it.
        """
        suffix = f" {stage}" if stage else ""
        for trajectory in trajectories:
            rewards: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
            for sample in trajectory.samples:
                rewards[sample.role + suffix][sample.seat].append(sample.reward)
            for role, seats in rewards.items():
                mean = fmean(map(fmean, seats.values()))
                start = mean if self.from_first else 0.0
                self.values[role] = self.alpha * self.values.get(role, start) + (1 - self.alpha) * mean
            for sample in trajectory.samples:
                sample.advantage = sample.reward - self.values[sample.role + suffix]

    def state(self) -> dict[str, float]:
        return dict(self.values)

    def restore(self, state: Mapping[str, Any]) -> None:
        self.values = {role: float(value) for role, value in state.items()}


def return_to_go(rewards: Sequence[float], seats: Sequence[str], discount: float = 1.0) -> list[float]:
    """For each move, the discounted sum of the rewards of its seat from this move on."""
    following: dict[str, float] = defaultdict(float)
    result = [0.0] * len(rewards)
    for place in range(len(rewards) - 1, -1, -1):
        seat = seats[place]
        following[seat] = result[place] = rewards[place] + discount * following[seat]
    return result


def turn_advantages(trajectories: Iterable[Trajectory], options: AdvantageOptions) -> None:
    """Set advantages and targets turn by turn: generalised advantage estimation over a seat's replies.

    The reward arrives with the last reply of a seat. A refused reply is a turn of its own, and is charged the
    penalty of unreadable ones.
    """
    for trajectory in trajectories:
        turns: dict[str, list[TokenSample]] = defaultdict(list)
        for sample in sorted(trajectory.samples, key=lambda sample: (sample.step, sample.attempt)):
            turns[sample.seat].append(sample)
        for own in turns.values():
            next_value = following = 0.0
            for sample in reversed(own):
                earned = sample.reward if sample is own[-1] else 0.0
                if sample is not own[-1] and not sample.readable:
                    earned = -options.unreadable
                error = earned + options.discount * next_value - sample.value
                following = error + options.discount * options.trace * following
                sample.advantage, next_value = following, sample.value
                sample.target = following + sample.value


def standardise(samples: Sequence[TokenSample]) -> None:
    """Shift and scale the advantages of all samples to mean 0 and deviation 1."""
    advantages = [sample.advantage for sample in samples]
    mean, deviation = fmean(advantages or [0.0]), pstdev(advantages or [0.0])
    for sample in samples:
        sample.advantage = (sample.advantage - mean) / (deviation + EPSILON)


class Grpo:
    """Chooses samples and sets their advantages, relative to a group of samples or to a role's baseline."""

    stage = ""
    """The stage that is trained; empty for all."""
    explores = True
    """Whether choices of the stage that is trained may be drawn evenly from the legal ones."""

    def __init__(self, options: AdvantageOptions) -> None:
        self.options = options
        self.baselines = RoleBaselines(options.alpha, options.from_first)

    def samples(self, trajectories: Sequence[Trajectory]) -> list[TokenSample]:
        return self._compared(trajectories, self.options.group.split())

    def _compared(
        self, trajectories: Sequence[Trajectory], group: Sequence[str], kind: str = "", stage: str = ""
    ) -> list[TokenSample]:
        """All samples of the games, with advantages; role baselines are those of the stage.

        With a penalty, replies that were not accepted have no advantage above 0. They earned what the
        fallback earned: where others of their group earned less, they would be learnt. Explored choices have
        none below 0: most are worse than what the policy prefers, and would teach it to prefer nothing else.
        """
        kind, penalty = kind or self.options.kind, self.options.unreadable
        if self.options.reward == "both":
            trajectories = reward_pairs(trajectories)
        samples = [sample for trajectory in trajectories for sample in trajectory.samples]
        refused = [sample for sample in samples if penalty and not sample.readable]
        for sample in refused:
            sample.reward -= penalty
        if kind == "role":
            self.baselines.advantages(trajectories, stage)
        elif kind == "group":
            for sample in samples:
                sample.group = tuple(getattr(sample, name) for name in group)
            normalise_groups(samples, scale=self.options.scale)
        elif kind == "gae":
            turn_advantages(trajectories, self.options)
            if self.options.scale:
                standardise(samples)
        else:
            for sample in samples:
                sample.advantage = sample.reward
        for sample in samples:
            if sample.explored and sample.readable:
                sample.advantage = max(sample.advantage, 0.0)
        for sample in refused:
            sample.advantage = min(sample.advantage, 0.0)
        return samples

    def flat(self, trajectories: Sequence[Trajectory]) -> set[int]:
        """Seeds in which every group has equal rewards: nothing is learnt from them."""
        copies = [replace(t, samples=[replace(sample) for sample in t.samples]) for t in trajectories]
        telling = {sample.seed for sample in self.samples(copies) if sample.advantage}
        return {trajectory.episode.seed for trajectory in trajectories} - telling

    def observe(self, held_out: Sequence[Trajectory], *, first: bool) -> tuple[dict[str, float], bool]:
        """Statistics of held-out games, and whether the trained stage changed; `first` before any update."""
        return {}, False

    def state(self) -> dict[str, Any]:
        return {"baselines": self.baselines.state()}

    def restore(self, state: dict[str, Any]) -> None:
        self.baselines.restore(state["baselines"])


def two_stages(game: Game) -> tuple[GameStage, GameStage]:
    """The stage that prepares decisions and the stage of decisions; raises `BadOption` for other games."""
    stages = sorted(game.stages, key=lambda stage: stage.decision)
    if [stage.decision for stage in stages] != [False, True]:
        names = ", ".join(stage.name for stage in stages) or "none"
        raise BadOption(
            f"the algorithm spo needs a game with two stages, one of them of decisions; {game.name} "
            f"declares {names}."
        )
    return stages[0], stages[1]


@dataclass
class Switch:
    """The state of the alternation. `update` is called once per iteration, after training."""

    options: SwitchOptions
    stages: tuple[GameStage, GameStage]
    """As `two_stages` orders them."""
    stage: str = ""
    iterations: int = 0
    accuracy: float = 0.0
    na: float = 0.0
    base: float | None = None
    """The accuracy before training."""

    def __post_init__(self) -> None:
        self.talk, self.decision = (stage.name for stage in self.stages)
        self.stage = self.stage or (self.talk if self.options.first == self.talk else self.decision)

    def start(self, accuracy: float, na: float) -> None:
        """Take in the statistics of the untrained policy: the base rate."""
        self.base = accuracy
        if self.options.from_first:
            self.accuracy, self.na = accuracy, na

    def update(self, accuracy: float, na: float) -> bool:
        """Take in the statistics of held-out games of this iteration; returns whether the stage changed."""
        options = self.options
        self.accuracy = options.rho * self.accuracy + (1 - options.rho) * accuracy
        self.na = options.rho * self.na + (1 - options.rho) * na
        self.iterations += 1
        if not self._due():
            return False
        self.stage = self.talk if self.stage == self.decision else self.decision
        self.iterations = 0
        return True

    def _due(self) -> bool:
        options = self.options
        if options.patience and self.iterations >= options.patience:
            return True
        if self.iterations < options.k_min:
            return False
        if self.stage == self.decision:
            return self.level >= options.accuracy and self.na <= options.low_na
        return 1 - self.level >= options.error or self.na >= options.high_na

    @property
    def level(self) -> float:
        if not self.options.relative or self.base is None or self.base == 1:
            return self.accuracy
        return (self.accuracy - self.base) / (1 - self.base)

    def state(self) -> dict[str, Any]:
        names = ("stage", "iterations", "accuracy", "na", "base")
        return {name: getattr(self, name) for name in names}

    def restore(self, state: dict[str, Any]) -> None:
        if set(state) != set(self.state()) or state["stage"] not in (self.talk, self.decision):
            raise BadFile("the checkpoint's switching state is not valid.")
        for name, value in state.items():
            setattr(self, name, value)


class IterativeSpo(Grpo):
    """Trains one stage of a game at a time, each compared as the game declares (`GameStage.group`).

    With `loss.keep`, replies of the other stage are kept near the reference meanwhile.
    """

    def __init__(self, recipe: Recipe) -> None:
        super().__init__(recipe.advantage)
        self.keeps = recipe.loss.keep > 0
        self.switch = Switch(recipe.switch, two_stages(make(recipe.play.game)))

    @property
    def stage(self) -> str:  # type: ignore[override]
        return self.switch.stage

    @property
    def explores(self) -> bool:  # type: ignore[override]
        return self.stage == self.switch.decision

    def samples(self, trajectories: Sequence[Trajectory]) -> list[TokenSample]:
        active, rest = list[Trajectory](), list[TokenSample]()
        for trajectory in trajectories:
            trained = [sample for sample in trajectory.samples if sample.stage == self.stage]
            active.append(replace(trajectory, samples=trained))
            rest += [sample for sample in trajectory.samples if sample.stage != self.stage]
        for sample in rest:
            sample.keep = True
        [group] = [stage.group for stage in self.switch.stages if stage.name == self.stage]
        deciding = self.stage == self.switch.decision
        kinds = (self.options.decisions if deciding else "", "" if group else self.options.kind)
        # Without a group, kind = "group" has no meaning: rewards are taken as they are.
        kind = "role" if "role" in kinds else "group" if group else "none"
        trained = self._compared(active, group, kind, self.stage if kinds[0] == "role" else "")
        return [*trained, *(rest if self.keeps else ())]

    def observe(self, held_out: Sequence[Trajectory], *, first: bool) -> tuple[dict[str, float], bool]:
        switch, scores = self.switch, [trajectory.decision for trajectory in held_out]
        accuracy, na = fmean(score.right for score in scores), fmean(score.abstained for score in scores)
        if first:
            switch.start(accuracy, na)
        changed = not first and switch.update(accuracy, na)
        return {
            "accuracy": accuracy,
            "na": na,
            "accuracy_ema": switch.accuracy,
            "na_ema": switch.na,
            f"{TRAINED}{switch.talk}": float(self.stage == switch.talk),
        }, changed

    def state(self) -> dict[str, Any]:
        return {**super().state(), "switch": self.switch.state()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.switch.restore(state["switch"])


TRAINED = "trained_"
"""Prefix of a measure: 1 if the stage with this name was trained, else 0."""


def algorithm(recipe: Recipe) -> Grpo:
    return IterativeSpo(recipe) if recipe.run.algorithm == "spo" else Grpo(recipe.advantage)
