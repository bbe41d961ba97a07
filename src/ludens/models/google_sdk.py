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
from ludens.models.client import SdkClient
from ludens.models.errors import Secret, TransientError
from ludens.models.settings import NetworkSettings

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
    try:
        from google import genai  # noqa: F401
    except ImportError:
        raise MissingExtra(spec.name, "google") from None
    return GoogleModel.make(spec)


class GoogleModel(SdkClient):
    """A model behind `:generateContent`."""

    def __init__(self, spec: Spec, settings: NetworkSettings, secret: Secret, address: str) -> None:
        detail, effort = settings.detail, settings.reasoning_effort
        if detail not in _DETAILS:
            raise BadOption(f"option 'detail' of {spec.name} must be low, high or auto, not {detail!r}.")
        if effort is not None and effort not in (*_LEVELS, "none") and not effort.isdecimal():
            levels = ", ".join(_LEVELS)
            raise BadOption(
                f"option 'reasoning_effort' of {spec.name} must be {levels}, none or a number of tokens."
            )
        super().__init__(spec, settings, secret, address)

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
        if self._sdk is not None:
            await self._sdk.aio.aclose()
            self._sdk.close()

    async def call(self, request: Request, sampling: Sampling) -> Answer:
        response = await self._sdk.aio.models.generate_content(
            model=self.model_name, contents=_contents(request), config=self._config(request, sampling)
        )
        return _answer(response)

    def classify(self, error: Exception) -> Exception | None:
        from google.genai.errors import APIError

        if not isinstance(error, APIError):
            return None
        headers = getattr(error.response, "headers", None) or {}
        return self.http_error(error.code if isinstance(error.code, int) else 502, error.details, headers)

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
            tools=_tools(request),
        )


def _tools(request: Request) -> list[Any] | None:
    from google.genai.types import FunctionDeclaration, Tool

    declared = [
        FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=tool.schema)
        for tool in request.tools
    ]
    return [Tool(function_declarations=declared)] if declared else None


def _contents(request: Request) -> list[Any]:
    from google.genai.types import Content, Part

    def convert(part: Any) -> Any:
        if isinstance(part, str):
            return Part(text=part)
        file, mime = part.encoded()
        return Part.from_bytes(data=file, mime_type=mime)

    return [
        Content(role=_ROLES[m.role], parts=[convert(part) for part in m.parts])
        for m in request.messages
        if m.role != "system"
    ]


def _answer(response: Any) -> Answer:
    metadata = response.usage_metadata
    thoughts = getattr(metadata, "thoughts_token_count", None) or 0
    usage = Usage(
        input_tokens=getattr(metadata, "prompt_token_count", None) or 0,
        output_tokens=(getattr(metadata, "candidates_token_count", None) or 0) + thoughts,
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
    calls = [
        {"name": str(call.name), "arguments": dict(call.args or {})}
        for part in parts
        if (call := part.function_call) is not None
    ]
    # A call that cannot be parsed is the model's fault, like a reply without one.
    if finish == "stop" and reason not in ("STOP", "MALFORMED_FUNCTION_CALL") and not (text or calls):
        raise TransientError("broken", f"the answer is empty ({reason})")
    reasoning = "".join(part.text or "" for part in parts if part.thought)
    return Answer(text, finish, usage, model, reasoning=reasoning, calls=calls)
