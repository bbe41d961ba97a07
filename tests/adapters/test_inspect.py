"""Inspect: suites as its tasks, runs as its logs. Scores and intervals are those of `ludens eval`."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect: runs with `make adapters`")

from inspect_ai.log import EvalLog, read_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from ludens.adapters.inspect import suite_task  # noqa: E402
from ludens.adapters.inspect_logs import export_logs  # noqa: E402
from ludens.cli import main  # noqa: E402
from ludens.core.episode import Episode  # noqa: E402
from ludens.core.verify import verify  # noqa: E402
from ludens.evaluation import evaluate  # noqa: E402
from ludens.rebuild import samples  # noqa: E402
from ludens.run.results import load_results  # noqa: E402
from tests.support.model_server import ModelServer, pick  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Inspect are not ours


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """Inspect leaves sockets and event loops open: they are closed while warnings are ignored."""
    yield
    gc.collect()


def reply(prompt: str) -> str:
    """A scripted model: one of the listed actions, by a hash of the words."""
    return pick(prompt, blake2b(prompt.encode(), digest_size=16).digest())


def scripted(name: str = "mockllm/scripted") -> Any:
    def output(messages: list[Any], tools: Any, choice: Any, config: Any) -> ModelOutput:
        made = ModelOutput.from_content(name, reply("\n".join(message.text for message in messages)))
        made.usage = ModelUsage(input_tokens=100, output_tokens=5, total_tokens=105)
        return made

    return get_model("mockllm/scripted", custom_outputs=output, memoize=False)


def inspect_eval(task: Any, tmp_path: Path, **rest: Any) -> EvalLog:
    [log] = inspect_ai.eval(
        task, model=rest.pop("model", scripted()), log_dir=str(tmp_path / "logs"), display="none", **rest
    )
    assert log.status == "success", log.error
    return log


def test_the_version() -> None:
    assert inspect_ai.__version__ >= "0.3.285"


def test_scores_and_intervals_are_those_of_ludens_eval(tmp_path: Path) -> None:
    tasks = ("reason/kuhn", "decide/kuhn", "decide/tiny_hanabi", "decide/coin_dilemma")

    async def serve() -> Any:
        async with ModelServer(player=lambda prompt, _: reply(prompt)) as server:
            model = f"compat/scripted@{server.url}"
            run = asyncio.to_thread(
                evaluate, "vs-bench-mini", [model], tasks=tasks, limit=4, out=tmp_path / "run"
            )
            return await run

    [ours] = asyncio.run(serve()).results.suites[0].rows
    log = inspect_eval(suite_task("vs-bench-mini", tasks, limit=4), tmp_path)
    [score] = log.results.scores
    theirs = {name: metric.value for name, metric in score.metrics.items()}
    for name, cell in ours.cells.items():
        estimate = cell.table_estimate()
        assert (theirs[name], theirs[f"{name} low"], theirs[f"{name} high"]) == pytest.approx(
            (estimate.mean, estimate.low, estimate.high), nan_ok=True
        )
    assert {name.removesuffix(" low") for name in theirs if name.endswith(" low")} >= set(tasks)


def test_episodes_in_the_log_can_be_verified_and_hold_their_pictures(tmp_path: Path) -> None:
    log = inspect_eval(suite_task("demo", "tic_tac_toe", limit=2), tmp_path)
    for sample in read_eval_log(log.location, resolve_attachments=True).samples or ():
        episode = Episode.from_json(sample.store["episode"])
        verify(episode)
        assert all(one.pictures for one in samples(episode) if one.model)
        shown = [part for message in sample.messages for part in message.content if not isinstance(part, str)]
        assert any(part.type == "image" and part.image.startswith("data:image/png") for part in shown)


def test_a_role_takes_the_seat_of_its_name(tmp_path: Path) -> None:
    other = scripted("mockllm/other")
    log = inspect_eval(suite_task("demo", "tic_tac_toe", limit=2), tmp_path, model_roles={"o": other})
    episodes = [Episode.from_json(sample.store["episode"]) for sample in log.samples or ()]
    assert any(episode.seats["o"].startswith("inspect/mockllm/") for episode in episodes)
    assert all(episode.seats["x"].startswith("inspect/") or episode.seats["x"] for episode in episodes)


def test_seats_of_the_user_and_prompt_options(tmp_path: Path) -> None:
    task = suite_task("demo", "tic_tac_toe", limit=2, seats={"o": "bot/first"}, prompt={"style": "cot"})
    log = inspect_eval(task, tmp_path)
    for sample in log.samples or ():
        seats = Episode.from_json(sample.store["episode"]).seats
        assert seats["o"] == "bot/first"
        assert seats["x"].endswith("?style=cot")


async def test_the_command_plays_through_a_provider_of_inspect(tmp_path: Path) -> None:
    words = ["eval", "ludens/vs-bench-mini", "--model", "openai-api/local/scripted", "--display", "plain"]
    words += ["-T", "tasks=decide/tiny_hanabi", "-T", "limit=2", "--log-dir", str(tmp_path / "logs")]
    async with ModelServer(player=lambda prompt, _: reply(prompt)) as server:
        keys = {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": server.url}
        command = [str(Path(sys.executable).with_name("inspect")), *words]
        run = partial(subprocess.run, command, cwd=tmp_path, env={**os.environ, **keys}, check=False)
        assert (await asyncio.to_thread(run)).returncode == 0
    [file] = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(file))
    assert log.status == "success"
    assert len(log.samples) == 2
    assert "decide/tiny_hanabi low" in log.results.scores[0].metrics
    messages = [message for sample in log.samples for message in sample.messages]
    assert server.met["ok"] == sum(message.role == "assistant" for message in messages)


def test_a_run_as_logs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    evaluate("demo", ["bot/best"], tasks=["tic_tac_toe"], limit=4, out=run)
    assert main(["export", str(run), "--to", "inspect", "--out", str(tmp_path / "logs")]) == 0
    [file] = (tmp_path / "logs").iterdir()
    log = read_eval_log(str(file), resolve_attachments=True)
    results = load_results([run])
    [row] = results.suites[0].rows
    estimate = row.cells["tic_tac_toe"].table_estimate()
    metrics = log.results.scores[0].metrics
    assert (metrics["mean"].value, metrics["low"].value) == (estimate.mean, estimate.low)
    assert len(log.samples) == 4
    for sample in log.samples:
        assert any("data:image/png" in str(message.content) for message in sample.messages)
    assert export_logs(results, tmp_path / "again")
