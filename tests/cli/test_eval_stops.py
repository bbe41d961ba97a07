"""Stopping `ludens eval` by Ctrl-C once and twice and by kill -9 at any moment, and resuming it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from ludens.core.random import stream
from ludens.run.lines import read_records
from ludens.run.rows import EPISODES
from ludens.run.store import read_progress
from tests.support.model_server import ModelServer
from tests.support.processes import children_of, is_alive
from tests.support.runs import HASTE, QUICK, TURNS, found, ludens, ludens_here, plan_of, played

ROUNDS = 60


def spec_of(server: ModelServer) -> str:
    return f"vllm/tiny@{server.url}?{HASTE}"


def moves(server: ModelServer) -> int:
    """The number of requests that were not probes."""
    return sum("Reply with the word OK" not in str(request) for request in server.requests)


def lines(run: Path) -> int:
    return len(read_progress(run)[0])


async def until_lines(run: Path, count: int) -> None:
    while lines(run) < count:
        await asyncio.sleep(0.01)


async def test_ctrl_c_once_finishes_episodes_in_flight(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(latency=0.05) as server:

        async def interrupt(process: asyncio.subprocess.Process) -> None:
            await until_lines(run, 1)
            process.send_signal(signal.SIGINT)

        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--concurrency", "2")
        ran = await ludens(*argv, meanwhile=interrupt)
        assert ran.code == 130, ran.err
        assert "stopping (interrupted): waiting for" in ran.err
        assert f"ludens resume {run}" in ran.err
        assert "Traceback" not in ran.err
        done = lines(run)
        assert 1 <= done < 8
        again = await ludens_here("resume", str(run), "--suite", TURNS)
        assert again.code == 0, again.err
        calls, serial = moves(server), tmp_path / "serial"
        await played(serial, plan_of(spec_of(server), suite=TURNS))
    assert found(run).keys() == {key.replace(spec_of(server), "tiny") for key in found(serial)}
    assert sorted(found(run).values()) == sorted(found(serial).values())
    # Episodes in flight were finished and saved: both parts together made as many calls as a serial run.
    assert calls == moves(server) - calls


async def test_ctrl_c_twice_stops_now(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(script=[*["ok"] * 12, *["hang"] * 50]) as server:

        async def interrupt(process: asyncio.subprocess.Process) -> None:
            await until_lines(run, 1)
            while server.met["hang"] < 1:
                await asyncio.sleep(0.01)
            process.send_signal(signal.SIGINT)
            await asyncio.sleep(1.2)
            assert process.returncode is None
            process.send_signal(signal.SIGINT)

        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--concurrency", "2")
        ran = await asyncio.wait_for(ludens(*argv, meanwhile=interrupt), 60)
    assert ran.code == 130
    assert "Ctrl-C again to stop now" in ran.err
    assert ran.err.splitlines()[-1].endswith(f"ludens resume {run} --suite {TURNS} --concurrency 2")
    assert "Traceback" not in ran.err
    assert lines(run) >= 1


async def test_sigterm_to_all_processes_finishes_episodes_in_flight(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(latency=0.05) as server:

        async def terminate(process: asyncio.subprocess.Process) -> None:
            await until_lines(run, 1)
            for one in (process.pid, *children_of(process.pid)):
                os.kill(one, signal.SIGTERM)

        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--concurrency", "4")
        ran = await ludens(*argv, "--workers", "2", meanwhile=terminate)
        assert ran.code == 130, ran.err
        assert "void" not in ran.err
        assert 1 <= lines(run) < 8
        # Every answer is in a saved episode.
        recorded = [record.episode.usage().calls for record in read_records(run)]
        assert sum(recorded) == moves(server)


async def test_second_process_is_rejected(tmp_path: Path) -> None:
    run = tmp_path / "run"
    async with ModelServer(latency=0.1) as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--limit", "2", "--concurrency", "1")

        async def meet(process: asyncio.subprocess.Process) -> None:
            await until_lines(run, 1)
            process.send_signal(signal.SIGSTOP)
            try:
                second = await ludens_here(*argv)
            finally:
                process.send_signal(signal.SIGCONT)
            assert second.code == 2
            assert second.err.splitlines()[-1] == f"ludens: another process is writing to {str(run)!r}."

        first = await ludens(*argv, meanwhile=meet)
    assert first.code == 0, first.err
    assert lines(run) == 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
async def test_killed_at_random_moments_until_complete(tmp_path: Path, workers: int) -> None:
    """Every process adds episodes, none is lost, and the result is that of a serial run."""
    run, random = tmp_path / "run", stream(workers, "kill")
    async with ModelServer(latency=0.02) as server:
        spec = spec_of(server)
        await played(tmp_path / "serial", plan_of(spec, "bot/random"))
        expected = found(tmp_path / "serial")
        argv = ["eval", QUICK, "-m", spec, "--name", spec, "-m", "bot/random", "--name", "bot/random"]
        argv += ["--out", str(run), "--concurrency", "3", "--workers", str(workers)]
        kills, seen = 0, dict[str, str]()
        for _ in range(ROUNDS):

            async def kill(process: asyncio.subprocess.Process, early: bool = kills < 3) -> None:
                # Short enough that the first processes cannot finish, however fast the machine.
                before, patience = lines(run), random.random() * (0.01 if early else 0.4)
                while process.returncode is None and lines(run) == before:
                    await asyncio.sleep(0.005)
                await asyncio.sleep(patience)
                if process.returncode is None:
                    process.send_signal(signal.SIGKILL)

            ran = await ludens(*argv, meanwhile=kill)
            now = found(run)
            assert seen.items() <= now.items()
            seen = now
            if ran.code == 0:
                break
            if now.keys() != expected.keys():
                assert ran.code == -signal.SIGKILL, ran.err
            kills += 1
            if random.random() < 0.5 and (run / EPISODES).exists():  # an incomplete line
                with (run / EPISODES).open("ab") as file:
                    file.write(b'{"key":"torn","entrant":"x","task":"t"'[: random.below(38) + 1])
    assert ran.code == 0, ran.err
    assert kills >= 3
    assert seen == expected


async def test_killed_run_leaves_no_workers_behind(tmp_path: Path) -> None:
    run = tmp_path / "run"
    children: list[int] = []

    async def kill(process: asyncio.subprocess.Process) -> None:
        await until_lines(run, 1)
        children.extend(children_of(process.pid))
        process.send_signal(signal.SIGKILL)

    async with ModelServer(latency=0.05) as server:
        argv = ("eval", TURNS, "-m", spec_of(server), "--out", str(run), "--workers", "2")
        ran = await ludens(*argv, meanwhile=kill)
        assert (ran.code, "Traceback" in ran.err) == (-signal.SIGKILL, False), ran.err
        assert len(children) >= 2
        for _ in range(500):
            if not any(is_alive(child) for child in children):
                break
            await asyncio.sleep(0.02)
    assert [child for child in children if is_alive(child)] == []


if not os.path.isdir("/proc/self"):
    skip = pytest.mark.skip("needs /proc")
    test_killed_run_leaves_no_workers_behind = skip(test_killed_run_leaves_no_workers_behind)
    test_sigterm_to_all_processes_finishes_episodes_in_flight = skip(
        test_sigterm_to_all_processes_finishes_episodes_in_flight
    )
