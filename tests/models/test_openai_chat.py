"""The OpenAI chat format: what is sent and how answers are read."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from ludens.core.errors import BadOption
from ludens.models import Answer, Message, Request, model
from tests.models.conftest import Reach, picture, question
from tests.support.model_server import ModelServer


async def test_pictures_are_sent_as_data_uris_in_order(reach: Reach) -> None:
    shown = picture()
    messages = (Message("system", ("Play.",)), Message("user", ("Look:", shown, "What now?")))
    async with ModelServer(script=["reasoning"]) as server:
        answer = await reach(server, "detail=low").answer(Request(messages))
    [sent] = server.requests
    assert sent["model"] == "tiny"
    assert sent["messages"] == [
        {"role": "system", "content": "Play."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": shown.data_uri(), "detail": "low"}},
                {"type": "text", "text": "What now?"},
            ],
        },
    ]
    assert set(sent) == {"model", "messages"}
    assert answer.model == "tiny-2025"
    assert (answer.usage.input_tokens, answer.usage.reasoning_tokens, answer.usage.images) == (100, 7, 1)
    assert answer.ms > 0


async def test_spec_overrides_sampling_of_the_request(reach: Reach) -> None:
    async with ModelServer() as server:
        asked = reach(server, 'temperature=0.5&effort=low&seed=3&extra={"top_k":5}')
        await asked.answer(question(temperature=0.0, top_p=0.9, max_tokens=64))
    [sent] = server.requests
    sent.pop("messages")
    assert sent == {
        "model": "tiny",
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 3,
        "reasoning_effort": "low",
        "max_tokens": 64,
        "top_k": 5,
    }


async def test_large_bodies(reach: Reach) -> None:
    text = "x" * 3_000_000
    async with ModelServer() as server:
        await reach(server).answer(question(text))
    assert server.requests[0]["messages"][1]["content"][1]["text"] == text


@pytest.mark.parametrize(
    ("met", "finish", "text"),
    [
        ("filtered", "filtered", ""),
        ("refused", "refused", "I would rather not."),
        ("parts", "stop", "Hello there"),
    ],
)
async def test_filtered_and_refused_answers_are_data(met: str, finish: str, text: str, reach: Reach) -> None:
    async with ModelServer(script=[met]) as server:
        answer = await reach(server).answer(question())
        assert (answer.finish, answer.text) == (finish, text)
        assert len(server.requests) == 1


async def test_filtered_request_is_data(reach: Reach) -> None:
    async with ModelServer(script=["filtered_400"]) as server:
        answer = await reach(server).answer(question())
        assert answer.finish == "filtered"
        assert "content management policy" in answer.text
        assert len(server.requests) == 1


@pytest.mark.parametrize(("met", "reasoning"), [("reasoning", "Let me see."), ("priced", "Hm."), ("ok", "")])
async def test_reasoning_fields(met: str, reasoning: str, reach: Reach) -> None:
    async with ModelServer(script=[met]) as server:
        answer = await reach(server).answer(question())
    assert answer.reasoning == reasoning
    assert answer.text.startswith("Action: ")
    assert answer.usage.cost == (0.25 if met == "priced" else None)


async def test_cut_off_answer_is_extended_once(reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        asked = reach(server, "max_tokens=10")
        answer = await asked.answer(question())
    assert [sent["max_tokens"] for sent in server.requests] == [10, 20]
    assert answer.finish == "stop"
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.images) == (2, 200, 2)
    assert asked.counts["extended"] == 1


async def test_cut_off_answer_is_not_extended_when_switched_off(reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        asked = reach(server, "max_tokens=10&extend=false")
        answer = await asked.answer(question())
    assert (answer.finish, len(server.requests), asked.counts["extended"]) == ("length", 1, 0)
    assert asked.spec.endswith("?max_tokens=10&extend=false")


async def test_tokens_cannot_be_requested(reach: Reach) -> None:
    async with ModelServer() as server:
        with pytest.raises(BadOption, match="cannot return tokens"):
            await reach(server).answer(replace(question(), want_tokens=True))


async def test_answer_cut_off_twice(reach: Reach) -> None:
    async with ModelServer(script=["length", "length"]) as server:
        answer = await reach(server, "max_tokens=10").answer(question())
        assert len(server.requests) == 2
    assert (answer.finish, answer.text) == ("length", "I think that")


async def test_cut_off_answer_stays_when_the_context_is_full(reach: Reach) -> None:
    async with ModelServer(script=["length", "too_long"]) as server:
        answer = await reach(server, "max_tokens=10").answer(question())
    assert (answer.finish, answer.usage.calls) == ("length", 1)


async def test_answer_cut_off_by_the_servers_limit(reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        assert (await reach(server).answer(question())).finish == "stop"
    # The server's limit was three tokens.
    assert [sent.get("max_tokens") for sent in server.requests] == [None, 6]


@pytest.mark.parametrize(
    ("name", "unwanted", "other"),
    [
        ("vllm/tiny", "max_tokens", "max_completion_tokens"),
        ("openai/tiny", "max_completion_tokens", "max_tokens"),
    ],
)
async def test_name_of_max_tokens_is_learnt_once(
    name: str, unwanted: str, other: str, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    async with ModelServer(unwanted=[unwanted]) as server:
        asked = reach(server, "max_tokens=9", name=name)
        await asked.answer(question())
        await asked.answer(question())
    assert [unwanted in sent for sent in server.requests] == [True, False, False]
    assert [sent.get(other) for sent in server.requests] == [None, 9, 9]
    assert asked.remarks == [f"{name} was answered by tiny-2025."]


async def test_unsupported_options_are_dropped_with_a_remark(reach: Reach) -> None:
    async with ModelServer(unwanted=["max_tokens", "temperature", "top_p"], latency=0.01) as server:
        asked = reach(server, "max_tokens=9&temperature=0&top_p=0.5")
        await asyncio.gather(*(asked.answer(question()) for _ in range(8)))
        learning = len(server.requests)
        await asked.answer(question())
        assert len(server.requests) == learning + 1
        assert learning <= 8 * 4
    assert server.met["ok"] == 9
    assert asked.remarks[:-1] == [
        f"vllm/tiny does not support the option {name!r}; it is not sent."
        for name in ("temperature", "top_p")
    ]


async def test_every_version_is_remarked_once(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["tiny", "tiny-1", "tiny-2", "tiny-1", "tiny-\x1b3", *map(str, range(20))])

    async def attempt(*_: object) -> Answer:
        return Answer("Hello.", model=next(versions))

    async with ModelServer() as server:
        asked = reach(server)
        monkeypatch.setattr(asked, "attempt", attempt)
        for _ in range(25):
            await asked.answer(question())
    assert asked.remarks[:3] == [f"vllm/tiny was answered by tiny-{n}." for n in (1, 2, 3)]
    assert len(asked.remarks) == 7


async def test_server_that_accepts_neither_name(reach: Reach) -> None:
    async with ModelServer(unwanted=["max_tokens", "max_completion_tokens"]) as server:
        with pytest.raises(Exception, match="rejects this request"):
            await reach(server, "max_tokens=9").answer(question())
        assert len(server.requests) < 8


def test_one_model_in_several_event_loops() -> None:
    async def ask_once() -> str:
        async with ModelServer() as server:
            reached = model(f"vllm/tiny@{server.url}")
            texts = []
            for _ in range(2):
                texts.append((await reached.answer(question())).text)
                await reached.close()
            reached_again[0].address = server.url
            texts.append((await reached_again[0].answer(question())).text)
            return texts[0] if len(set(texts)) == 1 else repr(texts)

    reached_again = [model("vllm/tiny")]
    first = asyncio.run(ask_once())
    assert first.startswith("Action: ")
    assert asyncio.run(ask_once()) == first
    asyncio.run(reached_again[0].close())
