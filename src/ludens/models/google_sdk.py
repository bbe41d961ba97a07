"""Gemini through Google's own SDK (extra `google`): `google/NAME`, key in GEMINI_API_KEY or GOOGLE_API_KEY.

`reasoning_effort` is a word (minimal, low, medium, high), `none`, or the number of tokens to think with.
"""

from __future__ import annotations

import os
from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Finish, Request, Sampling
from ludens.models.client import Client
from ludens.models.faults import Fault, Secret, judge, trouble
from ludens.models.settings import Settings, find_key, read_settings
from ludens.models.transport import check_address

_HOME = "https://generativelanguage.googleapis.com"
_DETAILS = {None: None, "auto": None, "low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"}
_LEVELS = ("minimal", "low", "medium", "high")
_ROLES = {"user": "user", "assistant": "model"}
_FINISHES: dict[str, Finish] = {
    "MAX_TOKENS": "length",
    "SAFETY": "filtered",
    "RECITATION": "filtered",
    "BLOCKLIST": "filtered",
    "PROHIBITED_CONTENT": "filtered",
    "SPII": "filtered",
    "IMAGE_SAFETY": "filtered",
    "IMAGE_PROHIBITED_CONTENT": "filtered",
}


def google_model(spec: Spec) -> GoogleModel:
    """Make the model a spec names."""
    try:
        from google import genai  # noqa: F401
    except ImportError:
        raise MissingExtra(spec.name, "google") from None
    settings = read_settings(Settings, spec)
    if settings.detail not in _DETAILS:
        raise BadOption(f"option 'detail' of {spec.name} is low, high or auto, not {settings.detail!r}.")
    effort = settings.reasoning_effort
    if effort is not None and effort not in (*_LEVELS, "none") and not effort.isdecimal():
        known = ", ".join(_LEVELS)
        raise BadOption(f"option 'reasoning_effort' of {spec.name} is {known}, none or a number of tokens.")
    address = check_address(spec.address or os.environ.get("GOOGLE_GEMINI_BASE_URL") or _HOME)
    secret = find_key(spec.name, settings, "GEMINI_API_KEY", "GOOGLE_API_KEY")
    return GoogleModel(spec, settings, secret, address)


class GoogleModel(Client):
    """A model behind `:generateContent`."""

    def __init__(self, spec: Spec, settings: Settings, secret: Secret, address: str) -> None:
        super().__init__(spec, settings, secret, None if address == _HOME else address)
        self.address = address
        self._sdk: Any = None

    async def open(self) -> None:
        from google import genai
        from google.genai.types import HttpOptions, HttpRetryOptions

        # Waiting and trying again is ours: one attempt, one request.
        options = HttpOptions(
            base_url=self.address,
            timeout=max(1, round(self.settings.timeout * 1000)),
            retry_options=HttpRetryOptions(attempts=1),
        )
        self._sdk = genai.Client(api_key=self.secret.value, vertexai=False, http_options=options)

    async def close(self) -> None:
        await super().close()
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.aio.aclose()
            sdk.close()

    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        from google.genai.errors import APIError

        try:
            answer = await self._sdk.aio.models.generate_content(
                model=self.model_name, contents=_contents(request), config=self._config(request, sampling)
            )
        except APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            status = error.code if isinstance(error.code, int) else 502
            raise judge(status, error.details, headers, self.name, self.address, self.secret) from None
        except Exception as error:
            fault = trouble(error, self.secret)
            if fault is None:
                raise
            raise fault from None
        return _read(answer)

    def _config(self, request: Request, sampling: Sampling) -> Any:
        from google.genai.types import GenerateContentConfig, HttpOptions, Part, ThinkingConfig

        system = [Part(text=part) for m in request.messages if m.role == "system" for part in m.parts]
        effort, extra = sampling.reasoning_effort, self.settings.extra_body
        thinking: dict[str, Any] = {"include_thoughts": True}
        if effort == "none":
            thinking = {"thinking_budget": 0}
        elif effort is not None:
            number = effort.isdecimal()
            thinking["thinking_budget" if number else "thinking_level"] = (
                int(effort) if number else effort.upper()
            )
        return GenerateContentConfig(
            system_instruction=system or None,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_output_tokens=sampling.max_tokens,
            seed=sampling.seed,
            media_resolution=_DETAILS[self.settings.detail],
            thinking_config=None if effort is None else ThinkingConfig(**thinking),
            http_options=HttpOptions(extra_body=extra) if extra else None,
        )


def _contents(request: Request) -> list[Any]:
    from google.genai.types import Content, Part

    def part(given: Any) -> Any:
        if isinstance(given, str):
            return Part(text=given)
        return Part.from_bytes(data=given.png(), mime_type="image/png")

    return [
        Content(role=_ROLES[m.role], parts=[part(given) for given in m.parts])
        for m in request.messages
        if m.role != "system"
    ]


def _read(answer: Any) -> Answer:
    used = answer.usage_metadata
    thoughts = getattr(used, "thoughts_token_count", None) or 0
    usage = Usage(
        input_tokens=getattr(used, "prompt_token_count", None) or 0,
        output_tokens=(getattr(used, "candidates_token_count", None) or 0) + thoughts,
        reasoning_tokens=thoughts,
    )
    model = answer.model_version or ""
    blocked = getattr(answer.prompt_feedback, "block_reason", None)
    if blocked:
        return Answer(str(getattr(blocked, "value", blocked)), "filtered", usage, model)
    if not answer.candidates:
        raise Fault("broken", "the answer holds no candidates")
    candidate = answer.candidates[0]
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(part.text or "" for part in parts if not part.thought)
    reason = str(getattr(candidate.finish_reason, "value", candidate.finish_reason))
    finish = _FINISHES.get(reason, "stop")
    if finish == "stop" and reason != "STOP" and not text:
        raise Fault("broken", f"the answer is empty ({reason})")
    reasoning = "".join(part.text or "" for part in parts if part.thought)
    return Answer(text, finish, usage, model, reasoning=reasoning)
