"""Reads answers in the OpenAI chat format, with the fields that vLLM and OpenRouter add."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from ludens.core.episode import Usage
from ludens.models.chat import Answer, Finish
from ludens.models.errors import TransientError

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
    )


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
    """A text that may be missing or a list of parts."""
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
