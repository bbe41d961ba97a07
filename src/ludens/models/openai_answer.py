"""Reading answers in the OpenAI chat format, with the fields vLLM and OpenRouter add to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import orjson

from ludens.core.episode import Usage
from ludens.models.chat import Answer, Finish
from ludens.models.faults import Fault

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral's word for a context that is full
    "content_filter": "filtered",
    "refusal": "refused",
}


_MOST = 2**53
"""No bill is so large; a number that is stands for nothing."""


def read_answer(data: bytes) -> Answer | dict[str, Any]:
    """The answer, or the body itself when it is an error sent as if all were well."""
    body = _parsed(data)
    if not isinstance(body, dict):
        raise Fault("broken", f"the answer is not an object: {_quoted(data)}")
    if body.get("error"):
        return body
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise Fault("broken", "the answer holds no choices")
    finish = str(choice.get("finish_reason")).lower()
    if finish in ("error", "abort"):
        raise Fault("server", f"the provider broke off: {choice.get('error') or finish}")
    refusal = message.get("refusal")
    text = _text(message.get("content"))
    return Answer(
        text=text or _text(refusal),
        finish="refused" if refusal and not text else _FINISHES.get(finish, "stop"),
        usage=_usage(body.get("usage")),
        model=_text(body.get("model")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
    )


def _parsed(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    # Half an emoji, NaN among probabilities, a byte order mark: the answer beside it is whole, and paid for.
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise Fault("broken", f"the answer is not JSON: {_quoted(data)}") from None


def _quoted(data: bytes) -> str:
    """The beginning; more of it than is shown, so that a key in it is whole when it is taken out."""
    return data[:4000].decode("utf-8", "replace")


def _text(value: object) -> str:
    """Text that may be missing, or come as a list of parts."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""


def _usage(value: object) -> Usage:
    if not isinstance(value, Mapping):
        return Usage()
    details = value.get("completion_tokens_details")
    read = _count(value.get("prompt_tokens"))
    return Usage(
        input_tokens=read,
        # Some leave what was thought out of this count, and bill it: it is in the total.
        output_tokens=max(_count(value.get("completion_tokens")), _count(value.get("total_tokens")) - read),
        reasoning_tokens=_count(details.get("reasoning_tokens") if isinstance(details, Mapping) else 0),
        cost=_dollars(value.get("cost")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 < value < _MOST else 0


def _dollars(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < _MOST else None
