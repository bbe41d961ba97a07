"""Plays episodes in actors on a Ray cluster.

API keys are not sent along: the nodes must have them in their own environment.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadOption, MissingExtra
from ludens.core.processes import WorkerDied
from ludens.models.ledger import Budget, Ledger, RemoteLedger
from ludens.run.plan import Job, Plan
from ludens.run.rows import Outcome
from ludens.run.store import Store
from ludens.run.workers import Report, Worker, WorkerExecutor

LOCAL = "local"
_CONNECT_SECONDS = 10.0
_RESTART_SECONDS = 1.0


class RayExecutor(WorkerExecutor):
    """One actor per CPU of the cluster, unless a number is given.

    Ray restarts actors that die, on another node if theirs is lost. Until then, which can take forever where
    no CPU is free, their jobs go to the others.
    """

    def __init__(
        self, plan: Plan, address: str, count: int = 0, concurrency: int = 1, budget: Budget | None = None
    ) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # sending statistics needs consent
        try:
            import ray
        except ImportError:
            raise MissingExtra("running on Ray", "ray") from None
        super().__init__(plan, count, concurrency, budget)
        self._ray, self._address = ray, address
        self._actors: list[Any] = []
        self._restarts: dict[int, asyncio.Task[None]] = {}
        """Actors that died and have not answered since."""
        self._ledgers: list[_ActorLedger | None] = []
        self._connected = False

    async def start(self, store: Store | None = None) -> None:
        ray = self._ray
        self._destination = store.destination() if store is not None else None
        if not ray.is_initialized():
            self._connect()
            self._connected = True
        self._count = self._count or max(1, int(ray.cluster_resources().get("CPU", 1)))
        options = {"num_cpus": 1, "max_concurrency": self._concurrency_each, "max_restarts": -1}
        actor = ray.remote(**options)(Worker)
        self._ledgers = self._make_ledgers()
        self._actors = [actor.remote(*self._worker_args, ledger) for ledger in self._ledgers]
        for worker in self._actors:
            (await worker.ready.remote()).unwrap()

    async def probe(self) -> None:
        """Keys may exist only on the nodes, so the first worker does it."""
        try:
            report: Report = await self._actors[0].probe.remote()
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, AgentFailure):
                raise error.cause from None
            raise
        report.unwrap()
        self._add_report(report)

    def _make_ledgers(self) -> list[_ActorLedger | None]:
        if self._ledger is None:
            return [None] * self._count
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        this_node = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=True)
        options = {"num_cpus": 0, "max_concurrency": 100_000, "scheduling_strategy": this_node}
        actor = self._ray.remote(**options)(_LedgerActor).remote(self._ledger)
        return [_ActorLedger(actor, worker) for worker in range(self._count)]

    def _connect(self) -> None:
        options: dict[str, Any] = {"address": self._address}
        if self._address == LOCAL:
            options |= {"num_cpus": self._count or None, "include_dashboard": False}
        _check_reachable(self._address)
        # Workers must find what this process can import: suites and games of other packages.
        paths = os.pathsep.join(filter(None, sys.path))
        try:
            self._ray.init(
                log_to_driver=False,
                logging_level=logging.ERROR,
                runtime_env={"env_vars": {"PYTHONPATH": paths}},
                **options,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _unreachable(self._address, error) from None

    async def play(self, job: Job) -> Outcome:
        while len(self._restarts) == self._count:
            restarts, _ = await asyncio.wait(self._restarts.values(), return_when=asyncio.FIRST_COMPLETED)
            for task in restarts:
                task.result()  # raises the usage error of an actor that cannot play the plan
        return await super().play(job)

    @property
    def _available(self) -> Sequence[int]:
        return [worker for worker in range(self._count) if worker not in self._restarts]

    async def _restarted(self, worker: int) -> None:
        while True:
            try:
                report = await self._actors[worker].ready.remote()
                break
            except self._ray.exceptions.RayError:
                await asyncio.sleep(_RESTART_SECONDS)
        report.unwrap()
        del self._restarts[worker]

    async def _send(self, worker: int, job: Job) -> Report:
        try:
            report: Report = await self._actors[worker].play.remote(job)
        except self._ray.exceptions.RayError as error:
            if worker not in self._restarts:
                self._restarts[worker] = asyncio.create_task(self._restarted(worker))
            if (ledger := self._ledgers[worker]) is not None:
                ledger.abandon()
            raise WorkerDied(f"a Ray worker failed: {type(error).__name__}") from None
        return report

    def stop_waiting(self) -> None:
        for actor in self._actors:
            actor.stop_waiting.remote()

    async def close(self) -> None:
        for task in self._restarts.values():
            task.cancel()
        await asyncio.gather(*self._restarts.values(), return_exceptions=True)
        for actor in self._actors:
            self._ray.kill(actor)
        if self._connected:
            self._ray.shutdown()


class _LedgerActor:
    """The ledger of a run, with the reservations of each worker."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reserved: defaultdict[int, list[Usage]] = defaultdict(list)

    async def reserve(self, worker: int, expected: Usage) -> str:
        reason = await self._ledger.reserve(expected)
        if not reason:
            self._reserved[worker].append(expected)
        return reason

    async def settle(self, worker: int, expected: Usage, actual: Usage) -> None:
        if expected in self._reserved[worker]:
            self._reserved[worker].remove(expected)
            self._ledger.settle(expected, actual)

    async def abandon(self, worker: int) -> None:
        """Count the reserved calls of a dead worker as sent."""
        for expected in self._reserved.pop(worker, []):
            self._ledger.settle(expected, expected)


class _ActorLedger(RemoteLedger):
    def __init__(self, actor: Any, worker: int) -> None:
        super().__init__()
        self._actor, self._worker = actor, worker

    async def reserve(self, expected: Usage) -> str:
        from ray.exceptions import RayError

        try:
            return await super().reserve(expected)
        except RayError as error:
            raise AgentFailure(f"the budget cannot be checked: {type(error).__name__}.") from None

    def ask(self, expected: Usage) -> asyncio.Future[str]:
        return asyncio.wrap_future(self._actor.reserve.remote(self._worker, expected).future())

    def settle(self, expected: Usage, actual: Usage) -> None:
        self._actor.settle.remote(self._worker, expected, actual)

    def abandon(self) -> None:
        self._actor.abandon.remote(self._worker)


def _check_reachable(address: str) -> None:
    """Connect to the address first: Ray itself would retry for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        if parts.hostname and parts.port:
            socket.create_connection((parts.hostname, parts.port), _CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise _unreachable(address, error) from None


def _unreachable(address: str, error: Exception) -> BadOption:
    reason = " ".join(str(error).split())[:200]
    return BadOption(f"cannot reach a Ray cluster at {address!r}: {reason}.")
