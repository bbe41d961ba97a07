"""Processes that play for training: each has a copy of the policies and plays its share of the games, with
bots, pictures and replies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from ludens.agents import agent, import_agent, imported_agents
from ludens.core.errors import UsageError
from ludens.core.processes import WorkerDied, WorkerPool, infrequent_gc
from ludens.core.registry import make
from ludens.core.spending import spend, spent
from ludens.train import ranks
from ludens.train.beside import quick_switches
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.roles import RolePolicy
from ludens.train.nano.weights import ROLES
from ludens.train.policy import Policy, Trajectory
from ludens.train.recipe import Recipe
from ludens.train.rollout import LEARNER, RolloutJob, rollouts_of

PARTS = ("draw", "sample")
"""Kinds of work of a worker that are measured."""


@dataclass(frozen=True)
class PolicyCopy:
    """A policy as a worker gets it."""

    folder: Path
    """The folder of its weights; changed weights are in another folder."""
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class WorkerShare:
    """Games for one worker, and the policies that play them, by name."""

    jobs: tuple[RolloutJob, ...]
    policies: Mapping[str, PolicyCopy]
    blind: bool


class RolloutWorkers:
    """Splits games over processes. The games do not depend on their number, except for rounding."""

    def __init__(self, recipe: Recipe, policy: Policy) -> None:
        assert isinstance(policy, NanoPolicy | RolePolicy)
        self.count = recipe.play.workers
        self._folder = TemporaryDirectory(prefix="ludens-play-")
        self._numbers = count()
        self._copies: dict[str, tuple[Policy, Path]] = {}
        settings = {name: getattr(recipe.model, name) for name in ("temperature", "max_tokens", "batch")}
        settings |= {"seed": recipe.run.seed, "device": _device(policy)}
        memory = ranks.memory_of_worker(self.count) if policy.device.type == "cuda" else 1.0
        arguments = (_start_worker, (recipe, settings, policy.longest_reply, memory, imported_agents()))
        self._pool = WorkerPool(self.count, *arguments)

    async def play(
        self, jobs: Sequence[RolloutJob], player: Policy, copies: Mapping[str, Policy], blind: bool = False
    ) -> list[Trajectory]:
        """Play all jobs, as `Rollouts.play` does.

        Args:
            jobs: The games.
            player: The learner in them.
            copies: Other policies in them, which do not change.
            blind: Whether the learner is shown flat pictures.
        """
        numbered = [
            replace(job, number=place if job.number is None else job.number) for place, job in enumerate(jobs)
        ]
        places = {job.number: place for place, job in enumerate(numbered)}
        self._forget({*self._copies} - {*copies, LEARNER})
        policies = {name: self._copy(name, policy) for name, policy in copies.items()}
        policies[LEARNER] = self._copy(LEARNER, player)
        parts = [tuple(numbered[worker :: self.count]) for worker in range(self.count)]
        shares = [WorkerShare(part, policies, blind) for part in parts if part]
        try:
            with self._pool.watched():
                futures = [self._pool.submit(_play, share) for share in shares]
                results = await asyncio.gather(*map(asyncio.wrap_future, futures))
        except WorkerDied:
            raise UsageError(
                "a process of play.workers ended: memory may be short; the same command goes on from the "
                "last checkpoint."
            ) from None
        for kind in PARTS:
            spend(kind, sum(seconds[kind] for _, seconds in results) / max(1, len(results)))
        games = [game for part, _ in results for game in part]
        return sorted(games, key=lambda game: places[game.number])

    def _copy(self, name: str, policy: Policy) -> PolicyCopy:
        """Write the weights of a policy for the workers, unless they have them."""
        before, folder = self._copies.get(name, (None, Path()))
        if before is not policy or name == LEARNER:
            if before is not None:
                self._forget([name])
            folder = Path(self._folder.name) / str(next(self._numbers))
            folder.mkdir()
            policy.save(folder)
            self._copies[name] = policy, folder
        return PolicyCopy(folder, policy.seeds)

    def _forget(self, names: Iterable[str]) -> None:
        """Remove the files of policies that play no more."""
        for name in names:
            _, folder = self._copies.pop(name)
            rmtree(folder)

    def close(self) -> None:
        self._pool.close()  # in the middle of a game, where the run was stopped
        self._folder.cleanup()


def _device(policy: Policy) -> str:
    """The device of a policy, with its number: other processes have another default."""
    if policy.device.type != "cuda" or policy.device.index is not None:
        return str(policy.device)
    import torch

    return f"cuda:{torch.cuda.current_device()}"


class _Worker:
    """What a worker keeps from one share of games to the next."""

    def __init__(self, recipe: Recipe, settings: dict[str, Any], longest_reply: int) -> None:
        self.recipe, self.settings, self.longest_reply = recipe, settings, longest_reply
        self.game = make(recipe.play.game)
        self.policies: dict[str, Policy] = {}
        self.folders: dict[str, Path] = {}

    async def play(self, share: WorkerShare) -> list[Trajectory]:
        self.policies = {name: own for name, own in self.policies.items() if name in share.policies}
        for name, copy in share.policies.items():
            self._load(name, copy)
        names = {name for job in share.jobs for name in job.players.values()} - {*share.policies}
        bots = {name: agent(name, self.game) for name in sorted(names)}
        copies = {name: self.policies[name].agent() for name in share.policies if name != LEARNER}
        learner = self.policies[LEARNER]
        rollouts = rollouts_of(self.recipe, self.game, learner, bots | copies, share.blind)
        rollouts.concurrency = -(-rollouts.concurrency // self.recipe.play.workers)
        try:
            return await rollouts.play(share.jobs)
        finally:
            for bot in bots.values():
                await bot.close()

    def _load(self, name: str, copy: PolicyCopy) -> None:
        if name not in self.policies:
            kind = RolePolicy if (copy.folder / ROLES).is_file() else NanoPolicy
            policy = kind.read(copy.folder, **self.settings)
            policy.longest_reply = self.longest_reply
            self.policies[name] = policy
        elif self.folders[name] != copy.folder:
            self.policies[name].load(copy.folder)
        self.folders[name] = copy.folder
        self.policies[name].reseed(*copy.seeds)


_worker: _Worker


def _start_worker(
    recipe: Recipe, settings: dict[str, Any], longest_reply: int, memory: float, agents: tuple[str, ...]
) -> None:
    import torch

    global _worker
    for name in agents:
        import_agent(name)
    torch.set_num_threads(1)  # the other cores have their own workers
    if memory < 1:
        torch.cuda.set_per_process_memory_fraction(memory, settings["device"])
    _worker = _Worker(recipe, settings, longest_reply)


def _play(share: WorkerShare) -> tuple[list[Trajectory], dict[str, float]]:
    """The games, and the seconds that each part of the work took."""
    before = {kind: spent(kind) for kind in PARTS}
    try:
        with quick_switches(), infrequent_gc():
            games = asyncio.run(_worker.play(share))
    except UsageError as error:
        raise UsageError(str(error)) from None  # not all of its subclasses can be sent to a process
    return games, {kind: spent(kind) - before[kind] for kind in PARTS}
