"""Every fault a provider can have, and the proof that nothing is lost by it."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import Counter

import pytest

from ludens.core.errors import AgentFailure, BadOption, ModelRejected, UsageError
from ludens.models import model
from tests.models.conftest import Reach, question
from tests.support.model_server import PASSING, ModelServer

RETRIED = [
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
async def test_passing_trouble_is_waited_out(fault: str, kind: str, reach: Reach) -> None:
    async with ModelServer(script=[fault, "ok", fault]) as server:
        model = reach(server)
        expected = await model.answer(question())
        again = await model.answer(question())
    assert expected.text == again.text
    assert expected.text.startswith("Action: ")
    assert expected.usage.calls == 1
    assert model.tally == Counter({"calls": 2, "retries": 2, kind: 2})
    assert server.met == Counter({"ok": 2, fault: 2})


async def test_a_storm_loses_nothing(reach: Reach) -> None:
    questions = [question(f"Question {n}. Legal actions: a, b, c, d, e") for n in range(200)]
    async with ModelServer() as calm:
        model = reach(calm, "concurrency=16")
        expected = [(await model.answer(q)).text for q in questions]
    async with ModelServer(chaos=0.4) as server:
        stormy = reach(server, "concurrency=16")
        answers = await asyncio.gather(*map(stormy.answer, questions))
    assert [answer.text for answer in answers] == expected
    assert server.met["ok"] == 200
    assert all(server.met[fault] for fault in PASSING)
    assert len(server.requests) == 200 + stormy.tally["retries"]
    assert server.busiest <= 16


async def test_a_server_that_is_down_is_waited_for(reach: Reach) -> None:
    server = ModelServer()
    await server.start()
    model = reach(server, "backoff=0.02")
    before = await model.answer(question())
    await server.stop()
    waiting = [asyncio.create_task(model.answer(question(f"legal actions: a{n}"))) for n in range(8)]
    await asyncio.sleep(0.15)
    assert not any(task.done() for task in waiting)
    await server.start()
    answers = await asyncio.gather(*waiting)
    await server.stop()
    assert before.text.startswith("Action: ")
    assert [answer.text for answer in answers] == [f"Action: a{n}" for n in range(8)]
    assert model.tally["connection"] >= 8


async def test_a_hanging_server_is_left_after_the_timeout(reach: Reach) -> None:
    async with ModelServer(script=["hang"]) as server:
        model = reach(server, "timeout=0.1")
        answer = await model.answer(question())
    assert answer.text.startswith("Action: ")
    assert model.tally["timeout"] == 1


async def test_patience_ends_in_a_failure_and_never_in_a_move(reach: Reach) -> None:
    async with ModelServer(script=["503"] * 99) as server:
        with pytest.raises(AgentFailure, match=r"vllm/tiny gave no answer in 4 tries .*HTTP 503"):
            await reach(server, "retries=3").answer(question())
        assert len(server.requests) == 4
        with pytest.raises(AgentFailure, match="gave no answer"):
            await reach(server, "patience=0.05&backoff=0.01").answer(question())


async def test_waiting_is_told_but_not_all_the_time(reach: Reach, caplog: pytest.LogCaptureFixture) -> None:
    async with ModelServer(script=["503"] * 5) as server:
        await reach(server).answer(question())
    [record] = caplog.records
    assert "vllm/tiny: HTTP 503" in record.message
    assert "trying again for up to 600 s" in record.message


async def test_a_rest_longer_than_patience_is_not_waited_for(reach: Reach) -> None:
    async with ModelServer(script=["429_hour"]) as server:
        with pytest.raises(AgentFailure, match="left alone for 3600 s"):
            await reach(server).answer(question())
        assert len(server.requests) == 1


async def test_a_rest_holds_for_every_call_to_the_model(reach: Reach) -> None:
    async with ModelServer(script=["429_seconds"]) as server:
        model = reach(server)
        first = asyncio.create_task(model.answer(question()))
        while not model.tally["rate"]:
            await asyncio.sleep(0.001)
        await model.answer(question())
        await first
    turned_away, *later = server.arrivals
    assert len(later) == 2
    assert all(arrival - turned_away >= 0.3 for arrival in later)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("unknown_model", r"vllm/tiny: there is no such model at http://127.*does not exist"),
        ("bad_key", r"vllm/tiny: the key is not accepted"),
        ("forbidden", r"vllm/tiny: the key is not accepted"),
        ("no_credit", r"vllm/tiny: the account has no credit left"),
        ("moved", r"is not the address of a model"),
        ("bad_request", r"vllm/tiny does not take this request \(HTTP 400: Invalid image"),
    ],
)
async def test_what_asking_again_cannot_mend_stops_at_once(fault: str, words: str, reach: Reach) -> None:
    async with ModelServer(script=[fault]) as server:
        with pytest.raises(ModelRejected, match=words) as caught:
            await reach(server).answer(question())
        assert len(server.requests) == 1
    assert isinstance(caught.value, UsageError)
    assert "\n" not in str(caught.value)


async def test_one_bad_request_among_good_ones_voids_only_its_episode(reach: Reach) -> None:
    async with ModelServer(script=["ok", "bad_request", "ok"]) as server:
        model = reach(server)
        await model.answer(question())
        with pytest.raises(AgentFailure, match="Invalid image"):
            await model.answer(question())
        assert (await model.answer(question())).finish == "stop"


async def test_a_conversation_that_grew_too_long_voids_only_its_episode(reach: Reach) -> None:
    async with ModelServer(script=["too_long"]) as server:
        with pytest.raises(AgentFailure, match="maximum context length"):
            await reach(server).answer(question())


@pytest.mark.parametrize("fault", ["bad_key", "forbidden", "echo_500", "echo_html"])
async def test_no_error_holds_the_key(
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
    assert "very-secret" not in caplog.text + repr(model) + model.spec + repr(model.tally)
    assert "***" in str(caught.value)


async def test_no_error_holds_the_password_of_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []

    async def turn_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    async with await asyncio.start_server(turn_away, "127.0.0.1") as proxy:
        port = proxy.sockets[0].getsockname()[1]
        monkeypatch.setenv("https_proxy", f"http://me:very%3Asecret@127.0.0.1:{port}")
        async with model("openai/tiny@https://model.invalid/v1?retries=0") as asked:
            with pytest.raises(AgentFailure, match=r"the proxy lets nothing through \(HTTP 407\)") as caught:
                await asked.answer(question())
    assert "secret" not in str(caught.value)
    assert b64encode(b"me:very:secret") in heard[0]


@pytest.mark.parametrize("proxy", ["socks5://me:secret@127.0.0.1:1", "http://", "secret://"])
async def test_a_proxy_that_cannot_be_used_is_told(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", proxy)
    async with model("vllm/tiny@http://model.invalid/v1") as asked:
        with pytest.raises(BadOption, match="http_proxy in the environment must be") as caught:
            await asked.answer(question())
    assert "secret" not in str(caught.value)
