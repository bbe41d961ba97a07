"""Classifies error responses of providers.

TransientError     temporary: the client waits and retries
RequestRejected    this request is not accepted (too long, unsupported parameter): change it or give up
ContentFiltered    a content filter blocked the request: the result is data, not an error

Some rejections are permanent for the settings of a model (`Fault`): the same run would meet them again, so
the user needs another run. Errors cross processes and files as text; `fault_of` reads it from their message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from itertools import groupby
from math import isnan
from operator import itemgetter
from typing import Any, Literal

import orjson

from ludens.core.errors import ModelRejected
from ludens.core.plain import shorten, storable

ErrorKind = Literal["rate", "server", "connection", "timeout", "broken"]
Fault = Literal["no pictures", "context", "many pictures", "large pictures", "large request", "request"]
"""Why a model can never answer a request as it was made."""

SENTENCES: dict[Fault, str] = {
    "no pictures": "does not accept pictures",
    "context": "has too small a context for this prompt",
    "many pictures": "does not accept so many pictures in one prompt",
    "large pictures": "does not accept pictures of this size",
    "large request": "does not accept a request of this size",
    "request": "rejects this request",
}
"""What messages say about the model, right after its name."""

_TRANSIENT = {408, 409, 425, 429}
_FILTER = re.compile(r"content.?(filter|policy|management)|moderation|responsible.?ai|flagged", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.?not.?found|model\W.*(not exist|not found|not available|unknown)", re.IGNORECASE
)
_BAD_KEY = re.compile(r"api.?key.{0,20}(not valid|invalid|expired|not found)", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context.?length|context window|maximum (context|model|input)|too many tokens|too long", re.IGNORECASE
)
_NO_PICTURES = re.compile(
    r"(image|vision|multi-?modal)(s| inputs?)? (is|are) (not|only) (support|accept|allow|enable|available)"
    r"|(not|n't) (support|accept|process|handle) (any )?(image|vision|picture|multi-?modal)"
    r"|not (an? )?(multi-?modal|vision)|mmproj|support(s|ing)? image input|required for image input"
    r"|no (vision|image) support|at most 0 image|unknown variant .{0,3}image_url",
    re.IGNORECASE,
)
_MANY_PICTURES = re.compile(
    r"at most [1-9]\d{0,3} (image|picture)|too many (images|pictures)|maximum (number )?of (\d{1,4} )?images",
    re.IGNORECASE,
)
_LARGE_PICTURES = re.compile(
    r"(image|picture)s?\b.{0,60}(too large|too big|exceed)|(too large|exceed).{0,40}(image|picture)",
    re.IGNORECASE,
)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "credit balance", "insufficient credits")
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s", re.ASCII)
_LONGEST_QUOTE = 300
_SHORTEST_KEY = 8
_LONGEST_PART = 8
LONGEST_WAIT = 7 * 24 * 3600.0
"""Longer waits that a provider asks for are shortened to this."""
_HTTP_LIBRARIES = {"aiohttp", "httpx", "httpx2", "httpcore", "httpcore2"}


class TransientError(Exception):
    """A temporary error. `wait` is the number of seconds the provider asks to wait."""

    def __init__(self, kind: ErrorKind, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.wait = kind, wait


class RequestRejected(Exception):
    """The provider does not accept this request."""

    def __init__(self, message: str, fault: Fault = "request") -> None:
        super().__init__(message)
        self.fault: Fault = fault


class ContentFiltered(Exception):
    """A content filter blocked the request."""


@dataclass(frozen=True)
class Secret:
    """An API key that does not appear in its repr."""

    value: str | None = None

    def __repr__(self) -> str:
        return "Secret(***)"

    @cached_property
    def _parts(self) -> frozenset[str]:
        """All parts of the key that are long enough not to be ordinary words."""
        key = self.value or ""
        length = min(_LONGEST_PART, len(key) - 1)
        starts = range(len(key) - length + 1) if len(key) >= _SHORTEST_KEY else ()
        return frozenset(key[start : start + length] for start in starts)

    def mask(self, text: str) -> str:
        """The text without the key, whole, cut off or in pieces of eight characters and more.

        Placeholders for servers without keys ("EMPTY", "x") are too short.
        """
        hidden = bytearray(len(text))
        for part in self._parts:
            start = text.find(part)
            while start >= 0:
                hidden[start : start + len(part)] = b"\1" * len(part)
                start = text.find(part, start + 1)
        if not any(hidden):
            return text
        runs = groupby(zip(text, hidden, strict=True), key=itemgetter(1))
        return "".join("***" if secret else "".join(letter for letter, _ in run) for secret, run in runs)

    def redact(self, text: str) -> str:
        clean = text.replace(self.value, "***") if self.value else text
        clean = " ".join(self.mask(storable(clean)).split())
        return shorten(clean, _LONGEST_QUOTE)


def not_billed(error: BaseException) -> bool:
    """Whether a request that failed with this error was certainly not processed by the model."""
    if isinstance(error, TransientError):
        return error.kind in ("rate", "server", "connection")
    return isinstance(error, RequestRejected | ContentFiltered | ModelRejected)


def error_message(body: object) -> str:
    if isinstance(body, bytes):
        try:
            return error_message(orjson.loads(body))
        except orjson.JSONDecodeError:
            return body.decode("utf-8", "replace")
    if not isinstance(body, dict):
        return str(body)
    error = body.get("error") or body
    if not isinstance(error, dict):
        return str(error)
    parts = [error.get("message") or error.get("detail") or ""]
    parts += [f"({error[key]})" for key in ("code", "type", "param") if isinstance(error.get(key), str)]
    metadata = error.get("metadata")
    if isinstance(metadata, dict):
        parts.append(str(metadata.get("raw") or metadata.get("reasons") or ""))
    return " ".join(filter(None, map(str, parts))) or str(body)


def classify_error(
    status: int, body: object, headers: Mapping[str, str], name: str, address: str, secret: Secret
) -> Exception:
    message = secret.redact(error_message(body))
    quote = f"HTTP {status}: {message}" if message else f"HTTP {status}"
    if status == 402 or any(word in message.lower() for word in _NO_CREDIT):
        return ModelRejected(f"{name}: the account has no credit left ({quote}).")
    if _NO_PICTURES.search(message):  # llama.cpp and Ollama report it with status 500
        return ModelRejected(
            f"{name} {SENTENCES['no pictures']} ({quote}): use --modality text, or a model that accepts them."
        )
    if status in _TRANSIENT or status >= 500:
        wait = retry_after(headers)
        kind: ErrorKind = "rate" if status == 429 else "server"
        return TransientError(kind, quote, _retry_delay(body) if wait is None else wait)
    if status in (400, 403, 422, 451) and _FILTER.search(message):
        return ContentFiltered(message)
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(message)):
        return ModelRejected(f"{name}: {address} does not accept the API key ({quote}).")
    if status == 404 and "model" not in message.lower():
        return ModelRejected(f"{name}: {address} is not a model server; most addresses end in /v1 ({quote}).")
    if status == 404 or _NO_MODEL.search(message):
        return ModelRejected(f"{name}: no such model at {address} ({quote}).")
    if status < 400:
        return ModelRejected(f"{name}: {address} is not the address of a model server ({quote}).")
    return RequestRejected(quote, _fault(status, message))


def _fault(status: int, message: str) -> Fault:
    if _MANY_PICTURES.search(message):
        return "many pictures"
    if _LARGE_PICTURES.search(message):
        return "large pictures"
    if _TOO_LONG.search(message):
        return "context"
    return "large request" if status == 413 else "request"


def fault_of(message: str, name: str) -> Fault | None:
    """The fault of the model with this name in an error message; None if another attempt may succeed."""
    return next((fault for fault, words in SENTENCES.items() if f"{name} {words}" in message), None)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait according to the headers, which give milliseconds, seconds or a date."""
    try:
        if "retry-after-ms" in headers:
            return _seconds(float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        try:
            return _seconds(float(value))
        except ValueError:
            date = parsedate_to_datetime(value)
            aware = date if date.tzinfo else date.replace(tzinfo=UTC)
            return _seconds((aware - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _seconds(number: float) -> float | None:
    """A wait within bounds: negative ones are none at all, and what is not a number is no wait."""
    return None if isnan(number) else min(max(0.0, number), LONGEST_WAIT)


def _retry_delay(body: object) -> float | None:
    """Seconds to wait according to the body, in Google's format."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = _DELAY.fullmatch(str(detail.get("retryDelay"))) if isinstance(detail, dict) else None
        if delay:
            return _seconds(float(delay[1]))
    return None


def classify_exception(error: Exception, secret: Secret) -> TransientError | None:
    """The transient error behind an exception of a vendor SDK's HTTP library; None for other exceptions."""
    message = secret.redact(str(error) or type(error).__name__)
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return TransientError("timeout", f"no answer in time ({message})")
    if isinstance(error, OSError):
        return TransientError("connection", f"no connection ({message})")
    library = type(error).__module__.partition(".")[0]
    if library not in _HTTP_LIBRARIES and not isinstance(error, ValueError):
        return None
    broken = (
        isinstance(error, ValueError)
        or "Payload" in type(error).__name__
        or "Protocol" in type(error).__name__
    )
    return TransientError("broken" if broken else "connection", message)


def error_status(body: Mapping[str, Any]) -> int:
    """The status inside an error that gateways send with HTTP 200; 502 when there is none."""
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    try:
        status = int(code)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 502
    return status if 400 <= status <= 599 else 502
