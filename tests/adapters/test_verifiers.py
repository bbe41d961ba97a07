"""verifiers: games and suites as environments, seats as agents with traces and rewards of their own."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

vf = pytest.importorskip("verifiers.v1", reason="verifiers: runs with `make adapters`")

from importlib.metadata import version  # noqa: E402

from verifiers.v1.utils.loaders import load_environment  # noqa: E402

from ludens.adapters.verifiers import LudensEnvConfig  # noqa: E402
from tests.support.model_server import ModelServer  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of verifiers are not ours

HARNESS = {"id": "ludens-verifiers", "history": "accumulated"}


@pytest.fixture(autouse=True)
def _collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LOCAL_KEY", "none")
    yield
    gc.collect()


async def played(server: ModelServer, taskset: dict[str, Any], **rest: Any) -> list[Any]:
    config = LudensEnvConfig(taskset={"id": "ludens-verifiers", **taskset}, **rest)
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=server.url, api_key_var="LOCAL_KEY")
    context = vf.ModelContext(model="m", client=client)
    async with env.serving():
        return [await env.run_episode(task, context) for task in env.taskset]


def test_the_version() -> None:
    assert version("verifiers") >= "0.4"


async def test_every_seat_is_an_agent_with_its_own_reward_and_pictures() -> None:
    async with ModelServer() as server:
        [episode] = await played(server, {"game": "tic_tac_toe", "episodes": 1})
    assert episode.ok, episode.errors
    traces = {trace.agent.name: trace for trace in episode.traces}
    assert traces.keys() == {"seat_1", "seat_2"}
    assert [traces[name].info["seat"] for name in ("seat_1", "seat_2")] == ["x", "o"]
    scores = {name: trace.rewards["return"].score for name, trace in traces.items()}
    assert sum(scores.values()) == 0
    assert scores["seat_1"] == traces["seat_1"].info["returns"]["x"]
    for body in server.requests:  # Ludens' own prompts: rules, and the position of this moment only
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert [part["type"] for part in body["messages"][-1]["content"]] == ["image_url", "text"]
    assert len(server.requests) == sum(trace.num_turns for trace in episode.traces)


async def test_accumulated_history() -> None:
    async with ModelServer() as server:
        agent = {"harness": HARNESS, "runtime": {"type": "subprocess"}}
        seats = {"o": "bot/first"}
        [episode] = await played(server, {"game": "tic_tac_toe", "episodes": 1, "seats": seats}, seat_1=agent)
    assert episode.ok, episode.errors
    [trace] = episode.traces
    assert [len(body["messages"]) for body in server.requests] == [
        2 * turn + 2 for turn in range(trace.num_turns)
    ]
    pictures = [sum("image_url" in json.dumps(m) for m in body["messages"]) for body in server.requests]
    assert pictures == list(range(1, trace.num_turns + 1))


async def test_suites_with_their_seatings_and_an_opponent() -> None:
    taskset = {"suite": "demo", "tasks": ["tic_tac_toe"], "episodes": 2}
    async with ModelServer() as server:
        episodes = await played(server, taskset)
        with_opponent = await played(server, {"game": "kuhn_poker", "episodes": 1, "seats": _opponent()})
    assert len(episodes) == 2
    assert all(episode.ok and len(episode.traces) == 1 for episode in episodes)
    [episode] = with_opponent
    assert {trace.agent.name: trace.agent.trainable for trace in episode.traces} == {
        "seat_1": True,
        "opponent": False,
    }


def _opponent() -> dict[str, str]:
    import ludens

    return {ludens.make("kuhn_poker").seats[1]: "opponent"}


async def test_a_failing_server_fails_the_episode_and_records_no_reward() -> None:
    async with ModelServer(script=["bad_key"] * 50) as server:
        [episode] = await played(server, {"game": "tic_tac_toe", "episodes": 1})
    assert not episode.ok
    assert not any(trace.rewards for trace in episode.traces)


async def test_the_command(tmp_path: Path) -> None:
    words = ["ludens-verifiers", "--env.taskset.game", "tic_tac_toe", "--env.taskset.episodes", "2"]
    words += ["-m", "m", "-n", "2", "-r", "1", "--no-push", "--no-rich"]
    async with ModelServer() as server:
        words += ["--client.base-url", server.url, "--client.api-key-var", "LOCAL_KEY"]
        command = [str(Path(sys.executable).with_name("vf-eval")), *words]
        run = partial(
            subprocess.run, command, cwd=tmp_path, env={**os.environ}, check=False, capture_output=True
        )
        done = await asyncio.to_thread(run)
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:]
    assert server.met["ok"] > 8
