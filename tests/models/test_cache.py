"""The same request is never paid for twice, by calls or by processes; different samples are."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.errors import AgentFailure, BadFile
from ludens.models import Answer, model
from ludens.models.cache import AnswerFile
from tests.models.conftest import Reach, question
from tests.support.model_server import ModelServer


async def test_cached_answer_costs_nothing(tmp_path: Path, reach: Reach) -> None:
    path = tmp_path / "deep" / "answers.db"
    async with ModelServer(script=["reasoning"]) as server:
        first = await reach(server, f"cache={path}").answer(question())
        model = reach(server, f"cache={path}")
        again = await model.answer(question())
        other = await model.answer(question("legal actions: z"))
        assert len(server.requests) == 2
    assert (again.text, again.finish, again.model, again.reasoning) == (
        first.text,
        first.finish,
        first.model,
        "Let me see.",
    )
    assert (again.cached, again.usage.calls, again.usage.input_tokens, again.usage.cost) == (True, 0, 0, None)
    assert (first.cached, other.cached, other.text) == (False, False, "Action: z")
    assert model.counts["cached"] == 1


async def test_cache_of_the_environment(
    tmp_path: Path, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUDENS_CACHE", str(tmp_path / "answers.db"))
    async with ModelServer() as server:
        for _ in range(2):
            await reach(server).answer(question())
        assert len(server.requests) == 1


async def test_concurrent_equal_requests_share_one_answer(tmp_path: Path, reach: Reach) -> None:
    async with ModelServer(latency=0.02) as server:
        model = reach(server, f"cache={tmp_path / 'a.db'}")
        answers = await asyncio.gather(*(model.answer(question()) for _ in range(20)))
        assert len(server.requests) == 1
    assert len({answer.text for answer in answers}) == 1
    assert sum(answer.usage.calls for answer in answers) == 1


async def test_samples_are_distinct_requests(tmp_path: Path, reach: Reach) -> None:
    async with ModelServer() as server:
        model = reach(server, f"seed=5&cache={tmp_path / 'a.db'}")
        samples = [replace(question(), sample=number) for number in range(8)]
        for _ in range(2):
            await asyncio.gather(*map(model.answer, samples))
    assert sorted(sent["seed"] for sent in server.requests) == list(range(5, 13))


async def test_failures_are_not_cached(tmp_path: Path, reach: Reach) -> None:
    async with ModelServer(script=["500"]) as server:
        model = reach(server, f"retries=0&cache={tmp_path / 'a.db'}")
        with pytest.raises(AgentFailure):
            await model.answer(question())
        assert (await model.answer(question())).text.startswith("Action: ")


async def test_cancelled_request_does_not_block_the_next(tmp_path: Path, reach: Reach) -> None:
    async with ModelServer(latency=0.1) as server:
        model = reach(server, f"cache={tmp_path / 'a.db'}")
        first, second = (asyncio.create_task(model.answer(question())) for _ in range(2))
        await asyncio.sleep(0.02)
        first.cancel()
        assert (await second).text.startswith("Action: ")


async def test_first_stored_answer_wins(tmp_path: Path) -> None:
    ours, theirs = AnswerFile(tmp_path / "a.db"), AnswerFile(tmp_path / "a.db")
    assert (await ours.get("k")) is None
    assert (await theirs.get("k")) is None
    assert (await ours.put("k", Answer("ours"))).text == "ours"
    late = await theirs.put("k", Answer("theirs"))
    assert (late.text, late.usage.calls) == ("ours", 1)
    ours.close()
    theirs.close()


WRITER = """
import asyncio, sys
from pathlib import Path
from ludens.models import Answer
from ludens.models.cache import AnswerFile

async def main():
    store = AnswerFile(Path(sys.argv[1]))
    texts = [(await store.put(str(n), Answer(sys.argv[2]))).text for n in range(200)]
    store.close()
    print(",".join(texts))

asyncio.run(main())
"""


def test_concurrent_processes_agree(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "abc"]
    seen = {writer.communicate()[0].strip() for writer in writers}
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert len(seen) == 1
    assert len(seen.pop().split(",")) == 200
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM answers").fetchone() == (200,)
    db.close()


async def test_file_that_is_no_cache(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, but long enough to be looked at" * 40)
    async with ModelServer() as server, model(f"vllm/tiny@{server.url}?cache={path}") as asked:
        with pytest.raises(BadFile, match="as a cache of answers"):
            await asked.answer(question())
        assert server.requests == []


@pytest.mark.parametrize("stored", [b"{", b"[]", b'{"txt": "a"}', b'{"text": 7}', b'{"text": null}'])
async def test_invalid_entry(stored: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = AnswerFile(path)
    await store.put("k", Answer("ours"))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE answers SET answer = ?", (stored,))
    db.close()
    with pytest.raises(BadFile, match="invalid entry"):
        await store.get("k")
    store.close()
