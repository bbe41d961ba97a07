"""Answers of servers that echo keys, are too large, refuse pictures, or ask for absurd waits."""

from __future__ import annotations

import asyncio
from time import monotonic

import pytest

from ludens.core.errors import AgentFailure, ModelRejected
from ludens.models import model
from ludens.models.errors import LONGEST_WAIT, Secret, classify_error, retry_after
from tests.models.conftest import Reach, question
from tests.support.model_server import ModelServer
from tests.support.native_server import NativeServer, Scene

KEY = "sk-very-secret-9876"


async def test_key_in_an_answer_is_masked(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    async with ModelServer(script=["echo_ok", "filtered_echo"]) as server:
        model = reach(server)
        answer = await model.answer(question())
        filtered = await model.answer(question())
    assert "***" in answer.text
    assert filtered.finish == "filtered"
    assert KEY not in repr(answer) + repr(filtered) + repr(model.remarks)
    assert "***" in answer.reasoning
    assert "***" in answer.model


async def test_short_placeholder_keys_are_not_masked(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "a")
    async with ModelServer(player=lambda prompt, digest: "Action: a1") as server:
        assert (await reach(server).answer(question())).text == "Action: a1"


async def test_large_answers_are_not_read_to_the_end(reach: Reach) -> None:
    async with ModelServer(script=["endless"] * 2) as server:
        with pytest.raises(AgentFailure, match="larger than 4 MiB"):
            await reach(server, "retries=1").answer(question())


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1e308", LONGEST_WAIT), ("inf", LONGEST_WAIT), ("nan", None), ("-5", 0.0), ("-inf", 0.0), ("2", 2.0)],
)
def test_wait_is_bounded(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds


async def test_absurd_wait_fails_the_call_at_once(reach: Reach) -> None:
    async with ModelServer(script=["429_forever"]) as server:
        with pytest.raises(AgentFailure, match="asks to wait 604800 s"):
            await reach(server).answer(question())


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            500,
            "image input is not supported - hint: you may need to provide the mmproj",
        ),
        (500, "this model is missing data required for image input"),
        (400, "Model does not support images."),
        (400, "tiny is not a multimodal model"),
        (400, "At most 0 image(s) may be provided in one request."),
        (404, "No endpoints found that support image input"),
        (422, "unknown variant `image_url`, expected `text`"),
        (400, "This model doesn't support image inputs"),
    ],
)
def test_refused_pictures_are_permanent(status: int, message: str) -> None:
    error = classify_error(status, {"error": {"message": message}}, {}, "vllm/tiny", "http://x", Secret())
    assert isinstance(error, ModelRejected)
    assert "vllm/tiny does not accept pictures" in str(error)
    assert "--modality text" in str(error)


@pytest.mark.parametrize("message", ["Invalid image.", "image is too large", "cannot read image", "busy"])
def test_other_messages_are_not_refused_pictures(message: str) -> None:
    error = classify_error(500, {"error": {"message": message}}, {}, "vllm/tiny", "http://x", Secret())
    assert not isinstance(error, ModelRejected)


@pytest.mark.parametrize("fault", ["500", "429_minute"])
async def test_calls_that_wait_to_retry_are_dropped(fault: str, reach: Reach) -> None:
    async with ModelServer(script=[fault, fault]) as server:
        model = reach(server, "backoff=60")
        calls = [asyncio.create_task(model.answer(question())) for _ in range(2)]
        while len(server.requests) < 1:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        started = monotonic()
        model.stop_waiting()
        for call in calls:
            with pytest.raises(AgentFailure, match="interrupted while waiting to retry"):
                await call
    assert monotonic() - started < 50


async def test_requests_in_flight_are_finished_after_stop_waiting(reach: Reach) -> None:
    async with ModelServer(latency=0.2) as server:
        model = reach(server)
        call = asyncio.create_task(model.answer(question()))
        while not server.requests:
            await asyncio.sleep(0.01)
        model.stop_waiting()
        assert (await call).finish == "stop"


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize(
    ("kind", "variable", "extra", "status"),
    [
        pytest.param(*asked, status, marks=pytest.mark.slow if asked[2] and status not in (302, 307) else ())
        for asked in (
            ("compat", "COMPAT_API_KEY", ""),
            ("anthropic", "ANTHROPIC_API_KEY", "anthropic"),
            ("google", "GEMINI_API_KEY", "google.genai"),
        )
        for status in (301, 302, 303, 307, 308)
    ],
)
async def test_redirects_are_not_followed(
    kind: str, variable: str, extra: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if extra:
        pytest.importorskip(extra)
    monkeypatch.setenv(variable, KEY)
    async with NativeServer([Scene({})]) as other:
        moved = Scene({}, status, {"Location": f"{other.url}/elsewhere"})
        async with NativeServer([moved]) as server, model(f"{kind}/x@{server.url}") as asked:
            with pytest.raises(ModelRejected, match="not the address of a model server"):
                await asked.answer(question())
    assert len(server.requests) == 1
    assert not other.received
