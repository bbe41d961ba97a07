"""Episodes on a Ray cluster: the same jobs, played in actors.

Keys are not sent along: the nodes that play must have them in their own environment.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from secrets import token_hex
from typing import Any
from urllib.parse import urlsplit

from ludens.core.errors import BadOption, MissingExtra, UsageError
from ludens.run.executor import Executor, WorkerDied
from ludens.run.jobs import JobRunner, Outcome
from ludens.run.meter import Meter
from ludens.run.plan import Job, Plan
from ludens.run.task import import_suite

LOCAL = "local"
_SECONDS_TO_OPEN = 10.0


class RayExecutor(Executor):
    """Actors on a cluster, one for every CPU it offers unless a number is given."""

    def __init__(self, plan: Plan, address: str, count: int = 0, concurrency: int = 1) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody agreed to send any
        try:
            import ray
        except ImportError:
            raise MissingExtra("running on Ray", "ray") from None
        self._ray = ray
        self._plan, self._address, self._count, self._concurrency = plan, address, count, concurrency
        self._actors: list[Any] = []
        self._held: list[int] = []
        self._meters: dict[str, Meter] = {}
        """By the life of an actor: one that is restarted counts from nothing."""
        self._own = False

    async def start(self) -> None:
        ray = self._ray
        if not ray.is_initialized():
            self._connect()
            self._own = True
        count = self._count or max(1, int(ray.cluster_resources().get("CPU", 1)))
        each = -(-max(self._concurrency, count) // count)
        actor = ray.remote(num_cpus=1, max_concurrency=each, max_restarts=-1)(RayWorker)
        self._actors = [
            actor.remote(self._plan.to_json(), self._plan.suite, each, count) for _ in range(count)
        ]
        self._held = [0] * count
        for made in self._actors:
            self._understood(await made.ready.remote())

    def _connect(self) -> None:
        where: dict[str, Any] = {"address": self._address}
        if self._address == LOCAL:
            where["num_cpus"] = self._count or None
        _check_reachable(self._address)
        # Workers must find what this process can import: suites and games of other packages.
        paths = os.pathsep.join(filter(None, sys.path))
        try:
            self._ray.init(
                include_dashboard=False if self._address == LOCAL else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {"PYTHONPATH": paths}},
                **where,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _unreachable(self._address, error) from None

    async def play(self, job: Job) -> Outcome:
        index = min(range(len(self._actors)), key=self._held.__getitem__)
        self._held[index] += 1
        try:
            result, life, meter = await self._actors[index].play.remote(job)
        except self._ray.exceptions.RayError as error:
            raise WorkerDied(f"a Ray worker failed: {type(error).__name__}") from None
        finally:
            self._held[index] -= 1
        self._count_up(life, meter)
        self._understood(result)
        assert isinstance(result, Outcome)
        return result

    def _count_up(self, life: str, meter: Meter) -> None:
        """Take over what an actor has counted, unless it has told more before: results may overtake."""
        before = self._meters.get(life, Meter())
        if (meter.calls, meter.cached, meter.retries) >= (before.calls, before.cached, before.retries):
            self._meters[life] = meter

    @property
    def meter(self) -> Meter:
        return Meter.sum(self._meters.values())

    @staticmethod
    def _understood(result: Outcome | str) -> None:
        if isinstance(result, str) and result:
            raise UsageError(result)

    async def close(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        if self._own:
            self._ray.shutdown()


def _check_reachable(address: str) -> None:
    """Try the door first: Ray itself would wait for minutes before a door that is not there."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), _SECONDS_TO_OPEN).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from None


def _unreachable(address: str, error: Exception) -> BadOption:
    told = " ".join(str(error).split())[:200]
    return BadOption(f"no Ray cluster can be reached at {address!r}: {told}.")


class RayWorker:
    """A player inside a Ray actor. The sentence of a usage error comes back as text."""

    def __init__(self, plan: bytes, suite: str, concurrency: int, processes: int) -> None:
        self._plan, self._suite, self._shares = plan, suite, (concurrency, processes)
        self._player: JobRunner | None = None
        self._life = token_hex(8)

    async def ready(self) -> str:
        """Seat everybody once; empty when all is well."""
        try:
            self._made().check()
        except UsageError as error:
            return str(error)
        return ""

    async def play(self, job: Job) -> tuple[Outcome | str, str, Meter]:
        """Play one job; gives back what all jobs of this life have consumed as well."""
        player = self._made()
        try:
            outcome: Outcome | str = await player.play(job)
        except UsageError as error:
            outcome = str(error)
        return outcome, self._life, player.meter

    def _made(self) -> JobRunner:
        # Not in the constructor: its errors would reach the driver as the death of an actor.
        if self._player is None:
            import_suite(self._suite)  # the driver has accepted its name
            self._player = JobRunner(Plan.from_json(self._plan), *self._shares)
        return self._player
