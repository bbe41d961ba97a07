"""What a provider's answer means when it is not an answer: wait and try again, give up, or data.

Fault       passing trouble: the client waits and asks again
Refused     this very request is not taken (too long, an option it does not know): adapt it or give it up
Filtered    a content filter held the request back: that is data
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import orjson

from ludens.core.errors import ModelRejected

FaultKind = Literal["rate", "server", "connection", "timeout", "broken"]

_PASSING = {408, 409, 425, 429}
_FILTER = re.compile(r"content.?(filter|policy|management)|moderation|responsible.?ai|flagged", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.?not.?found|model\W.*(not exist|not found|not available|unknown)", re.IGNORECASE
)
_BAD_KEY = re.compile(r"api.?key.{0,20}(not valid|invalid|expired|not found)", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context.?length|context window|maximum (context|model|input)|too many tokens|too long", re.IGNORECASE
)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "credit balance", "insufficient credits")
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s", re.ASCII)
_LONGEST_QUOTE = 300
_HTTP_LIBRARIES = {"aiohttp", "httpx", "httpx2", "httpcore", "httpcore2"}


class Fault(Exception):
    """Passing trouble. `wait` is how long the provider asked to be left alone."""

    def __init__(self, kind: FaultKind, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.wait = kind, wait


class Refused(Exception):
    """The provider does not take this request; `too_long` when it does not fit into the model."""

    def __init__(self, message: str, too_long: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long


class Filtered(Exception):
    """A content filter held the request back."""


@dataclass(frozen=True)
class Secret:
    """A key that shows itself to nobody who does not ask for it by name."""

    value: str | None = None

    def __repr__(self) -> str:
        return "Secret(***)"

    def hide(self, text: str) -> str:
        """The text on one line, short, and without the key."""
        clean = text.replace(self.value, "***") if self.value else text
        clean = " ".join(clean.split())
        return clean if len(clean) <= _LONGEST_QUOTE else clean[: _LONGEST_QUOTE - 3] + "..."


def sentence(body: object) -> str:
    """What an error body says: providers wrap the sentence in different ways."""
    if isinstance(body, bytes):
        try:
            return sentence(orjson.loads(body))
        except orjson.JSONDecodeError:
            return body.decode("utf-8", "replace")
    if not isinstance(body, dict):
        return str(body)
    error = body.get("error") or body
    if not isinstance(error, dict):
        return str(error)
    said = [error.get("message") or error.get("detail") or ""]
    said += [f"({error[key]})" for key in ("code", "type", "param") if isinstance(error.get(key), str)]
    metadata = error.get("metadata")
    if isinstance(metadata, dict):
        said.append(str(metadata.get("raw") or metadata.get("reasons") or ""))
    return " ".join(filter(None, map(str, said))) or str(body)


def judge(
    status: int, body: object, headers: Mapping[str, str], name: str, where: str, secret: Secret
) -> Exception:
    """What an HTTP status other than 200 means for the call; the exception is the caller's to raise."""
    said = secret.hide(sentence(body))
    quote = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status == 402 or any(word in said.lower() for word in _NO_CREDIT):
        return ModelRejected(f"{name}: the account has no credit left ({quote}).")
    if status in _PASSING or status >= 500:
        wait = retry_after(headers)
        return Fault("rate" if status == 429 else "server", quote, _delay(body) if wait is None else wait)
    if status in (400, 403, 422, 451) and _FILTER.search(said):
        return Filtered(said)
    if status in (401, 403) or (status == 400 and _BAD_KEY.search(said)):
        return ModelRejected(f"{name}: the key is not accepted at {where} ({quote}).")
    if status == 404 and "model" not in said.lower():
        return ModelRejected(f"{name}: nothing answers at {where}; many addresses end in /v1 ({quote}).")
    if status == 404 or _NO_MODEL.search(said):
        return ModelRejected(f"{name}: there is no such model at {where} ({quote}).")
    if status < 400:
        return ModelRejected(f"{name}: {where} is not the address of a model ({quote}).")
    return Refused(quote, too_long=status == 413 or bool(_TOO_LONG.search(said)))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds the provider asks us to wait, given in milliseconds, seconds or as a date."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "").strip()
        if not value:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            date = parsedate_to_datetime(value)
            aware = date if date.tzinfo else date.replace(tzinfo=UTC)
            return max(0.0, (aware - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _delay(body: object) -> float | None:
    """The same in the body, where Google puts it."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        asked = _DELAY.fullmatch(str(detail.get("retryDelay"))) if isinstance(detail, dict) else None
        if asked:
            return float(asked[1])
    return None


def trouble(error: Exception, secret: Secret) -> Fault | None:
    """What an exception of somebody else's HTTP library means; None when it comes from elsewhere."""
    words = secret.hide(str(error) or type(error).__name__)
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return Fault("timeout", f"no answer in time ({words})")
    if isinstance(error, OSError):
        return Fault("connection", f"no connection ({words})")
    library = type(error).__module__.partition(".")[0]
    if library not in _HTTP_LIBRARIES and not isinstance(error, ValueError):
        return None
    broken = (
        isinstance(error, ValueError)
        or "Payload" in type(error).__name__
        or "Protocol" in type(error).__name__
    )
    return Fault("broken" if broken else "connection", words)


def error_status(body: Mapping[str, Any]) -> int:
    """The status inside an error that came with HTTP 200, as gateways send it; 502 when it names none."""
    error = body.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    try:
        status = int(code)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return 502
    return status if 400 <= status <= 599 else 502
