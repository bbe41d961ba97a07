"""`act=tools`: models move through native tool calls of three APIs; verdicts and retries are the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import ludens
from ludens import PlayConfig, play, samples, verify
from ludens.agents.vlm import Vlm
from ludens.core.errors import BadOption
from ludens.core.tools import write_call
from ludens.models import Model, model
from ludens.models.chat import Answer, Request
from ludens.models.settings import PromptOptions
from tests.support.native_server import NativeServer, Scene

Call = tuple[str, dict[str, Any]]


def openai(text: str, calls: Sequence[Call]) -> Scene:
    functions = [{"name": name, "arguments": json.dumps(arguments)} for name, arguments in calls]
    tool_calls = [{"id": f"c{i}", "type": "function", "function": f} for i, f in enumerate(functions)]
    message = {"role": "assistant", "content": text or None, "tool_calls": tool_calls}
    return Scene(
        {"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": {}}
    )


def anthropic(text: str, calls: Sequence[Call]) -> Scene:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": f"t{i}", "name": n, "input": a} for i, (n, a) in enumerate(calls)]
    body = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": blocks}
    return Scene({**body, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})


def google(text: str, calls: Sequence[Call]) -> Scene:
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [{"functionCall": {"name": name, "args": arguments}} for name, arguments in calls]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return Scene({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}, "modelVersion": "m"})


def declared(kind: str, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and schema of the tool in a request."""
    [tool] = body["tools"]
    if kind == "compat":
        return tool["function"]["name"], tool["function"]["parameters"]
    if kind == "anthropic":
        return tool["name"], tool["input_schema"]
    [function] = tool["functionDeclarations"]
    return function["name"], function["parameters_json_schema"]


APIS: dict[str, Callable[[str, Sequence[Call]], Scene]] = {
    "compat": openai,
    "anthropic": anthropic,
    "google": google,
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "secret")


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize("kind", APIS)
async def test_a_game_through_native_calls(kind: str) -> None:
    answer = APIS[kind]
    script = [
        answer("I take the corner.", [("act", {"action": "A1"})]),
        answer("Action: B2", []),  # text does not count
        answer("", [("act", {"action": "A1"})]),  # taken
        answer("", [("act", {"action": "C3"})]),
        answer("", [("act", {"action": "nowhere"})]),
    ]
    game = ludens.make("tic_tac_toe")
    async with NativeServer(script) as server:
        address = f"{server.url}/v1" if kind == "compat" else server.url
        client = model(f"{kind}/m@{address}?backoff=0.001")
        agents = {
            "x": Vlm(client, PromptOptions(act="tools", style="cot")),
            "o": ludens.agent("bot/first", game),
        }
        episode = await play(game, agents, 1, config=PlayConfig(retries=2))
        await client.close()
    name, schema = declared(kind, server.requests[0])
    assert name == "act"
    assert "A1" in schema["properties"]["action"]["enum"]
    tries = [tried for move in episode.moves for tried in move.tries if move.seat == "x"]
    assert [tried.verdict for tried in tries[:4]] == ["ok", "unreadable", "illegal", "ok"]
    assert tries[0].text == "I take the corner.\n" + write_call("act", {"action": "A1"})
    assert episode.moves[2].verdict == "retried"
    assert episode.verdicts()["fallback"] > 0
    assert "act=tools" in episode.seats["x"]
    assert verify(episode).replies == len(tries)
    rebuilt = [sample for sample in samples(episode) if sample.model]
    assert [sample.completion for sample in rebuilt] == [tried.text for tried in tries]
    assert "tool `act`" in str(rebuilt[0].messages[-1].parts[-1])
    assert all(sample.pictures for sample in rebuilt)
    assert rebuilt[2].messages[-2].parts[0] == "Action: B2"


class Silent(Model):
    async def answer(self, request: Request) -> Answer:
        return Answer("")


def test_models_without_tool_calls_are_refused() -> None:
    with pytest.raises(BadOption, match="act=text"):
        Vlm(Silent("hf/model"), PromptOptions(act="tools"))


def test_a_tampered_reply_is_found() -> None:
    """A reply that is an action in text only was not one: the verdict must be recomputed as for tools."""
    game = ludens.make("tic_tac_toe")

    class Caller(Silent):
        calls_tools = True

        async def answer(self, request: Request) -> Answer:
            assert request.tools
            first = request.tools[0].choices[0]
            return Answer("", calls=[{"name": "act", "arguments": {"action": first}}])

    agents = {
        seat: Vlm(Caller("vllm/m@http://127.0.0.1:1/v1"), PromptOptions(act="tools")) for seat in game.seats
    }
    episode = ludens.play_sync(game, agents, 3)
    verify(episode)
    action = episode.moves[0].action
    episode.moves[0].tries[0].text = f"Action: {action}"
    with pytest.raises(ludens.LudensError, match="unreadable"):
        verify(episode)
