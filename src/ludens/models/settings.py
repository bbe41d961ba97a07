"""Options of a model's spec: how answers are drawn, how pictures are sent, how patient the client is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import orjson

from ludens.core.errors import BadOption, MissingKey
from ludens.core.options import configure, option
from ludens.core.spec import Spec
from ludens.models.chat import Sampling
from ludens.models.faults import Secret

ALIASES = {"effort": "reasoning_effort"}

S = TypeVar("S", bound="Settings")


@dataclass(frozen=True)
class Settings(Sampling):
    """What every model reached over a network can be told."""

    detail: str | None = option(
        None, kind=str, choices=("low", "high", "auto", "original"), help="how closely pictures are looked at"
    )
    extra: str | None = option(None, kind=str, help="a JSON object added to the body of every request")
    key_env: str | None = option(None, kind=str, help="the environment variable that holds the key")
    timeout: float = option(300.0, low=0.001, help="seconds one attempt may take")
    patience: float = option(600.0, low=0, help="seconds of trouble after which a call is given up")
    retries: int = option(30, low=0, help="further attempts after which a call is given up")
    backoff: float = option(1.0, low=0, help="seconds of the first pause; every further one is twice as long")
    concurrency: int = option(64, low=1, help="calls in flight at the same time")
    rpm: int = option(0, low=0, help="requests a minute at most; 0 is no limit")
    tpm: int = option(0, low=0, help="tokens a minute at most; 0 is no limit")
    cache: str = option("", help="a file that keeps answers, so that the same request is never paid twice")

    SHAPING: ClassVar[tuple[str, ...]] = (*(f.name for f in fields(Sampling)), "detail", "extra", "key_env")
    """The options that belong to a model's identity; the others only say how it is reached."""

    @property
    def sampling(self) -> Sampling:
        """The part that says how answers are drawn."""
        return Sampling(**{f.name: getattr(self, f.name) for f in fields(Sampling)})

    @property
    def extra_body(self) -> dict[str, Any]:
        """The `extra` option, read."""
        return {} if self.extra is None else _object(self.extra)

    def __post_init__(self) -> None:
        # The value is not quoted: people paste the key itself here.
        if self.key_env is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", self.key_env):
            raise BadOption("option 'key_env' takes the name of an environment variable, not the key itself.")
        if self.extra is not None:
            _object(self.extra)


def read_settings(cls: type[S], spec: Spec) -> S:
    """The settings a spec asks for; unknown options are told their nearest neighbour."""
    if not spec.rest:
        raise BadOption(f"{spec.kind} needs the name of a model: {spec.kind}/NAME.")
    return configure(cls, plain(spec.options), spec.name)


def find_key(name: str, settings: Settings, *variables: str, needed: bool = True) -> Secret:
    """The key in the first of these environment variables that holds one, or in the one the spec names."""
    places = (settings.key_env,) if settings.key_env else variables
    for place in places:
        if key := os.environ.get(place, "").strip():
            if not key.isprintable() or " " in key:
                raise BadOption(f"the key in {place} holds white space or other signs that no key has.")
            return Secret(key)
    if needed or settings.key_env:
        raise MissingKey(name, *places)
    return Secret()


def plain(options: Mapping[str, str]) -> dict[str, str]:
    """Options under their full names."""
    read: dict[str, str] = {}
    for name, value in options.items():
        full = ALIASES.get(name, name)
        if full in read:
            raise BadOption(f"options {full!r} and {name!r} mean the same: give one of them.")
        read[full] = value
    return read


def identity(spec: Spec, settings: Settings, address: str | None) -> str:
    """The spec that makes a model again, in one order and without what only says how it is reached.

    The address is None where it is the usual one.
    """
    shaping = {name: getattr(settings, name) for name in settings.SHAPING}
    given = {name: _written(value) for name, value in shaping.items() if value is not None}
    return str(Spec(spec.name, address, given))


def _written(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _object(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    if not isinstance(read, dict):
        raise BadOption(f"option 'extra' must be a JSON object, not {text[:60]!r}.")
    return read
