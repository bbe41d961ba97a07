"""OpenEnv: its own client plays tasks of suites over HTTP; scores are those of `ludens eval`."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest

pytest.importorskip("openenv", reason="openenv is not installed: run `make adapters`")

from openenv.core.generic_client import GenericEnvClient

from ludens import agent, make, play_sync
from ludens.adapters.openenv import LudensAction, LudensEnvironment
from ludens.core.errors import BadOption, UnknownName
from ludens.run.task import MODEL, EpisodeResult, entrant_seats, import_suite, suite
from tests.support.runs import QUICK

SUITE = QUICK
import_suite(SUITE)


def test_version() -> None:
    assert version("openenv").startswith("0.10.")


def first_of(observation: Any) -> str:
    """The reply of `bot/first`, as a model would write it."""
    return f"Action: {observation.legal[0]}" if observation.legal else ""


@pytest.mark.parametrize("task", suite(SUITE).tasks, ids=lambda task: task.name)
def test_scores_are_those_of_ludens(task: Any) -> None:
    env = LudensEnvironment(SUITE, sees="nothing")
    for index in range(min(3, task.episodes)):
        observation = env.reset(split=task.name, index=index)
        total = 0.0
        while not observation.done:
            observation = env.step(LudensAction(reply=first_of(observation)))
            total += observation.reward
        game, (seed, seating) = make(task.game), task.placed(index)
        specs = {seat: "bot/first" if s == MODEL else s for seat, s in task.seatings[seating].items()}
        agents = {seat: agent(spec, game) for seat, spec in specs.items()}
        episode = play_sync(game, agents, seed, config=task.config)
        seats = entrant_seats(task, seating)
        assert observation.metadata["returns"] == episode.returns
        result = EpisodeResult("", episode, seats)
        assert observation.metadata["metrics"] == {m.name: m.value(result) for m in task.metrics}
        assert total == pytest.approx(sum(episode.returns[seat] for seat in seats) / len(seats))


def test_retries_and_fallback_are_those_of_the_task() -> None:
    env = LudensEnvironment(SUITE)
    task = suite(SUITE).tasks[0]
    observation = env.reset(split=task.name)
    assert observation.rules
    assert observation.images[0].startswith("data:image/png;base64,")
    for _ in range(task.config.retries):
        observation = env.step(LudensAction(reply="no idea"))
        assert observation.refused
        assert not observation.rules
    observation = env.step(LudensAction(reply="no idea"))
    assert not observation.refused
    while not observation.done:
        observation = env.step(LudensAction(reply=first_of(observation)))
    with pytest.raises(BadOption, match="call reset"):
        env.step(LudensAction(reply="A1"))


def test_unknown_tasks_are_refused() -> None:
    env = LudensEnvironment(SUITE)
    with pytest.raises(UnknownName):
        env.reset(split="no such task")
    with pytest.raises(IndexError):
        env.get_task(env.list_splits()[0]["name"], 10**9)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "ludens", "openenv", SUITE, "--port", "0", "--sessions", "4"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "http://" in line, line + process.stderr.read()
        yield line.split(": ", 1)[1].strip()
        process.terminate()


def finish(client: Any, **choice: Any) -> dict[str, Any]:
    """Play an episode with the first legal action; returns the last observation."""
    result = client.reset(**choice)
    while not result.done:
        result = client.step({"reply": f"Action: {result.observation['legal'][0]}"})
    observation: dict[str, Any] = result.observation
    return {**observation, "metadata": result.metadata or observation.get("metadata")}


def test_clients_play_over_http(address: str) -> None:
    name = suite(SUITE).tasks[0].name
    local = LudensEnvironment(SUITE)
    here = local.reset(split=name, index=1)
    with GenericEnvClient(base_url=address).sync() as client:
        result = client.reset(split=name, index=1)
        assert result.observation["images"] == here.images
        data = result.observation["images"][0].partition(",")[2]
        assert base64.b64decode(data).startswith(b"\x89PNG")
        finish(client, split=name, index=0)


def test_sessions_do_not_disturb_each_other(address: str) -> None:
    name = suite(SUITE).tasks[0].name
    with GenericEnvClient(base_url=address).sync() as one, GenericEnvClient(base_url=address).sync() as other:
        first = one.reset(split=name, index=0)
        second = other.reset(split=name, index=0)
        assert first.observation["images"] == second.observation["images"]
        moved = one.step({"reply": f"Action: {first.observation['legal'][0]}"})
        assert len(moved.observation["legal"]) < len(second.observation["legal"])
        again = other.step({"reply": f"Action: {second.observation['legal'][0]}"})
        assert again.observation["images"] == moved.observation["images"]


def test_tasks_are_listed_over_http(address: str) -> None:
    import json
    from urllib.request import Request, urlopen

    tasks = suite(SUITE).tasks
    body = json.dumps({"split": tasks[0].name, "index": 1}).encode()
    head = {"Content-Type": "application/json"}
    with urlopen(f"{address}/ludens/splits") as answer:
        assert [s["name"] for s in json.load(answer)] == [task.name for task in tasks]
    with urlopen(Request(f"{address}/ludens/task", body, head)) as answer:
        task = json.load(answer)["task"]
    assert (task["index"], task["game"]) == (1, tasks[0].game)
