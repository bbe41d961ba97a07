"""Options of a model's spec: sampling, pictures, retries, rate limits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import orjson

from ludens.core.errors import BadOption, MissingKey
from ludens.core.options import Touch, configure, option, options_of
from ludens.core.policy import Access
from ludens.core.spec import Spec
from ludens.models.chat import Sampling
from ludens.models.errors import Secret

ALIASES = {"effort": "reasoning_effort"}
_SAMPLING = tuple(f.name for f in fields(Sampling))

S = TypeVar("S", bound="Settings")


@dataclass(frozen=True)
class Provider:
    """Defaults of one kind of model behind a network."""

    keys: tuple[str, ...]
    """Environment variables that hold the key; the first that is set counts."""
    needs_key: bool = False
    address: str | None = None
    address_variable: str = ""
    """Environment variable that replaces the address."""
    max_tokens: str = "max_tokens"
    """The provider's name for this parameter, in the OpenAI chat format."""

    @property
    def own_address(self) -> str | None:
        """The address of models whose spec has none."""
        return os.environ.get(self.address_variable or " ") or self.address


PROVIDERS = {
    "openai": Provider(
        ("OPENAI_API_KEY",), True, "https://api.openai.com/v1", "OPENAI_BASE_URL", "max_completion_tokens"
    ),
    "openrouter": Provider(("OPENROUTER_API_KEY",), True, "https://openrouter.ai/api/v1"),
    "vllm": Provider(("VLLM_API_KEY",), address="http://127.0.0.1:8000/v1"),
    "compat": Provider(("COMPAT_API_KEY",)),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), True, "https://api.anthropic.com", "ANTHROPIC_BASE_URL"),
    "google": Provider(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        True,
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
    ),
}
"""By kind of spec."""


@dataclass(frozen=True)
class Settings(Sampling):
    """Options of every model."""

    extend: bool = option(True, help="retry once with twice max_tokens when an answer is cut off")
    cache: str = option(
        "", help="file that caches answers, so that equal requests are paid for once", touches=Touch.WRITE
    )

    IDENTITY: ClassVar[tuple[str, ...]] = (*_SAMPLING, "extend")
    """Options that affect answers and so belong to the model's spec in results; the others do not."""

    @property
    def sampling(self) -> Sampling:
        """The sampling parameters alone."""
        return Sampling(**{name: getattr(self, name) for name in _SAMPLING})

    def identity(self, name: str, address: str | None = None) -> str:
        """The spec that makes the model again: every option that affects answers and is not its default.

        Args:
            name: Kind and name of the model.
            address: None for the provider's default address.
        """
        defaults = options_of(type(self))
        values = {option: getattr(self, option) for option in self.IDENTITY}
        changed = {o: _format(value) for o, value in values.items() if value != defaults[o].default}
        return str(Spec(name, address, changed))


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """Options of every model behind a network."""

    detail: str | None = option(
        None,
        kind=str,
        choices=("low", "high", "auto", "original"),
        help="resolution at which pictures are read",
    )
    extra: str | None = option(None, kind=str, help="JSON object added to the body of every request")
    key_env: str | None = option(
        None, kind=str, help="environment variable that holds the API key", touches=Touch.KEY
    )
    timeout: float = option(300.0, low=0.001, help="seconds until one attempt times out")
    deadline: float = option(600.0, low=0, help="seconds of errors until a call fails")
    retries: int = option(30, low=0, help="retries until a call fails")
    backoff: float = option(1.0, low=0, help="seconds before the first retry; doubles with every retry")
    concurrency: int = option(64, low=1, help="most concurrent calls")
    rpm: int = option(0, low=0, help="most requests per minute; 0 for no limit")
    tpm: int = option(0, low=0, help="most tokens per minute; 0 for no limit")

    IDENTITY: ClassVar[tuple[str, ...]] = (*Settings.IDENTITY, "detail", "extra", "key_env")

    @property
    def extra_body(self) -> dict[str, Any]:
        """The `extra` option, parsed."""
        return {} if self.extra is None else _json_object(self.extra)

    def __post_init__(self) -> None:
        # The value is not quoted: people paste the key itself here.
        if self.key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", self.key_env):
            raise BadOption("option 'key_env' takes the name of an environment variable, not the key itself.")
        if self.extra is not None:
            _json_object(self.extra)


def read_settings(cls: type[S], spec: Spec) -> S:
    """The settings in a spec."""
    if not spec.rest:
        raise BadOption(f"{spec.kind} needs a model name: {spec.kind}/NAME.")
    return configure(cls, _without_aliases(spec.options), spec.name)


def find_key(name: str, settings: NetworkSettings, *variables: str, needed: bool = True) -> Secret:
    """The API key in the first of these environment variables that is set, or in the one the spec names."""
    places = (settings.key_env,) if settings.key_env else variables
    for place in places:
        if key := os.environ.get(place, "").strip():
            if not key.isprintable() or " " in key:
                raise BadOption(f"the key in {place} contains white space or control characters.")
            return Secret(key)
    if needed or settings.key_env:
        raise MissingKey(name, *places)
    return Secret()


def address_accesses(spec: Spec) -> Iterator[Access]:
    """The address of a model where it is not the one that such models have anyway."""
    provider = PROVIDERS.get(spec.kind)
    if spec.address is None:
        return
    keys = (spec.options["key_env"],) if "key_env" in spec.options else provider.keys if provider else ()
    if provider is None or spec.address.rstrip("/") != (provider.own_address or "").rstrip("/"):
        has_key = any(os.environ.get(key) for key in keys)
        yield Access(spec.name, "", Touch.CONNECT, spec.address, sends_key=has_key)


def _without_aliases(options: Mapping[str, str]) -> dict[str, str]:
    resolved: dict[str, str] = {}
    for name, value in options.items():
        full = ALIASES.get(name, name)
        if full in resolved:
            raise BadOption(f"options {full!r} and {name!r} are the same: give one of them.")
        resolved[full] = value
    return resolved


def _format(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _json_object(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    if not isinstance(read, dict):
        raise BadOption(f"option 'extra' must be a JSON object, not {text[:60]!r}.")
    return read
