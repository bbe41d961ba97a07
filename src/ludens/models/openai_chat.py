"""Models behind the OpenAI chat API: OpenAI, vLLM, SGLang, llama.cpp, Ollama, OpenRouter, ...

openai/gpt-4.1                                  key in OPENAI_API_KEY; address from OPENAI_BASE_URL if set
openrouter/qwen/qwen2.5-vl-72b-instruct         key in OPENROUTER_API_KEY
vllm/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1     key in VLLM_API_KEY if the server needs one
compat/NAME@URL?key_env=MY_KEY                  any other server; without key_env, COMPAT_API_KEY if set
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import orjson

from ludens.core.episode import Usage
from ludens.core.options import Touch
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.core.tools import Tool, parse_arguments
from ludens.models.chat import Answer, Finish, Request, Sampling
from ludens.models.client import UNSUPPORTED, Client
from ludens.models.errors import Secret, TransientError, error_status
from ludens.models.settings import PROVIDERS, NetworkSettings
from ludens.models.transport import Transport

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral: the context is full
    "content_filter": "filtered",
    "refusal": "refused",
}

_LARGEST = 2**53
"""Larger counts and costs are treated as missing."""


def read_answer(data: bytes) -> Answer | dict[str, Any]:
    """The answer; or the parsed body when it is an error sent with HTTP 200."""
    body = _parse(data)
    if not isinstance(body, dict):
        raise TransientError("broken", f"the answer is not a JSON object: {_quote(data)}")
    if body.get("error"):
        return body
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise TransientError("broken", "the answer has no choices")
    finish = str(choice.get("finish_reason")).lower()
    if finish in ("error", "abort"):
        raise TransientError("server", f"the provider stopped: {choice.get('error') or finish}")
    refusal = message.get("refusal")
    text = _text(message.get("content"))
    return Answer(
        text=text or _text(refusal),
        finish="refused" if refusal and not text else _FINISHES.get(finish, "stop"),
        usage=_usage(body.get("usage")),
        model=_text(body.get("model")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        calls=_calls(message.get("tool_calls")),
    )


def _calls(value: object) -> list[dict[str, Any]]:
    functions = (
        (call.get("function") for call in value if isinstance(call, dict)) if isinstance(value, list) else ()
    )
    return [
        {"name": _text(function.get("name")), "arguments": parse_arguments(_text(function.get("arguments")))}
        for function in functions
        if isinstance(function, dict)
    ]


def _parse(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    # Half a surrogate pair, NaN or a byte order mark: the rest of the answer is valid and paid for.
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise TransientError("broken", f"the answer is not JSON: {_quote(data)}") from None


def _quote(data: bytes) -> str:
    """The beginning; longer than what is shown, so that a key in it is complete when it is redacted."""
    return data[:4000].decode("utf-8", "replace")


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _usage(value: object) -> Usage:
    if not isinstance(value, Mapping):
        return Usage()
    details = value.get("completion_tokens_details")
    prompt = _count(value.get("prompt_tokens"))
    return Usage(
        input_tokens=prompt,
        # Some providers leave reasoning tokens out of this count; the total includes them.
        output_tokens=max(_count(value.get("completion_tokens")), _count(value.get("total_tokens")) - prompt),
        reasoning_tokens=_count(details.get("reasoning_tokens") if isinstance(details, Mapping) else 0),
        cost=_dollars(value.get("cost")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < _LARGEST else 0


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _LARGEST else None


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}


@declares(NetworkSettings, Touch.PAY)
def openai_chat(spec: Spec) -> OpenAIChat:
    return OpenAIChat.make(spec)


class OpenAIChat(Client):
    """A chat model behind `/chat/completions`."""

    def __init__(self, spec: Spec, settings: NetworkSettings, secret: Secret, address: str) -> None:
        super().__init__(spec, settings, secret, address)
        self._max_tokens = PROVIDERS[spec.kind].max_tokens if spec.kind in PROVIDERS else "max_tokens"
        self.extra = settings.extra_body
        self._transport: Transport | None = None

    async def open(self) -> None:
        headers = {"Authorization": f"Bearer {self.secret.value}"} if self.secret.value else {}
        url = f"{self.address}/chat/completions"
        await self._replace_transport(Transport(url, headers, self.settings.timeout, self.secret))

    async def close(self) -> None:
        await super().close()
        await self._replace_transport(None)

    async def _replace_transport(self, transport: Transport | None) -> None:
        old, self._transport = self._transport, transport
        if old:
            await old.close()

    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        options = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "reasoning_effort": sampling.reasoning_effort,
            self._max_tokens: sampling.max_tokens,
        }
        body: dict[str, Any] = {"model": self.model_name, "messages": self._messages(request)}
        body |= {name: value for name, value in options.items() if value is not None}
        if request.tools:
            body["tools"] = [{"type": "function", "function": _function(tool)} for tool in request.tools]
        return await self._post(body | self.extra)

    def adapt(self, message: str, sampling: Sampling) -> bool:
        adapted = super().adapt(message, sampling)
        # The first name in the message is the unsupported one; the second, if any, the replacement.
        match = re.search(r"\b(max_tokens|max_completion_tokens)\b", message)
        if sampling.max_tokens is not None and UNSUPPORTED.search(message) and match:
            names = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
            self._max_tokens = names[match[1]]
            adapted = True
        return adapted

    async def _post(self, body: dict[str, Any]) -> Answer:
        if self._transport is None:
            raise RuntimeError(f"{self.name} was closed during a call.")
        status, headers, data = await self._transport.post(orjson.dumps(body))
        if status != 200:
            raise self.http_error(status, data, headers)
        answer = self.read(data)
        if isinstance(answer, Answer):
            answer.model = answer.model or self.model_name
            return answer
        raise self.http_error(error_status(answer), answer, headers)

    def read(self, data: bytes) -> Answer | dict[str, Any]:
        return read_answer(data)

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        return [
            {"role": m.role, "content": m.parts[0]}
            if len(m.parts) == 1 and isinstance(m.parts[0], str)
            else {"role": m.role, "content": [self._part(part) for part in m.parts]}
            for m in request.messages
        ]

    def _part(self, part: Any) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        image = {"url": part.data_uri()}
        if self.settings.detail:
            image["detail"] = self.settings.detail
        return {"type": "image_url", "image_url": image}
