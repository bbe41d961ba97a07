"""What is sent in the OpenAI chat format, and what is read out of it."""

from __future__ import annotations

import asyncio

import pytest

from ludens.models import Answer, Message, Request, model
from tests.models.conftest import Reach, picture, question
from tests.support.model_server import ModelServer


async def test_pictures_travel_as_data_uris_in_their_place(reach: Reach) -> None:
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


async def test_what_the_spec_says_goes_before_what_the_task_suggests(reach: Reach) -> None:
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


async def test_large_bodies_are_sent_whole(reach: Reach) -> None:
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
async def test_what_the_model_did_is_data(met: str, finish: str, text: str, reach: Reach) -> None:
    async with ModelServer(script=[met]) as server:
        answer = await reach(server).answer(question())
        assert (answer.finish, answer.text) == (finish, text)
        assert len(server.requests) == 1


async def test_a_request_held_back_by_a_filter_is_data(reach: Reach) -> None:
    async with ModelServer(script=["filtered_400"]) as server:
        answer = await reach(server).answer(question())
        assert answer.finish == "filtered"
        assert "content management policy" in answer.text
        assert len(server.requests) == 1


@pytest.mark.parametrize(("met", "thought"), [("reasoning", "Let me see."), ("priced", "Hm."), ("ok", "")])
async def test_reasoning_is_kept_apart(met: str, thought: str, reach: Reach) -> None:
    async with ModelServer(script=[met]) as server:
        answer = await reach(server).answer(question())
    assert answer.reasoning == thought
    assert answer.text.startswith("Action: ")
    assert answer.usage.cost == (0.25 if met == "priced" else None)


async def test_a_cut_off_answer_gets_twice_the_room_once(reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        asked = reach(server, "max_tokens=10")
        answer = await asked.answer(question())
    assert [sent["max_tokens"] for sent in server.requests] == [10, 20]
    assert answer.finish == "stop"
    assert (answer.usage.calls, answer.usage.input_tokens, answer.usage.images) == (2, 200, 2)
    assert asked.tally["extended"] == 1


async def test_an_answer_cut_off_twice_is_recorded_as_such(reach: Reach) -> None:
    async with ModelServer(script=["length", "length"]) as server:
        answer = await reach(server, "max_tokens=10").answer(question())
        assert len(server.requests) == 2
    assert (answer.finish, answer.text) == ("length", "I think that")


async def test_a_cut_off_answer_stays_when_there_is_no_more_room(reach: Reach) -> None:
    async with ModelServer(script=["length", "too_long"]) as server:
        answer = await reach(server, "max_tokens=10").answer(question())
    assert (answer.finish, answer.usage.calls) == ("length", 1)


async def test_an_answer_cut_off_by_the_servers_own_limit_gets_twice_of_that(reach: Reach) -> None:
    async with ModelServer(script=["length"]) as server:
        assert (await reach(server).answer(question())).finish == "stop"
    # It let three words through.
    assert [sent.get("max_tokens") for sent in server.requests] == [None, 6]


@pytest.mark.parametrize(
    ("name", "unwanted", "other"),
    [
        ("vllm/tiny", "max_tokens", "max_completion_tokens"),
        ("openai/tiny", "max_completion_tokens", "max_tokens"),
    ],
)
async def test_the_name_of_the_length_is_learnt_once(
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


async def test_options_a_model_does_not_take_are_left_out_and_told(reach: Reach) -> None:
    async with ModelServer(unwanted=["max_tokens", "temperature", "top_p"], latency=0.01) as server:
        asked = reach(server, "max_tokens=9&temperature=0&top_p=0.5")
        await asyncio.gather(*(asked.answer(question()) for _ in range(8)))
        learning = len(server.requests)
        await asked.answer(question())
        assert len(server.requests) == learning + 1
        assert learning <= 8 * 4
    assert server.met["ok"] == 9
    assert asked.remarks[:-1] == [
        f"vllm/tiny does not take the option {name!r}; it is left out." for name in ("temperature", "top_p")
    ]


async def test_every_version_that_answered_is_told_once(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
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


async def test_a_server_that_takes_neither_name_is_not_asked_for_ever(reach: Reach) -> None:
    async with ModelServer(unwanted=["max_tokens", "max_completion_tokens"]) as server:
        with pytest.raises(Exception, match="does not take this request"):
            await reach(server, "max_tokens=9").answer(question())
        assert len(server.requests) < 8


def test_one_model_serves_many_event_loops() -> None:
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
