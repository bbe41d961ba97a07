"""What all models behind a network have in common: rate limits, retries, costs.

A call waits for a free slot and for the rate limits, and is retried after transient errors until it
succeeds, the retries are used up or the deadline is over. A transient error never becomes an answer; a
cut-off, filtered or refused answer is one.
"""

from __future__ import annotations

import asyncio
import logging
import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic, perf_counter, time_ns
from typing import Any, Self

from ludens.core.errors import AgentFailure, BadOption, ModelRejected
from ludens.core.random import stream
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Model, Request, Sampling
from ludens.models.errors import (
    SENTENCES,
    ContentFiltered,
    RequestRejected,
    Secret,
    TransientError,
    classify_error,
    classify_exception,
)
from ludens.models.ledger import DEFAULT_OUTPUT, Ledger, Price, RateLimiter, price_of, shared_limiter
from ludens.models.settings import PROVIDERS, NetworkSettings, find_key, read_settings
from ludens.models.transport import check_address

log = logging.getLogger("ludens.models")

LONGEST_PAUSE = 30.0
OPTIONAL = ("temperature", "top_p", "seed")
"""Sampling parameters that are dropped when a model does not support them."""
UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden|deprecated"
    r"|cannot both|use '?max_",
    re.IGNORECASE,
)
# One for each optional parameter and one for the name of max_tokens.
_MOST_ADAPTIONS = 1 + len(OPTIONAL)
_SECONDS_BETWEEN_WARNINGS = 30.0
_MOST_VERSIONS = 8
_OF_ONE_PROMPT = ("context", "large request")
"""Faults that may concern only the prompt that was sent."""


class Client(Model):
    """A model behind a network. Subclasses implement one attempt."""

    calls_tools = True
    default_sampling = Sampling()
    """Used where neither spec nor request set a parameter."""

    def __init__(self, spec: Spec, settings: NetworkSettings, secret: Secret, address: str) -> None:
        usual = spec.kind in PROVIDERS and address == PROVIDERS[spec.kind].address
        super().__init__(settings.identity(spec.name, None if usual else address))
        self.name, self.model_name, self.address = spec.name, spec.rest, address
        self.settings, self.secret = settings, secret
        self._limiter_name = f"{spec.name}@{'' if usual else address}"
        self._limits_concurrency = "concurrency" in spec.options
        self._sampling = settings.sampling
        self._price = price_of(spec.name)
        self._jitter = stream(time_ns(), "jitter")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._limiter: RateLimiter
        self._dropped: set[str] = set()
        self._versions = {"", spec.rest}
        self._succeeded = False
        self._ledger: Ledger | None = None
        self._waiting_stopped, self._stop_event = False, asyncio.Event()
        self._warned = -_SECONDS_BETWEEN_WARNINGS

    @classmethod
    def make(cls, spec: Spec) -> Self:
        provider, settings = PROVIDERS[spec.kind], read_settings(NetworkSettings, spec)
        address = spec.address or provider.own_address
        if address is None:
            raise BadOption(f"{spec.name} needs an address: {spec.name}@http://HOST:PORT/v1.")
        secret = find_key(spec.name, settings, *provider.keys, mandatory=provider.needs_key)
        return cls(spec, settings, secret, check_address(address))

    @abstractmethod
    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        """Send the request once.

        Raises:
            TransientError: A retry may succeed.
            RequestRejected: This request is not accepted.
            ContentFiltered: A content filter blocked it.
            ModelRejected: No request will be accepted.
        """

    async def open(self) -> None:
        """Connect in the running event loop. Must be done at its first `await`: other calls do not wait."""

    async def answer(self, request: Request) -> Answer:
        if request.want_tokens:
            raise BadOption(f"{self.name} cannot return tokens and log-probabilities; use an hf/ model.")
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            await self._bind(loop)
        sampling = self._sampling.over(request.sampling).over(self.default_sampling)
        if sampling.seed is not None and request.sample:
            sampling = replace(sampling, seed=sampling.seed + request.sample)
        async with self._limiter.slots:
            answer = await self._attempt_until_answered(request, sampling)
            # Without a limit of ours, the server's own limit cut the answer.
            limit = sampling.max_tokens or answer.usage.output_tokens
            if answer.finish == "length" and limit and self.settings.extend:
                answer = await self._extend(request, sampling, limit, answer)
        usage = answer.usage
        usage.images = len(request.pictures) * usage.calls
        if self._price and usage.tokens:
            usage.cost = self._price.cost(usage)
        if answer.model not in self._versions:
            self._record_version(answer.model)
        return answer

    def share_limits(self, concurrency: int, processes: int) -> None:
        settings = self.settings
        own = settings.concurrency
        most_calls = own // processes if self._limits_concurrency else max(own, concurrency)
        rpm, tpm = (max(1, limit // processes) if limit else 0 for limit in (settings.rpm, settings.tpm))
        self.settings = replace(settings, concurrency=max(1, most_calls), rpm=rpm, tpm=tpm)

    @property
    def paid(self) -> bool:
        return bool(self.secret.value) or (self._price is not None and self._price != Price(0.0, 0.0))

    def limit_spending(self, ledger: Ledger) -> bool:
        self._ledger = ledger
        return True

    def stop_waiting(self) -> None:
        self._waiting_stopped = True
        self._stop_event.set()

    async def close(self) -> None:
        self._loop = None

    async def _bind(self, loop: asyncio.AbstractEventLoop) -> None:
        settings = self.settings
        self._loop, self._stop_event = loop, asyncio.Event()
        if self._waiting_stopped:
            self._stop_event.set()
        self._limiter = shared_limiter(self._limiter_name, settings.concurrency, settings.rpm, settings.tpm)
        await self.open()

    async def _extend(self, request: Request, sampling: Sampling, limit: int, cut: Answer) -> Answer:
        """Send the request again with twice the limit; the usage of both calls is counted."""
        self.counts["extended"] += 1
        longer = replace(sampling, max_tokens=2 * limit)
        try:
            answer = await self._attempt_until_answered(request, longer, extending=True)
        except RequestRejected:
            return cut
        answer.usage = cut.usage + answer.usage
        return answer

    async def _attempt_until_answered(
        self, request: Request, sampling: Sampling, extending: bool = False
    ) -> Answer:
        first_error = 0.0
        attempts = adaptions = 0
        while True:
            adjust = await self._limiter.acquire(
                lambda: request.estimated_input + (sampling.max_tokens or DEFAULT_OUTPUT), self._sleep
            )
            try:
                answer = await self._reserve_and_attempt(request, sampling)
                if answer.usage.tokens:  # some servers report no usage: the estimate stays
                    adjust(answer.usage.tokens)
                self._succeeded = True
                self.counts["calls"] += 1
                return answer
            except ContentFiltered as error:
                self.counts["calls"] += 1
                return Answer(self.secret.mask(str(error)), "filtered", model=self.model_name)
            except RequestRejected as error:
                adaptions += 1
                if adaptions <= _MOST_ADAPTIONS and self.adapt(str(error), sampling):
                    continue
                if extending:
                    raise
                raise self._final_error(error) from None
            except TransientError as error:
                if error.kind == "connection":  # nothing was consumed
                    adjust(0)
                attempts += 1
                first_error = first_error or monotonic()
                await self._pause(error, attempts, first_error)

    async def _reserve_and_attempt(self, request: Request, sampling: Sampling) -> Answer:
        """One attempt within the budget, timed, without the key in what was answered."""
        start = perf_counter()
        supported = replace(sampling, **dict.fromkeys(self._dropped)) if self._dropped else sampling
        if self._ledger is None:
            answer = await self.attempt(request, supported)
        else:
            size = request.estimated_input, sampling.max_tokens
            async with self._ledger.request(self.spec, self._price, *size) as settle:
                start = perf_counter()
                answer = await self.attempt(request, supported)
                settle(answer.usage)
        answer.ms = round((perf_counter() - start) * 1000, 3)
        for name in ("text", "reasoning", "model"):
            setattr(answer, name, self.secret.mask(getattr(answer, name)))
        return answer

    def adapt(self, message: str, sampling: Sampling) -> bool:
        """Stop sending what an error message says is unsupported; returns whether there was something.

        True also when a concurrent call has already dropped it: then this call is sent again.
        """
        adapted = False
        if UNSUPPORTED.search(message):
            for name in OPTIONAL:
                if getattr(sampling, name) is not None and re.search(rf"\b{name}\b", message):
                    self.drop_option(name)
                    adapted = True
        return adapted

    def drop_option(self, name: str) -> None:
        """Do not send this sampling parameter again, and add a remark."""
        self._dropped.add(name)
        self.remark(f"{self.name} does not support the option {name!r}; it is not sent.")

    def _final_error(self, error: RequestRejected) -> Exception:
        # If no request has succeeded yet, the configuration is wrong; otherwise only this request is.
        message = f"{self.name} {SENTENCES[error.fault]} ({self.secret.redact(str(error))})."
        if self._succeeded or error.fault in _OF_ONE_PROMPT:
            return AgentFailure(message)
        return ModelRejected(message)

    async def _pause(self, error: TransientError, attempts: int, since: float) -> None:
        settings, now = self.settings, monotonic()
        self.counts[error.kind] += 1
        message = self.secret.redact(str(error))
        rest = settings.deadline - (now - since)
        if attempts > settings.retries or rest <= 0 or (error.wait or 0) > rest:
            wait = f", the provider asks to wait {error.wait:.0f} s" if error.wait else ""
            raise AgentFailure(
                f"{self.name} gave no answer in {attempts} attempts and {now - since:.0f} s{wait}: {message}."
            ) from None
        self.counts["retries"] += 1
        pause = min(LONGEST_PAUSE, settings.backoff * 2.0 ** (attempts - 1)) * (
            0.5 + self._jitter.random() / 2
        )
        if error.wait:
            self._limiter.pause(error.wait)
            pause += error.wait
        if now - self._warned >= _SECONDS_BETWEEN_WARNINGS:
            self._warned = now
            log.warning("%s: %s; retrying for up to %.0f s.", self.name, message, rest)
        await self._sleep(min(pause, rest))

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop_event.wait()
        except TimeoutError:
            return
        raise AgentFailure(f"{self.name}: interrupted while waiting to retry.")

    def _record_version(self, version: str) -> None:
        """Remark which version answered: providers change what a name stands for."""
        if len(self._versions) <= _MOST_VERSIONS:
            self._versions.add(version)
            printable = "".join(letter for letter in version if letter.isprintable())[:100]
            self.remarks.append(f"{self.name} was answered by {printable}.")

    def http_error(self, status: int, body: object, headers: Mapping[str, str]) -> Exception:
        return classify_error(status, body, headers, self.name, self.address, self.secret)

    def remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)
            log.warning("%s", sentence)


class SdkClient(Client):
    """A model behind a vendor's SDK. Subclasses connect, call, and classify the SDK's own exceptions."""

    _sdk: Any = None

    @abstractmethod
    async def call(self, request: Request, sampling: Sampling) -> Answer:
        """Send the request once; raises what the SDK raises."""

    @abstractmethod
    def classify(self, error: Exception) -> Exception | None:
        """The exception to raise for one of the SDK; None for others."""

    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        try:
            return await self.call(request, sampling)
        except Exception as error:
            classified = self.classify(error) or classify_exception(error, self.secret)
            if classified is None:
                raise
            raise classified from None
