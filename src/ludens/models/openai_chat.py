"""Everything that speaks the OpenAI chat format: OpenAI, vLLM, SGLang, llama.cpp, Ollama, OpenRouter, ...

openai/gpt-4.1                                  key in OPENAI_API_KEY; OPENAI_BASE_URL is honoured
openrouter/qwen/qwen2.5-vl-72b-instruct         key in OPENROUTER_API_KEY
vllm/Qwen2.5-VL-7B@http://127.0.0.1:8000/v1     VLLM_API_KEY if the server wants one
compat/NAME@URL?key_env=MY_KEY                  any other; without key_env, COMPAT_API_KEY if it is set
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import orjson

from ludens.core.errors import BadOption, MissingKey
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Request, Sampling
from ludens.models.client import Client
from ludens.models.faults import Refused, Secret, error_status, judge
from ludens.models.openai_answer import read_answer
from ludens.models.settings import Settings, read_settings
from ludens.models.transport import Transport, check_address


@dataclass(frozen=True)
class Provider:
    """What is usual for one kind of spec."""

    key: str
    needs_key: bool = False
    address: str | None = None
    address_variable: str = ""
    longest: str = "max_tokens"
    """What the provider calls the longest answer."""


PROVIDERS = {
    "openai": Provider(
        "OPENAI_API_KEY", True, "https://api.openai.com/v1", "OPENAI_BASE_URL", "max_completion_tokens"
    ),
    "openrouter": Provider("OPENROUTER_API_KEY", True, "https://openrouter.ai/api/v1"),
    "vllm": Provider("VLLM_API_KEY", address="http://127.0.0.1:8000/v1"),
    "compat": Provider("COMPAT_API_KEY"),
}

_LENGTHS = ("max_tokens", "max_completion_tokens")
_MAY_BE_LEFT_OUT = ("temperature", "top_p", "seed")
# One for each option: a server that takes neither name of the length must not send us round in circles.
_MOST_ADAPTIONS = 1 + len(_MAY_BE_LEFT_OUT)
_UNWANTED = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden|deprecated"
    r"|use '?max_",
    re.IGNORECASE,
)


def openai_chat(spec: Spec) -> OpenAIChat:
    """Make the model a spec names."""
    provider = PROVIDERS[spec.kind]
    settings = read_settings(Settings, spec)
    if not spec.rest:
        raise BadOption(f"{spec.kind} needs the name of a model: {spec.kind}/NAME.")
    named = spec.address or os.environ.get(provider.address_variable or " ") or provider.address
    if named is None:
        raise BadOption(f"{spec.name} needs an address: {spec.name}@http://HOST:PORT/v1.")
    variable = settings.key_env or provider.key
    key = os.environ.get(variable, "").strip()
    if not key and (provider.needs_key or settings.key_env):
        raise MissingKey(spec.name, variable)
    return OpenAIChat(spec, settings, Secret(key or None), check_address(named), provider.longest)


class OpenAIChat(Client):
    """A chat model behind `/chat/completions`."""

    def __init__(
        self, spec: Spec, settings: Settings, secret: Secret, address: str, longest: str = "max_tokens"
    ) -> None:
        usual = PROVIDERS[spec.kind].address if spec.kind in PROVIDERS else None
        super().__init__(spec, settings, secret, None if address == usual else address)
        self.address = address
        self._longest = longest
        self._left_out: set[str] = set()
        self._extra = settings.extra_body
        self._transport: Transport | None = None

    async def open(self) -> None:
        headers = {"Authorization": f"Bearer {self.secret.value}"} if self.secret.value else {}
        url = f"{self.address}/chat/completions"
        await self._change(Transport(url, headers, self.settings.timeout, self.secret))

    async def close(self) -> None:
        await super().close()
        await self._change(None)

    async def _change(self, transport: Transport | None) -> None:
        old, self._transport = self._transport, transport
        if old:
            await old.close()

    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        options = self._options(sampling)
        messages = self._messages(request)
        adaptions = 0
        while True:
            try:
                return await self._post({"model": self.model_name, "messages": messages, **options})
            except Refused as refusal:
                adapted = self._adapt(options, str(refusal), sampling)
                adaptions += 1
                if adapted == options or adaptions > _MOST_ADAPTIONS:
                    raise
                options = adapted

    async def _post(self, body: dict[str, Any]) -> Answer:
        if self._transport is None:
            raise RuntimeError(f"{self.name} was closed while a call was under way.")
        status, headers, data = await self._transport.post(orjson.dumps(body))
        if status != 200:
            raise judge(status, data, headers, self.name, self.address, self.secret)
        read = read_answer(data)
        if isinstance(read, Answer):
            read.model = read.model or self.model_name
            return read
        raise judge(error_status(read), read, {}, self.name, self.address, self.secret)

    def _options(self, sampling: Sampling) -> dict[str, Any]:
        options = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "reasoning_effort": sampling.reasoning_effort,
            self._longest: sampling.max_tokens,
        }
        wanted = {k: v for k, v in options.items() if v is not None and k not in self._left_out}
        return {**wanted, **self._extra}

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

    def _adapt(self, sent: dict[str, Any], complaint: str, sampling: Sampling) -> dict[str, Any]:
        """The options to send instead: learnt from the provider's complaint, remembered for later calls."""
        if _UNWANTED.search(complaint):
            # A call sent before another one learnt the same only needs its options anew.
            if self._longest in sent and _names(complaint, self._longest):
                self._longest = _LENGTHS[1 - _LENGTHS.index(self._longest)]
            for name in _MAY_BE_LEFT_OUT:
                if name in sent and _names(complaint, name):
                    self._left_out.add(name)
                    self.note(f"{self.name} does not take the option {name!r}; it is left out.")
        return self._options(sampling)


def _names(complaint: str, option: str) -> bool:
    """Whether a complaint is about this option: the first of the two lengths it names is the unwanted one."""
    found = re.search(rf"\b{option}\b", complaint)
    if found is None or option not in _LENGTHS:
        return found is not None
    other = re.search(rf"\b{_LENGTHS[1 - _LENGTHS.index(option)]}\b", complaint)
    return other is None or found.start() < other.start()
