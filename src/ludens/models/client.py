"""Patience: what every model reached over a network has in common, whatever it speaks.

A call takes a slot, waits for its turn, and is tried again after passing trouble until it is answered or
patience ends. Trouble never becomes an answer; what the model itself said, cut off or refused, always does.
"""

from __future__ import annotations

import asyncio
import logging
import re
from abc import abstractmethod
from dataclasses import replace
from time import monotonic, perf_counter, time_ns

from ludens.core.errors import AgentFailure, ModelRejected
from ludens.core.random import stream
from ludens.core.spec import Spec
from ludens.models.chat import Answer, Model, Request, Sampling
from ludens.models.faults import Fault, Filtered, Refused, Secret
from ludens.models.limits import Gate, estimate, shared_gate
from ludens.models.prices import price_of
from ludens.models.settings import Settings, identity

log = logging.getLogger("ludens.models")

LONGEST_PAUSE = 30.0
MAY_BE_LEFT_OUT = ("temperature", "top_p", "seed")
UNWANTED = re.compile(
    r"unsupported|not support|unrecognized|unknown|unexpected|not permitted|not allowed|forbidden|deprecated"
    r"|cannot both|use '?max_",
    re.IGNORECASE,
)
# One for each option and one for the length: a server that takes nothing must not send us round in circles.
_MOST_ADAPTIONS = 1 + len(MAY_BE_LEFT_OUT)
_SECONDS_BETWEEN_WARNINGS = 30.0
_MOST_VERSIONS = 8


class Client(Model):
    """A model at the other end of a network. Subclasses say how one attempt is made."""

    usual = Sampling()
    """What is asked for where neither spec nor task say anything."""

    def __init__(self, spec: Spec, settings: Settings, secret: Secret, address: str | None) -> None:
        super().__init__(identity(spec, settings, address))
        self.name, self.model_name = spec.name, spec.rest
        self._place = f"{spec.name}@{address or ''}"
        self.settings, self.secret = settings, secret
        self._sampling = settings.sampling
        self._price = price_of(spec.name)
        self._jitter = stream(time_ns(), "jitter")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._gate: Gate
        self._left_out: set[str] = set()
        self._versions = {"", spec.rest}
        self._worked = False
        self._warned = -_SECONDS_BETWEEN_WARNINGS

    @abstractmethod
    async def attempt(self, request: Request, sampling: Sampling) -> Answer:
        """Ask once.

        Raises:
            Fault: Passing trouble.
            Refused: This request is not taken.
            Filtered: A content filter held it back.
            ModelRejected: No request will be taken.
        """

    async def open(self) -> None:
        """Prepare for the running event loop, whole before the first `await`: other calls do not wait."""

    async def answer(self, request: Request) -> Answer:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            await self._enter(loop)
        sampling = self._sampling.over(request.sampling).over(self.usual)
        async with self._gate.slots:
            answer = await self._persist(request, sampling)
            # Where nobody set a limit the server has one of its own: what it let through.
            limit = sampling.max_tokens or answer.usage.output_tokens
            if answer.finish == "length" and limit:
                answer = await self._extend(request, sampling, limit, answer)
        usage = answer.usage
        usage.images = len(request.pictures) * usage.calls
        if self._price and usage.tokens:
            usage.cost = self._price.cost(usage)
        if answer.model not in self._versions:
            self._note_version(answer.model)
        return answer

    async def close(self) -> None:
        self._loop = None

    async def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        settings = self.settings
        self._loop = loop
        self._gate = shared_gate(self._place, settings.concurrency, settings.rpm, settings.tpm)
        await self.open()

    async def _extend(self, request: Request, sampling: Sampling, limit: int, cut: Answer) -> Answer:
        """Ask once more with twice the room; both calls were paid for, so both are counted."""
        self.tally["extended"] += 1
        try:
            longer = await self._persist(request, replace(sampling, max_tokens=2 * limit), extending=True)
        except Refused:
            return cut
        longer.usage = cut.usage + longer.usage
        return longer

    async def _persist(self, request: Request, sampling: Sampling, extending: bool = False) -> Answer:
        """Try until there is an answer or patience ends."""
        trouble_since = 0.0
        tries = adaptions = 0
        while True:
            settle = await self._gate.enter(lambda: estimate(request, sampling.max_tokens))
            try:
                started = perf_counter()
                answer = await self.attempt(request, self._taken(sampling))
                answer.ms = round((perf_counter() - started) * 1000, 3)
                if answer.usage.tokens:  # not every server counts: then the estimate stays
                    settle(answer.usage.tokens)
                self._worked = True
                self.tally["calls"] += 1
                return answer
            except Filtered as error:
                self.tally["calls"] += 1
                return Answer(str(error), "filtered", model=self.model_name)
            except Refused as error:
                adaptions += 1
                if adaptions <= _MOST_ADAPTIONS and self.adapt(str(error), sampling):
                    continue
                if extending:
                    raise
                raise self._hopeless(error) from None
            except Fault as fault:
                if fault.kind == "connection":  # nobody read it
                    settle(0)
                tries += 1
                trouble_since = trouble_since or monotonic()
                await self._wait(fault, tries, trouble_since)

    def adapt(self, complaint: str, sampling: Sampling) -> bool:
        """Learn from a refusal what not to send, now and later; says whether there was something to learn.

        A call that was sent before another one learnt the same is simply sent again.
        """
        learnt = False
        if UNWANTED.search(complaint):
            for name in MAY_BE_LEFT_OUT:
                if getattr(sampling, name) is not None and re.search(rf"\b{name}\b", complaint):
                    self.leave_out(name)
                    learnt = True
        return learnt

    def leave_out(self, name: str) -> None:
        """Never send this option again, and say so."""
        self._left_out.add(name)
        self.note(f"{self.name} does not take the option {name!r}; it is left out.")

    def _taken(self, sampling: Sampling) -> Sampling:
        return replace(sampling, **dict.fromkeys(self._left_out)) if self._left_out else sampling

    def _hopeless(self, error: Refused) -> Exception:
        # Before anything has worked it is the set-up that is wrong; later it is this one request.
        message = f"{self.name} does not take this request ({error})."
        return AgentFailure(message) if self._worked or error.too_long else ModelRejected(message)

    async def _wait(self, fault: Fault, tries: int, since: float) -> None:
        """Pause before the next try, or give up."""
        settings, now = self.settings, monotonic()
        self.tally[fault.kind] += 1
        said = self.secret.hide(str(fault))
        left = settings.patience - (now - since)
        if tries > settings.retries or left <= 0 or (fault.wait or 0) > left:
            asked = f", which asks to be left alone for {fault.wait:.0f} s" if fault.wait else ""
            raise AgentFailure(
                f"{self.name} gave no answer in {tries} tries and {now - since:.0f} s{asked}: {said}."
            ) from None
        self.tally["retries"] += 1
        pause = min(LONGEST_PAUSE, settings.backoff * 2.0 ** (tries - 1)) * (0.5 + self._jitter.random() / 2)
        if fault.wait:
            self._gate.rest(fault.wait)
            pause += fault.wait
        if now - self._warned >= _SECONDS_BETWEEN_WARNINGS:
            self._warned = now
            log.warning("%s: %s; trying again for up to %.0f s.", self.name, said, left)
        await asyncio.sleep(min(pause, left))

    def _note_version(self, version: str) -> None:
        """Names stand for what changes: a report says which version answered, or that several did."""
        if len(self._versions) <= _MOST_VERSIONS:
            self._versions.add(version)
            shown = "".join(letter for letter in version if letter.isprintable())[:100]
            self.remarks.append(f"{self.name} was answered by {shown}.")

    def note(self, sentence: str) -> None:
        """Something the user must be told, once."""
        if sentence not in self.remarks:
            self.remarks.append(sentence)
            log.warning("%s", sentence)
