"""Anthropic models through the vendor's SDK (extra `anthropic`): `anthropic/NAME`, key in ANTHROPIC_API_KEY.

`reasoning_effort` is an effort level (low, medium, high, ...), `none`, or a token budget, which older models
need. A level switches adaptive thinking on.
"""

from __future__ import annotations

import base64
from importlib.util import find_spec
from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import Touch
from ludens.core.policy import declares
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Finish, Request, Sampling
from ludens.models.client import UNSUPPORTED, SdkClient
from ludens.models.errors import Secret, TransientError
from ludens.models.settings import NetworkSettings

_MAX_TOKENS = 8192
_FINISHES: dict[str | None, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


@declares(NetworkSettings, Touch.PAY)
def anthropic_model(spec: Spec) -> AnthropicModel:
    if find_spec("anthropic") is None:
        raise MissingExtra(spec.name, "anthropic")
    for name in ("seed", "detail"):
        if name in spec.options:
            raise BadOption(f"{spec.name} has no option {name!r}.")
    return AnthropicModel.make(spec)


class AnthropicModel(SdkClient):
    """A model behind `/v1/messages`."""

    default_sampling = Sampling(max_tokens=_MAX_TOKENS)  # required by the API

    def __init__(self, spec: Spec, settings: NetworkSettings, secret: Secret, address: str) -> None:
        super().__init__(spec, settings, secret, address)
        self._adaptive = True
        effort = settings.reasoning_effort
        if effort is not None and effort.isdecimal():
            # Thinking counts towards the limit.
            self.default_sampling = Sampling(max_tokens=_MAX_TOKENS + int(effort))

    async def open(self) -> None:
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        # `Client` does the retries. A redirect would be sent the key.
        self._sdk = AsyncAnthropic(
            api_key=self.secret.value,
            base_url=self.address,
            timeout=self.settings.timeout,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )

    async def close(self) -> None:
        await super().close()
        if self._sdk is not None:
            await self._sdk.close()

    async def call(self, request: Request, sampling: Sampling) -> Answer:
        if sampling.seed is not None:
            self.drop_option("seed")
        return _answer(await self._sdk.messages.create(**self._body(request, sampling)))

    def classify(self, error: Exception) -> Exception | None:
        from anthropic import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APIStatusError):
            return self.http_error(error.status_code, error.body, error.response.headers)
        if isinstance(error, APITimeoutError):
            return TransientError("timeout", f"no answer within {self.settings.timeout:g} s")
        if isinstance(error, APIConnectionError):
            cause = self.secret.redact(repr(error.__cause__ or error))
            return TransientError("connection", f"no connection to {self.address} ({cause})")
        return None

    def adapt(self, message: str, sampling: Sampling) -> bool:
        adapted = super().adapt(message, sampling)
        if "adaptive thinking" in message.lower() and UNSUPPORTED.search(message):
            self._adaptive = False
            self.remark(
                f"{self.name} thinks only when reasoning_effort is a number of tokens; "
                f"{sampling.reasoning_effort!r} is sent without thinking."
            )
            adapted = True
        return adapted

    def _body(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        system = [_block(part) for m in request.messages if m.role == "system" for part in m.parts]
        body: dict[str, Any] = {
            "model": self.model_name,
            "max_tokens": sampling.max_tokens,
            "messages": [
                {"role": m.role, "content": [_block(part) for part in m.parts]}
                for m in request.messages
                if m.role != "system"
            ],
        }
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        effort, extra = sampling.reasoning_effort, self.settings.extra_body
        if effort is not None and effort.isdecimal():
            body["thinking"] = {"type": "enabled", "budget_tokens": int(effort)}
        elif effort == "none":
            body["thinking"] = {"type": "disabled"}
        elif effort is not None:
            body["output_config"] = {"effort": effort}
            if self._adaptive:
                # Some models leave the thinking text out by default.
                body["thinking"] = {"type": "adaptive", "display": "summarized"}
        # No longer arguments of the SDK, but still supported by many models.
        optional = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        body["extra_body"] = {**{k: v for k, v in optional.items() if v is not None}, **extra}
        return body


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    file, mime = part.encoded()
    data = base64.b64encode(file).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}


def _answer(message: Any) -> Answer:
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise TransientError("broken", "the answer has no content")
    usage = message.usage
    details = getattr(usage, "output_tokens_details", None)
    return Answer(
        text="".join(block.text for block in blocks if block.type == "text"),
        finish=_FINISHES.get(message.stop_reason, "stop"),
        usage=Usage(
            input_tokens=sum(
                getattr(usage, name, None) or 0
                for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            ),
            output_tokens=getattr(usage, "output_tokens", None) or 0,
            reasoning_tokens=getattr(details, "thinking_tokens", None) or 0,
        ),
        model=str(message.model or ""),
        reasoning="".join(block.thinking for block in blocks if block.type == "thinking"),
        calls=[
            {"name": str(block.name), "arguments": block.input}
            for block in blocks
            if block.type == "tool_use"
        ],
    )
