"""Errors of a provider are retried, reported once, and never become a move."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import Counter

import pytest

from ludens.core.errors import AgentFailure, BadOption, ModelRejected, UsageError
from ludens.models import model
from ludens.models.client import Client
from tests.models.conftest import Reach, question
from tests.support.model_server import PASSING, ModelServer

RETRIED = [
    ("409", "server"),
    ("429", "rate"),
    ("500", "server"),
    ("501", "server"),
    ("502", "server"),
    ("503", "server"),
    ("504", "server"),
    ("error_200", "server"),
    ("choice_error", "server"),
    ("abort", "server"),
    ("reset", "connection"),
    ("half", "broken"),
    ("wrong_json", "broken"),
    ("html", "broken"),
    ("array", "broken"),
    ("empty_choices", "broken"),
    ("no_message", "broken"),
    ("429_seconds", "rate"),
    ("429_date", "rate"),
]


@pytest.mark.parametrize(("fault", "kind"), RETRIED)
async def test_transient_errors_are_retried(fault: str, kind: str, reach: Reach) -> None:
    async with ModelServer(script=[fault, "ok", fault]) as server:
        model = reach(server)
        expected = await model.answer(question())
        again = await model.answer(question())
    assert expected.text == again.text
    assert expected.text.startswith("Action: ")
    assert expected.usage.calls == 1
    assert model.counts == Counter({"calls": 2, "retries": 2, kind: 2})
    assert server.met == Counter({"ok": 2, fault: 2})


async def test_many_errors_lose_no_answer(reach: Reach) -> None:
    questions = [question(f"Question {n}. Legal actions: a, b, c, d, e") for n in range(200)]
    async with ModelServer() as reliable:
        model = reach(reliable, "concurrency=16")
        expected = [(await model.answer(q)).text for q in questions]
    async with ModelServer(chaos=0.4) as server:
        unreliable = reach(server, "concurrency=16")
        answers = await asyncio.gather(*map(unreliable.answer, questions))
    assert [answer.text for answer in answers] == expected
    assert server.met["ok"] == 200
    assert all(server.met[fault] for fault in PASSING)
    assert len(server.requests) == 200 + unreliable.counts["retries"]
    assert server.busiest <= 16


async def test_waits_for_a_server_that_is_down(reach: Reach) -> None:
    server = ModelServer()
    await server.start()
    model = reach(server, "backoff=0.02")
    before = await model.answer(question())
    await server.stop()
    waiting = [asyncio.create_task(model.answer(question(f"legal actions: a{n}"))) for n in range(8)]
    async with asyncio.timeout(60):
        while model.counts["connection"] < 8:
            await asyncio.sleep(0.01)
    assert not any(task.done() for task in waiting)
    await server.start()
    answers = await asyncio.gather(*waiting)
    await server.stop()
    assert before.text.startswith("Action: ")
    assert [answer.text for answer in answers] == [f"Action: a{n}" for n in range(8)]


async def test_timeout(reach: Reach) -> None:
    async with ModelServer(script=["hang"]) as server:
        model = reach(server, "timeout=0.1")
        answer = await model.answer(question())
    assert answer.text.startswith("Action: ")
    assert model.counts["timeout"] >= 1  # more where the machine is slow


async def test_failure_after_all_retries(reach: Reach) -> None:
    async with ModelServer(script=["503"] * 99) as server:
        with pytest.raises(AgentFailure, match=r"vllm/tiny gave no answer in 4 attempts .*HTTP 503"):
            await reach(server, "retries=3").answer(question())
        assert len(server.requests) == 4
        with pytest.raises(AgentFailure, match="gave no answer"):
            await reach(server, "deadline=0.05&backoff=0.01").answer(question())


async def test_pauses_double_up_to_the_longest(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(self: Client, seconds: float) -> None:
        pauses.append(seconds)

    async with ModelServer(script=["503"] * 8) as server:
        asked = reach(server, "backoff=1")
        monkeypatch.setattr("ludens.models.client.Client._sleep", sleep)
        await asked.answer(question())
        monkeypatch.undo()
    longest = [1, 2, 4, 8, 16, 30, 30, 30]
    # Half of each pause is random.
    assert len(pauses) == len(longest)
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, longest, strict=True))
    assert len({pause / most for pause, most in zip(pauses, longest, strict=True)}) == 8


async def test_retries_are_logged_once(reach: Reach, caplog: pytest.LogCaptureFixture) -> None:
    async with ModelServer(script=["503"] * 5) as server:
        await reach(server).answer(question())
    [record] = caplog.records
    assert "vllm/tiny: HTTP 503" in record.message
    assert "retrying for up to 600 s" in record.message


async def test_requested_wait_longer_than_the_deadline(reach: Reach) -> None:
    async with ModelServer(script=["429_hour"]) as server:
        with pytest.raises(AgentFailure, match="asks to wait 3600 s"):
            await reach(server).answer(question())
        assert len(server.requests) == 1


async def test_requested_wait_pauses_every_call_to_the_model(reach: Reach) -> None:
    async with ModelServer(script=["429_seconds"]) as server:
        model = reach(server)
        first = asyncio.create_task(model.answer(question()))
        while not model.counts["rate"]:
            await asyncio.sleep(0.001)
        await model.answer(question())
        await first
    rejected, *later = server.arrivals
    assert len(later) == 2
    assert all(arrival - rejected >= 0.3 for arrival in later)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("unknown_model", r"vllm/tiny: no such model at http://127.*does not exist"),
        ("bad_key", r"vllm/tiny: .* does not accept the API key"),
        ("forbidden", r"vllm/tiny: .* does not accept the API key"),
        ("no_credit", r"vllm/tiny: the account has no credit left"),
        ("moved", r"is not the address of a model server"),
        ("bad_request", r"vllm/tiny rejects this request \(HTTP 400: Invalid image"),
    ],
)
async def test_permanent_errors_are_not_retried(fault: str, words: str, reach: Reach) -> None:
    async with ModelServer(script=[fault]) as server:
        with pytest.raises(ModelRejected, match=words) as caught:
            await reach(server).answer(question())
        assert len(server.requests) == 1
    assert isinstance(caught.value, UsageError)
    assert "\n" not in str(caught.value)


async def test_rejected_request_after_accepted_ones_fails_one_episode(reach: Reach) -> None:
    async with ModelServer(script=["ok", "bad_request", "ok"]) as server:
        model = reach(server)
        await model.answer(question())
        with pytest.raises(AgentFailure, match="Invalid image"):
            await model.answer(question())
        assert (await model.answer(question())).finish == "stop"


async def test_too_long_conversation_fails_one_episode(reach: Reach) -> None:
    async with ModelServer(script=["too_long"]) as server:
        with pytest.raises(AgentFailure, match="maximum context length"):
            await reach(server).answer(question())


@pytest.mark.parametrize("fault", ["bad_key", "forbidden", "echo_500", "echo_html"])
async def test_no_error_contains_the_key(
    fault: str, reach: Reach, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    async with ModelServer(script=[fault] * 9) as server:
        model = reach(server, "retries=1", name="openai/tiny")
        with pytest.raises((ModelRejected, AgentFailure)) as caught:
            await model.answer(question())
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "very-secret" not in repr(chain)
        assert "very-secret" not in str(chain)
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
    assert "very-secret" not in caplog.text + repr(model) + model.spec + repr(model.counts)
    assert "***" in str(caught.value)


async def test_no_error_contains_the_password_of_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []

    async def reject(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    async with await asyncio.start_server(reject, "127.0.0.1") as proxy:
        port = proxy.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://me:very%3Asecret@127.0.0.1:{port}")
        async with model("openai/tiny@https://model.invalid/v1?retries=0") as asked:
            with pytest.raises(
                AgentFailure, match=r"the proxy refuses the connection \(HTTP 407\)"
            ) as caught:
                await asked.answer(question())
    assert "secret" not in str(caught.value)
    assert b64encode(b"me:very:secret") in heard[0]


@pytest.mark.parametrize("proxy", ["socks5://me:secret@127.0.0.1:1", "http://", "secret://"])
async def test_invalid_proxy(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    async with model("vllm/tiny@http://model.invalid/v1") as asked:
        with pytest.raises(BadOption, match="http_proxy in the environment must be") as caught:
            await asked.answer(question())
    assert "secret" not in str(caught.value)
