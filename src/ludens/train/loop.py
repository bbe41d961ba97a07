"""The training loop. `Trainer.iterate` is one iteration: play, advantages, update, measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.spy.rules import CLUE
from ludens.train import ranks
from ludens.train.algorithms import algorithm
from ludens.train.checkpoint import ANCHOR, Checkpoints
from ludens.train.league import League
from ludens.train.policy import Policy
from ludens.train.recipe import Recipe
from ludens.train.rollout import Job, Rollouts
from ludens.train.sample import Sample, Trajectory
from ludens.train.update import Updater

Report = Callable[[dict[str, float]], None]


@dataclass
class Trainer:
    """A training run. Everything that changes is in its checkpoint.

    Args:
        recipe: What to do.
        policy: What is trained.
        folder: Where checkpoints go.
    """

    recipe: Recipe
    policy: Policy
    folder: Path
    iteration: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    """The measurements of every iteration."""
    last_games: list[Episode] = field(default_factory=list)
    """Held-out games of the last iteration, or games of training where there are none."""

    def __post_init__(self) -> None:
        recipe = self.recipe
        self.game = make(recipe.play.game)
        self.algorithm = algorithm(recipe)
        self.start = self.policy.frozen()
        self.reference = self.start
        self.league = League(self.game, self.policy, recipe.opponents, recipe.run.seed)
        steps = recipe.run.iterations * recipe.optimizer.epochs * recipe.optimizer.minibatches
        self.updater = Updater(self.policy, recipe.optimizer, recipe.loss, steps)
        self.rollouts = Rollouts(
            self.game,
            self.policy.agent(),
            self.league.agents,
            RenderOptions(recipe.play.theme, recipe.play.size),
            PlayConfig(retries=recipe.play.retries),
            recipe.play.concurrency,
            None if recipe.play.discount < 0 else recipe.play.discount,
        )
        self.checkpoints = Checkpoints(self.folder, recipe.monitor.keep)

    async def iterate(self) -> dict[str, float]:
        """One iteration."""
        began = perf_counter()
        self.policy.reseed(self.recipe.run.seed, self.iteration, ranks.world()[0])
        await self.policy.publish()

        # Held-out games show what the last update made of the policy: they are played beside the new ones.
        jobs, held_out_jobs = self.jobs(), self.held_out_jobs()
        games = await self.rollouts.play([*jobs, *held_out_jobs])
        trajectories = [game for game in games if game.number < len(jobs)]
        held_out = [game for game in games if game.number >= len(jobs)]
        self.policy.verify([sample for game in games for sample in game.samples])
        blind = await self._blind_control(held_out_jobs)
        played = perf_counter()
        statistics, switched = self.algorithm.observe(_everywhere(held_out), first=self.iteration == 0)
        if switched and self.recipe.reference.anchor == "switch":
            self.reference = self.policy.frozen()
        trained = self.algorithm.stage
        samples = self.algorithm.samples(trajectories)
        losses = self.updater.update(samples, self.reference, seed=self.iteration)

        self.iteration += 1
        measured = {
            "iteration": float(self.iteration),
            **_measure(trajectories, samples),
            **losses,
            **statistics,
            **({"trained_clue": float(trained == CLUE)} if trained else {}),
            **_rewards(held_out, "held_out"),
            **_rewards(blind, "blind"),
            "play_s": played - began,
            "update_s": perf_counter() - played,
            "s": perf_counter() - began,
        }
        self.history.append(measured)
        self.last_games = [trajectory.episode for trajectory in held_out or trajectories]
        return measured

    async def _blind_control(self, jobs: Sequence[Job]) -> list[Trajectory]:
        """The held-out games once more, played without seeing: does the reward need the picture?"""
        every = self.recipe.monitor.blind
        if not every or self.iteration % every:
            return []
        return await replace(self.rollouts, learner=self.policy.agent(blind=True)).play(jobs)

    def jobs(self) -> list[Job]:
        """The games of this iteration and rank: whole groups, no seed twice."""
        play, (rank, size) = self.recipe.play, ranks.world()
        first, last = self.iteration * play.episodes, (self.iteration + 1) * play.episodes
        own = (play.first_seed + number % (play.seeds or last) for number in range(first + rank, last, size))
        return [self.league.job(seed, sample) for seed in own for sample in range(play.samples)]

    def held_out_jobs(self) -> list[Job]:
        """Games on seeds that are never trained on, others in every iteration."""
        play, (rank, size) = self.recipe.play, ranks.world()
        first = play.held_out_seed + self.iteration * play.held_out
        return [Job(seed) for seed in range(first + rank, first + play.held_out, size)]

    @property
    def at_checkpoint(self) -> bool:
        """Whether this iteration ends with a checkpoint."""
        last = self.iteration == self.recipe.run.iterations
        return last or self.iteration % self.recipe.monitor.checkpoint == 0

    async def run(self, report: Report | None = None) -> None:
        """All iterations that are left, with checkpoints."""
        try:
            while self.iteration < self.recipe.run.iterations:
                measured = await self.iterate()
                if report is not None and ranks.world()[0] == 0:
                    report(measured)
                if self.at_checkpoint:
                    self.save()
        finally:
            await self.close()

    def save(self) -> Path:
        """Write a checkpoint."""
        path = self.checkpoints.path(self.iteration)
        if ranks.world()[0] == 0:
            state = {
                "iteration": self.iteration,
                "step": self.updater.step,
                "algorithm": self.algorithm.state(),
                "recipe": self.recipe.as_dict(),
                "history": self.history,
            }
            anchor = None if self.reference is self.start else self.reference
            path = self.checkpoints.write(self.iteration, self.policy, anchor, self.updater.state(), state)
        ranks.wait()
        self.league.checkpointed()
        return path

    def resume(self, path: Path) -> None:
        """Go on from a checkpoint of this recipe."""
        updater, state = self.checkpoints.read(path, self.policy)
        self.updater.restore(updater)
        self.updater.step, self.iteration = state["step"], state["iteration"]
        self.algorithm.restore(state["algorithm"])
        self.history = state["history"]
        if (path / ANCHOR).is_dir():
            self.reference = self.policy.frozen()
            self.reference.load(path / ANCHOR)
        self.league.checkpointed()

    async def close(self) -> None:
        """Release threads and connections."""
        await self.policy.agent().close()
        await self.league.close()


def _everywhere(trajectories: Sequence[Trajectory]) -> list[Trajectory]:
    """The games of all ranks, without samples: they are large."""
    if ranks.world()[1] == 1:
        return list(trajectories)
    own = [Trajectory(trajectory.episode) for trajectory in trajectories]
    return [trajectory for part in ranks.gather(own) for trajectory in part]


def _rewards(trajectories: Sequence[Trajectory], name: str) -> dict[str, float]:
    """Mean rewards by role and stage, over all ranks."""
    rewards: dict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        for sample in trajectory.samples:
            rewards[" ".join(filter(None, (name, sample.role, sample.stage)))].append(sample.reward)
    merged: dict[str, list[float]] = defaultdict(list)
    for part in ranks.gather(dict(rewards)):
        for key, values in part.items():
            merged[key].extend(values)
    return {key: fmean(values) for key, values in sorted(merged.items())}


def _measure(trajectories: Sequence[Trajectory], samples: Sequence[Sample]) -> dict[str, float]:
    """What the games of this iteration were like, over all ranks."""
    own: dict[str, Any] = {
        "episodes": len(trajectories),
        "samples": len(samples),
        "reward": [s.reward for t in trajectories for s in t.samples],
        "length": [len(s.completion_ids) for t in trajectories for s in t.samples],
        "entropy": [-fmean(s.logprobs) for t in trajectories for s in t.samples if s.logprobs],
        "fallback": [m.verdict == "fallback" for t in trajectories for m in t.episode.moves],
    }
    parts = ranks.gather(own)
    measured: dict[str, float] = {
        name: float(sum(p[name] for p in parts)) for name in ("episodes", "samples")
    }
    for name in ("reward", "length", "entropy", "fallback"):
        values = [value for part in parts for value in part[name]]
        measured[name] = fmean(values) if values else 0.0
    return measured
