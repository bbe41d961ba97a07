"""Models of Anthropic through their own SDK (extra `anthropic`): `anthropic/NAME`, key in ANTHROPIC_API_KEY.

`reasoning_effort` is a word (low, medium, high, ...), `none`, or the number of tokens to think with, which
older models want. A word lets the model think as it sees fit: many do not think unless they are told so.
"""

from __future__ import annotations

import base64
import os
from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Finish, Message, Request, Sampling
from ludens.models.client import UNWANTED, Client
from ludens.models.faults import Fault, Secret, judge, trouble
from ludens.models.settings import Settings, find_key, read_settings
from ludens.models.transport import check_address

_HOME = "https://api.anthropic.com"
_ROOM = 8192
_FINISHES: dict[str | None, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


def anthropic_model(spec: Spec) -> AnthropicModel:
    """Make the model a spec names."""
    try:
        import anthropic  # noqa: F401
    except ImportError:
        raise MissingExtra(spec.name, "anthropic") from None
    settings = read_settings(Settings, spec)
    for name in ("seed", "detail"):
        if getattr(settings, name) is not None:
            raise BadOption(f"{spec.name} has no option {name!r}.")
    address = check_address(spec.address or os.environ.get("ANTHROPIC_BASE_URL") or _HOME)
    return AnthropicModel(spec, settings, find_key(spec.name, settings, "ANTHROPIC_API_KEY"), address)


class AnthropicModel(Client):
    """A model behind `/v1/messages`."""

    usual = Sampling(max_tokens=_ROOM)  # a limit must be given

    def __init__(self, spec: Spec, settings: Settings, secret: Secret, address: str) -> None:
        super().__init__(spec, settings, secret, None if address == _HOME else address)
        self.address = address
        self._sdk: Any = None
        self._adaptive = True
        effort = settings.reasoning_effort
        if effort is not None and effort.isdecimal():
            self.usual = Sampling(max_tokens=_ROOM + int(effort))  # thoughts count as part of the answer

    async def open(self) -> None:
        from anthropic import AsyncAnthropic

        # Waiting and trying again is ours: one attempt, one request.
        self._sdk = AsyncAnthropic(
            api_key=self.secret.value, base_url=self.address, timeout=self.settings.timeout, max_retries=0
        )

    async def close(self) -> None:
        await super().close()
        sdk, self._sdk = self._sdk, None
        if sdk is not None:
            await sdk.close()

    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        from anthropic import APIConnectionError, APIStatusError, APITimeoutError

        if sampling.seed is not None:
            self.leave_out("seed")
        try:
            return _read(await self._sdk.messages.create(**self._body(request, sampling)))
        except APIStatusError as error:
            status, body, headers = error.status_code, error.body, error.response.headers
            raise judge(status, body, headers, self.name, self.address, self.secret) from None
        except APITimeoutError:
            raise Fault("timeout", f"no answer within {self.settings.timeout:g} s") from None
        except APIConnectionError as error:
            words = self.secret.hide(repr(error.__cause__ or error))
            raise Fault("connection", f"no connection to {self.address} ({words})") from None
        except Exception as error:
            fault = trouble(error, self.secret)
            if fault is None:
                raise
            raise fault from None

    def adapt(self, complaint: str, sampling: Sampling) -> bool:
        learnt = super().adapt(complaint, sampling)
        if "adaptive thinking" in complaint.lower() and UNWANTED.search(complaint):
            self._adaptive = False
            self.note(
                f"{self.name} does not think unless reasoning_effort is a number of tokens; "
                f"{sampling.reasoning_effort!r} is passed on without thinking."
            )
            learnt = True
        return learnt

    def _body(self, request: Request, sampling: Sampling) -> dict[str, Any]:
        system = [_block(part) for m in request.messages if m.role == "system" for part in m.parts]
        body: dict[str, Any] = {
            "model": self.model_name,
            "max_tokens": sampling.max_tokens,
            "messages": [_turn(m) for m in request.messages if m.role != "system"],
        }
        if system:
            body["system"] = system
        effort, extra = sampling.reasoning_effort, self.settings.extra_body
        if effort is not None and effort.isdecimal():
            body["thinking"] = {"type": "enabled", "budget_tokens": int(effort)}
        elif effort == "none":
            body["thinking"] = {"type": "disabled"}
        elif effort is not None:
            body["output_config"] = {"effort": effort}
            if self._adaptive:
                body["thinking"] = {"type": "adaptive"}
        # Not arguments of the SDK any more, while many models still take them.
        drawn = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        body["extra_body"] = {**{k: v for k, v in drawn.items() if v is not None}, **extra}
        return body


def _turn(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [_block(part) for part in message.parts]}


def _block(part: Any) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.png()).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def _read(message: Any) -> Answer:
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise Fault("broken", "the answer holds no content")
    used = message.usage
    details = getattr(used, "output_tokens_details", None)
    return Answer(
        text="".join(block.text for block in blocks if block.type == "text"),
        finish=_FINISHES.get(message.stop_reason, "stop"),
        usage=Usage(
            input_tokens=sum(
                getattr(used, name, None) or 0
                for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            ),
            output_tokens=getattr(used, "output_tokens", None) or 0,
            reasoning_tokens=getattr(details, "thinking_tokens", None) or 0,
        ),
        model=str(message.model or ""),
        reasoning="".join(block.thinking for block in blocks if block.type == "thinking"),
    )
