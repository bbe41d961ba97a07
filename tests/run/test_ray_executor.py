"""The same episodes on a Ray cluster of two workers."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from ludens.core.errors import BadOption, MissingExtra, UsageError
from ludens.run.meter import Meter
from ludens.run.ray_executor import RayExecutor
from ludens.run.task import SUITES
from tests.support import suites
from tests.support.model_server import ModelServer
from tests.support.runs import HASTE, found, plan_of, played

pytestmark = [
    pytest.mark.slow,
    # Ray's own sockets and files, which it closes in its own time.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


def _needs_ray() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("ray", reason="Ray is not installed: pip install 'ludens[ray]'")


async def test_ray_is_serial_for_bots_and_for_a_model(tmp_path: Path) -> None:
    _needs_ray()
    async with ModelServer() as server:
        plan = plan_of("bot/random", f"vllm/tiny@{server.url}?{HASTE}")
        await played(tmp_path / "serial", plan)
        ending = await played(tmp_path / "ray", plan, concurrency=8, ray="local", workers=2)
    assert ending.complete
    # The serial run asked just as often.
    assert ending.tally.meter.calls == len(server.requests) / 2
    assert found(tmp_path / "ray") == found(tmp_path / "serial")


async def test_what_nodes_do_not_know_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _needs_ray()
    monkeypatch.setattr(SUITES, "_added", {"mine": suites.TURNS})
    with pytest.raises(UsageError, match="unknown suite 'mine'"):
        await played(tmp_path / "run", plan_of(suite="mine"), ray="local", workers=1)


def test_calls_are_counted_once_in_whatever_order_results_come() -> None:
    _needs_ray()
    there = RayExecutor(plan_of(), "local", 2)
    for life, calls in (("first", 10), ("first", 30), ("first", 20), ("second", 5), ("first again", 3)):
        there._count_up(life, Meter(calls))
    assert there.meter == Meter(30 + 5 + 3)


async def test_no_cluster_is_told() -> None:
    _needs_ray()
    with pytest.raises(BadOption, match=r"no Ray cluster can be reached at '127\.0\.0\.1:1'"):
        await RayExecutor(plan_of(), "127.0.0.1:1").start()


def test_ray_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ludens\[ray\]'"):
        RayExecutor(plan_of(), "local")
