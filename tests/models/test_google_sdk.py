"""Google's format, through the vendor's SDK, against a server on loopback."""

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

if find_spec("google.genai") is None:  # importing it takes seconds, also where none of these tests run
    pytest.skip("the extra 'google' is not installed", allow_module_level=True)

# Raised by the SDK: it subclasses the session of aiohttp.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


def content(text: str = "Action: a1", stop: str = "STOP", thought: str = "") -> Scene:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    if thought:
        parts.insert(0, {"text": thought, "thought": True})
    return Scene(
        {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop}],
            "usageMetadata": {"promptTokenCount": 60, "candidatesTokenCount": 5, "thoughtsTokenCount": 3},
            "modelVersion": "gemini-x-001",
        }
    )


def error(status: int, kind: str, words: str) -> Scene:
    return Scene({"error": {"code": status, "message": words, "status": kind}}, status)


@asynccontextmanager
async def reached(server: NativeServer, options: str = "") -> AsyncIterator[Model]:
    async with server, model(f"google/gemini-x@{server.url}?backoff=0.001&{options}") as asked:
        yield asked


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "very-secret")
    monkeypatch.delenv("GOOGLE_GEMINI_BASE_URL", raising=False)


async def test_whole_conversation_is_sent() -> None:
    shown = picture()
    server = NativeServer([content(thought="I see.")])
    async with reached(server, "temperature=0.5&effort=low&detail=high&seed=3") as asked:
        answer = await asked.answer(Request(conversation(shown), Sampling(max_tokens=100, top_p=0.5)))
    [sent] = server.requests
    inline = sent["contents"][0]["parts"][0]["inlineData"]
    assert base64.b64decode(inline["data"] + "==", "-_") == shown.png()
    assert "image/png" in inline.values()
    assert sent["contents"][0]["parts"][1:] == [{"text": "Move?"}]
    assert [turn["role"] for turn in sent["contents"]] == ["user", "model", "user"]
    assert sent["systemInstruction"]["parts"] == [{"text": "Play."}]
    assert sent["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.5,
        "maxOutputTokens": 100,
        "seed": 3,
        "mediaResolution": "MEDIA_RESOLUTION_HIGH",
        "thinkingConfig": {"include_thoughts": True, "thinking_level": "LOW"},
    }
    assert server.paths[0].endswith("/models/gemini-x:generateContent")
    assert (answer.text, answer.finish, answer.reasoning) == ("Action: a1", "stop", "I see.")
    used = answer.usage
    assert (used.input_tokens, used.output_tokens, used.reasoning_tokens, used.images) == (60, 8, 3, 1)
    assert answer.model == "gemini-x-001"


@pytest.mark.parametrize(
    ("scene", "kind"),
    [
        (error(429, "RESOURCE_EXHAUSTED", "Quota"), "rate"),
        (error(500, "INTERNAL", "Oops"), "server"),
        (error(503, "UNAVAILABLE", "Overloaded"), "server"),
        (Scene(fault="reset"), "connection"),
        (Scene(fault="half"), "broken"),
        (Scene('{"candidates": ['), "broken"),
        (Scene({"candidates": []}), "broken"),
        (content("", "MALFORMED_RESPONSE"), "broken"),
    ],
)
async def test_transient_errors_are_retried(scene: Scene, kind: str) -> None:
    server = NativeServer([scene, content()])
    async with reached(server) as asked:
        assert (await asked.answer(question())).text == "Action: a1"
    assert len(server.requests) == 2
    assert asked.counts == {"calls": 1, "retries": 1, kind: 1}


async def test_retry_delay_in_the_body() -> None:
    asked_for = [
        {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3600s"},
    ]
    body = {"error": {"code": 429, "message": "Quota", "status": "RESOURCE_EXHAUSTED", "details": asked_for}}
    async with reached(NativeServer([Scene(body, 429), content()])) as asked:
        with pytest.raises(AgentFailure, match="asks to wait 3600 s"):
            await asked.answer(question())


async def test_timeout() -> None:
    server = NativeServer([Scene(fault="hang"), content()])
    async with reached(server, "timeout=0.2") as asked:
        assert (await asked.answer(question())).text == "Action: a1"
    assert asked.counts["timeout"] >= 1  # more where the machine is slow


@pytest.mark.parametrize(
    ("scene", "failure", "words"),
    [
        (
            error(400, "INVALID_ARGUMENT", "API key not valid: very-secret"),
            ModelRejected,
            "does not accept",
        ),
        (
            error(403, "PERMISSION_DENIED", "very-secret is blocked"),
            ModelRejected,
            "does not accept",
        ),
        (error(404, "NOT_FOUND", "models/gemini-x is not found"), ModelRejected, "no such model"),
        (error(400, "INVALID_ARGUMENT", "exceeds the maximum input token count"), AgentFailure, "maximum"),
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
    ("scene", "finish", "text"),
    [
        (content("", "SAFETY"), "filtered", ""),
        (Scene({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), "filtered", "PROHIBITED_CONTENT"),
        (content("I thi", "MAX_TOKENS"), "length", "I thi"),
    ],
)
async def test_finish_reasons(scene: Scene, finish: str, text: str) -> None:
    server = NativeServer([scene])
    async with reached(server) as asked:
        answer = await asked.answer(question())
    asked_for = 2 if finish == "length" else 1
    assert (answer.finish, answer.text, len(server.requests)) == (finish, text, asked_for)


async def test_cut_off_answer_is_extended_once() -> None:
    server = NativeServer([content("I thi", "MAX_TOKENS"), content()])
    async with reached(server, "max_tokens=10") as asked:
        answer = await asked.answer(question())
    lengths = [sent["generationConfig"]["maxOutputTokens"] for sent in server.requests]
    assert lengths == [10, 20]
    assert (answer.text, answer.usage.calls) == ("Action: a1", 2)


@pytest.mark.parametrize("option", ["detail=original", "effort=gigantic"])
def test_invalid_values(option: str) -> None:
    with pytest.raises(BadOption, match="google/gemini-x must be"):
        model(f"google/gemini-x?{option}")


def test_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(MissingKey, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        model("google/gemini-x")
