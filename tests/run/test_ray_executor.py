"""Episodes played on Ray are those of a serial run, also when a node is lost."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from pathlib import Path

import pytest

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra, UsageError
from ludens.run.lines import LineReader, shards_of
from ludens.run.progress import RunProgress
from ludens.run.ray_executor import RayExecutor
from ludens.run.rows import EPISODES
from ludens.run.store import Store
from ludens.run.task import SUITES
from ludens.run.workers import Report
from tests.support import suites
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, TURNS, found, plan_of, played

pytestmark = [
    pytest.mark.slow,
    # Ray leaves sockets and files open for a while.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


def _needs_ray() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("ray", reason="Ray is not installed: pip install 'ludens[ray]'")


async def test_ray_plays_the_same_episodes_as_a_serial_run(tmp_path: Path) -> None:
    _needs_ray()
    async with ModelServer() as server:
        plan = plan_of("bot/random", f"vllm/tiny@{server.url}?{HASTE}")
        await played(tmp_path / "serial", plan)
        result = await played(tmp_path / "ray", plan, concurrency=8, ray="local", workers=2)
    assert result.complete
    # The serial run made as many calls.
    assert result.progress.usage.calls == len(server.requests) / 2
    assert found(tmp_path / "ray") == found(tmp_path / "serial")


async def test_lost_node(tmp_path: Path) -> None:
    """Three nodes with one worker each; one is killed while it plays."""
    _needs_ray()
    from ray.cluster_utils import Cluster

    plan = plan_of("test/slow?seconds=2", "bot/random", suite=TURNS)
    await played(tmp_path / "serial", plan, concurrency=16)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    saved: list[dict[str, str]] = []
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()

        def lose_node(progress: RunProgress) -> None:
            if progress.done >= 4 and not saved:
                saved.append(found(tmp_path / "ray"))
                cluster.remove_node(nodes[0], allow_graceful=False)

        async with asyncio.timeout(240):
            result = await played(
                tmp_path / "ray",
                plan,
                concurrency=6,
                ray=cluster.address,
                workers=3,
                on_progress=lose_node,
            )
    finally:
        cluster.shutdown()
    assert result.complete
    [before] = saved
    after = found(tmp_path / "ray")
    assert 4 <= len(before) < len(after)
    assert before.items() <= after.items()
    assert after == found(tmp_path / "serial")
    assert result.progress.voids > 0, "the lost node was playing"


@pytest.mark.parametrize("shared", [True, False])
async def test_two_nodes_store_in_shards(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Actors write to shards of their own; if their node does not share the folder, the driver writes."""
    _needs_ray()
    from ray.cluster_utils import Cluster

    plan = plan_of("bot/random", "bot/first", suite=TURNS)
    await played(tmp_path / "serial", plan)
    if not shared:
        destination = Store.destination
        elsewhere = str(tmp_path / "elsewhere")
        monkeypatch.setattr(Store, "destination", lambda store: destination(store)._replace(folder=elsewhere))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        async with asyncio.timeout(240):
            result = await played(tmp_path / "ray", plan, concurrency=4, ray=cluster.address, workers=2)
    finally:
        cluster.shutdown()
    assert result.complete
    assert found(tmp_path / "ray") == found(tmp_path / "serial")
    keys = [line.head.key for line in LineReader(tmp_path / "ray").read()]
    assert sorted(keys) == sorted(job.key for job in plan.jobs)
    shards = [name for name in shards_of(tmp_path / "ray") if name != EPISODES]
    assert len(shards) == (2 if shared else 0)


async def test_suite_unknown_to_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _needs_ray()
    monkeypatch.setattr(SUITES, "_added", {"mine": suites.TURNS})
    with pytest.raises(UsageError, match="unknown suite 'mine'"):
        await played(tmp_path / "run", plan_of(suite="mine"), ray="local", workers=1)


def test_calls_are_counted_once_in_any_order_of_reports() -> None:
    _needs_ray()
    executor = RayExecutor(plan_of(), "local", 2)
    for worker, calls in (("first", 10), ("first", 30), ("first", 20), ("second", 5), ("restarted", 3)):
        executor._add_report(Report("", worker, Usage(calls=calls), Counter()))
    assert executor.usage == Usage(calls=30 + 5 + 3)


async def test_unreachable_cluster_is_a_usage_error() -> None:
    _needs_ray()
    with pytest.raises(BadOption, match=r"cannot reach a Ray cluster at '127\.0\.0\.1:1'"):
        await RayExecutor(plan_of(), "127.0.0.1:1").start()


def test_missing_ray_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ludens\[ray\]'"):
        RayExecutor(plan_of(), "local")
