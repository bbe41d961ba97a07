"""Anthropic's format, through the vendor's SDK, against a server on loopback."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import pytest

from ludens.core.errors import AgentFailure, BadOption, MissingKey, ModelRejected
from ludens.models import Model, Request, Sampling, model
from tests.models.conftest import conversation, picture, question
from tests.support.native_server import NativeServer, Scene

if find_spec("anthropic") is None:  # importing it takes seconds, also where none of these tests run
    pytest.skip("the extra 'anthropic' is not installed", allow_module_level=True)


def message(text: str = "Action: a1", stop: str = "end_turn", thinking: str = "") -> Scene:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}]
    if thinking:
        content.insert(0, {"type": "thinking", "thinking": thinking, "signature": "s"})
    usage = {
        "input_tokens": 50,
        "output_tokens": 9,
        "cache_read_input_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 4},
    }
    return Scene(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "claude-x-2025",
            "content": content,
            "stop_reason": stop,
            "usage": usage,
        }
    )


def error(status: int, kind: str, words: str, **headers: str) -> Scene:
    return Scene({"type": "error", "error": {"type": kind, "message": words}}, status, headers)


@asynccontextmanager
async def reached(server: NativeServer, options: str = "") -> AsyncIterator[Model]:
    async with server, model(f"anthropic/claude-x@{server.url}?backoff=0.001&{options}") as asked:
        yield asked


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


async def test_whole_conversation_is_sent() -> None:
    shown = picture()
    server = NativeServer([message(thinking="I see.")])
    async with reached(server, "temperature=0.5&effort=low") as asked:
        answer = await asked.answer(Request(conversation(shown), Sampling(max_tokens=100, top_p=0.5)))
    [sent] = server.requests
    data = base64.b64encode(shown.png()).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    assert sent == {
        "model": "claude-x",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Play."}],
        "messages": [
            {"role": "user", "content": [image, {"type": "text", "text": "Move?"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]},
            {"role": "user", "content": [{"type": "text", "text": "Again!"}]},
        ],
        "output_config": {"effort": "low"},
        "thinking": {"type": "adaptive", "display": "summarized"},
        "temperature": 0.5,
        "top_p": 0.5,
    }
    assert (answer.text, answer.finish, answer.reasoning) == ("Action: a1", "stop", "I see.")
    used = answer.usage
    assert (used.input_tokens, used.output_tokens, used.reasoning_tokens, used.images) == (55, 9, 4, 1)
    assert answer.model == "claude-x-2025"


@pytest.mark.parametrize(
    ("effort", "thinking"),
    [("9000", {"type": "enabled", "budget_tokens": 9000}), ("none", {"type": "disabled"})],
)
async def test_thinking_budget_and_no_thinking(effort: str, thinking: dict[str, Any]) -> None:
    server = NativeServer([message()])
    async with reached(server, f"effort={effort}") as asked:
        await asked.answer(question())
    assert server.requests[0]["thinking"] == thinking
    # Thinking counts towards max_tokens.
    assert server.requests[0]["max_tokens"] == thinking.get("budget_tokens", 0) + 8192


async def test_model_without_adaptive_thinking() -> None:
    rejection = error(400, "invalid_request_error", "adaptive thinking is not supported on this model")
    server = NativeServer([rejection, message()])
    async with reached(server, "effort=high") as asked:
        await asked.answer(question())
        await asked.answer(question())
    assert ["thinking" in sent for sent in server.requests] == [True, False, False]
    assert all(sent["output_config"] == {"effort": "high"} for sent in server.requests)
    remark, version = asked.remarks
    assert version == "anthropic/claude-x was answered by claude-x-2025."
    assert "thinks only when reasoning_effort is a number of tokens" in remark


@pytest.mark.parametrize(
    ("scene", "kind"),
    [
        (error(429, "rate_limit_error", "Slow down", **{"retry-after": "0.01"}), "rate"),
        (error(500, "api_error", "Oops"), "server"),
        (error(529, "overloaded_error", "Overloaded"), "server"),
        (Scene(fault="reset"), "connection"),
        (Scene(fault="half"), "connection"),
        (Scene('{"content": ['), "broken"),
        (Scene({"type": "message"}), "broken"),
    ],
)
async def test_transient_errors_are_retried(scene: Scene, kind: str) -> None:
    server = NativeServer([scene, message()])
    async with reached(server) as asked:
        assert (await asked.answer(question())).text == "Action: a1"
    assert len(server.requests) == 2
    assert asked.counts == {"calls": 1, "retries": 1, kind: 1}


async def test_timeout() -> None:
    server = NativeServer([Scene(fault="hang"), message()])
    async with reached(server, "timeout=0.2") as asked:
        assert (await asked.answer(question())).text == "Action: a1"
    assert asked.counts["timeout"] >= 1  # more where the machine is slow


@pytest.mark.parametrize(
    ("scene", "failure", "words"),
    [
        (
            error(401, "authentication_error", "bad sk-very-secret"),
            ModelRejected,
            "does not accept",
        ),
        (error(404, "not_found_error", "model: claude-x"), ModelRejected, "no such model"),
        (error(400, "invalid_request_error", "Your credit balance is too low"), ModelRejected, "no credit"),
        (error(400, "invalid_request_error", "prompt is too long: 9 tokens"), AgentFailure, "too long"),
        (error(413, "request_too_large", "Request exceeds the size"), AgentFailure, "request of this size"),
    ],
)
async def test_permanent_errors_are_not_retried(scene: Scene, failure: type[Exception], words: str) -> None:
    server = NativeServer([scene])
    async with reached(server) as asked:
        with pytest.raises(failure, match=words) as caught:
            await asked.answer(question())
    assert len(server.requests) == 1
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("stop", "finish"), [("refusal", "refused"), ("model_context_window_exceeded", "length")]
)
async def test_finish_reasons(stop: str, finish: str) -> None:
    async with reached(NativeServer([message("No.", stop)])) as asked:
        answer = await asked.answer(question())
    assert (answer.text, answer.finish) == ("No.", finish)


async def test_cut_off_answer_is_extended_once() -> None:
    server = NativeServer([message("I thi", "max_tokens"), message()])
    async with reached(server, "max_tokens=10") as asked:
        answer = await asked.answer(question())
    assert [sent["max_tokens"] for sent in server.requests] == [10, 20]
    assert (answer.text, answer.usage.calls, answer.usage.output_tokens) == ("Action: a1", 2, 18)


async def test_unsupported_options_are_dropped_with_a_remark() -> None:
    rejection = error(400, "invalid_request_error", "`temperature` is deprecated for this model.")
    server = NativeServer([rejection, message()])
    async with reached(server, "temperature=0") as asked:
        await asked.answer(question(seed=3))
        await asked.answer(question())
    assert ["temperature" in sent for sent in server.requests] == [True, False, False]
    assert asked.remarks[:-1] == [
        f"anthropic/claude-x does not support the option {name!r}; it is not sent."
        for name in ("seed", "temperature")
    ]


@pytest.mark.parametrize("option", ["seed=1", "detail=low"])
def test_options_the_vendor_does_not_have(option: str) -> None:
    with pytest.raises(BadOption, match="has no option"):
        model(f"anthropic/claude-x?{option}")


def test_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
        model("anthropic/claude-x")
