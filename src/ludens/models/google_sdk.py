"""Gemini through Google's SDK (extra `google`): `google/NAME`, key in GEMINI_API_KEY or GOOGLE_API_KEY.

`reasoning_effort` is a thinking level (minimal, low, medium, high), `none`, or a token budget.
"""

from __future__ import annotations

from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import Touch
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Finish, Request, Sampling
from ludens.models.client import Client
from ludens.models.errors import Secret, TransientError, classify_error, classify_exception
from ludens.models.settings import PROVIDERS, NetworkSettings, find_key, read_settings
from ludens.models.transport import check_address

_PROVIDER = PROVIDERS["google"]
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


@declares(NetworkSettings, Touch.PAY)
def google_model(spec: Spec) -> GoogleModel:
    """Make the model of a spec."""
    try:
        from google import genai  # noqa: F401
    except ImportError:
        raise MissingExtra(spec.name, "google") from None
    settings = read_settings(NetworkSettings, spec)
    if settings.detail not in _DETAILS:
        raise BadOption(f"option 'detail' of {spec.name} must be low, high or auto, not {settings.detail!r}.")
    effort = settings.reasoning_effort
    if effort is not None and effort not in (*_LEVELS, "none") and not effort.isdecimal():
        known = ", ".join(_LEVELS)
        raise BadOption(
            f"option 'reasoning_effort' of {spec.name} must be {known}, none or a number of tokens."
        )
    address = check_address(spec.address or _PROVIDER.own_address or "")
    secret = find_key(spec.name, settings, *_PROVIDER.keys)
    return GoogleModel(spec, settings, secret, address)


class GoogleModel(Client):
    """A model behind `:generateContent`."""

    def __init__(self, spec: Spec, settings: NetworkSettings, secret: Secret, address: str) -> None:
        super().__init__(spec, settings, secret, None if address == _PROVIDER.address else address)
        self.address = address
        self._sdk: Any = None

    async def open(self) -> None:
        from google import genai
        from google.genai.types import HttpOptions, HttpRetryOptions

        # `Client` does the retries. A redirect would be sent the key; aiohttp and httpx name it unlike.
        stay = {"allow_redirects": False, "follow_redirects": False}
        options = HttpOptions(
            base_url=self.address,
            timeout=max(1, round(self.settings.timeout * 1000)),
            retry_options=HttpRetryOptions(attempts=1),
            client_args=stay,
            async_client_args=stay,
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
            response = await self._sdk.aio.models.generate_content(
                model=self.model_name, contents=_contents(request), config=self._config(request, sampling)
            )
        except APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            status = error.code if isinstance(error.code, int) else 502
            raise classify_error(
                status, error.details, headers, self.name, self.address, self.secret
            ) from None
        except Exception as error:
            transient = classify_exception(error, self.secret)
            if transient is None:
                raise
            raise transient from None
        return _answer(response)

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
        file, mime = given.encoded()
        return Part.from_bytes(data=file, mime_type=mime)

    return [
        Content(role=_ROLES[m.role], parts=[part(given) for given in m.parts])
        for m in request.messages
        if m.role != "system"
    ]


def _answer(response: Any) -> Answer:
    used = response.usage_metadata
    thoughts = getattr(used, "thoughts_token_count", None) or 0
    usage = Usage(
        input_tokens=getattr(used, "prompt_token_count", None) or 0,
        output_tokens=(getattr(used, "candidates_token_count", None) or 0) + thoughts,
        reasoning_tokens=thoughts,
    )
    model = response.model_version or ""
    blocked = getattr(response.prompt_feedback, "block_reason", None)
    if blocked:
        return Answer(str(getattr(blocked, "value", blocked)), "filtered", usage, model)
    if not response.candidates:
        raise TransientError("broken", "the answer has no candidates")
    candidate = response.candidates[0]
    parts = (candidate.content.parts if candidate.content else None) or []
    text = "".join(part.text or "" for part in parts if not part.thought)
    reason = str(getattr(candidate.finish_reason, "value", candidate.finish_reason))
    finish = _FINISHES.get(reason, "stop")
    if finish == "stop" and reason != "STOP" and not text:
        raise TransientError("broken", f"the answer is empty ({reason})")
    reasoning = "".join(part.text or "" for part in parts if part.thought)
    return Answer(text, finish, usage, model, reasoning=reasoning)
