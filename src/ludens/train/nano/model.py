"""Nano as a model that answers requests, many in a batch."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Protocol, Self, cast
from weakref import ref

from ludens.core.agent import Agent
from ludens.core.episode import Usage
from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.models.batching import Batcher
from ludens.models.chat import Answer, Model, Request, Tokens
from ludens.models.generation import out_of_memory
from ludens.models.settings import PromptOptions
from ludens.train.nano.inputs import NanoQuestion, Vocabulary, main_picture, offered, short_prompt
from ludens.train.policy import Player, Policy


class Sampler(Protocol):
    """A small policy that draws replies."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def batch(self) -> int: ...

    @property
    def prompts(self) -> int: ...

    def encode(self, prompt: str) -> list[int]: ...

    def sample(self, questions: Sequence[NanoQuestion]) -> list[Tokens]: ...


class NanoModel(Model):
    """Answers requests that come with the question itself (`Request.ask`).

    Args:
        gather: Seconds that a batch waits for further requests, unless all games wait already.
        in_thread: Whether replies are drawn in a thread of their own. If not, games stand still meanwhile,
            and which requests share a batch does not depend on timing.
    """

    def __init__(
        self, spec: str, load: Callable[[], Sampler], gather: float = 0.005, in_thread: bool = True
    ) -> None:
        super().__init__(spec)
        self._load, self._gather, self._in_thread = load, gather, in_thread
        self._sampler: Sampler | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batcher: Batcher[NanoQuestion, Tokens] | None = None

    @property
    def sampler(self) -> Sampler:
        if self._sampler is None:
            self._sampler = self._load()
        return self._sampler

    async def answer(self, request: Request) -> Answer:
        if request.ask is None:
            raise BadOption(f"{self.spec} plays games and does not chat.")
        sampler, began = self.sampler, perf_counter()
        prompt = sampler.encode(short_prompt(request.game, request.ask, sampler.prompts))
        picture = main_picture(request.game, request.ask, request.pictures, sampler.prompts)
        question = NanoQuestion(prompt, picture, request.sampling.seed, self.offer(request))
        tokens = await self._current_batcher().ask(question)
        complete = tokens.completion_ids[-1] == sampler.vocabulary.end
        text = sampler.vocabulary.decode(tokens.completion_ids)
        usage = Usage(len(prompt), len(tokens.completion_ids), images=len(tokens.pictures))
        self.counts["calls"] += 1
        ms = round((perf_counter() - began) * 1000, 3)
        return Answer(text, "stop" if complete else "length", usage, self.spec, ms, tokens=tokens)

    def offer(self, request: Request) -> Sequence[str]:
        """The answers from which the reply must choose; empty if the reply is free."""
        assert request.ask is not None
        return offered(request.ask, self.sampler.prompts)

    def _current_batcher(self) -> Batcher[NanoQuestion, Tokens]:
        loop = asyncio.get_running_loop()
        if self._batcher is None or self._loop is not loop:
            self._stop()
            self._loop = loop
            limits, splits = (self.sampler.batch, self._gather), out_of_memory
            self._batcher = Batcher(self.replies, *limits, should_split=splits, in_thread=self._in_thread)
        return self._batcher

    def replies(self, questions: Sequence[NanoQuestion]) -> list[Tokens]:
        return self.sampler.sample(questions)

    def _stop(self) -> None:
        batcher, self._batcher = self._batcher, None
        if batcher is not None:
            batcher.close()

    async def close(self) -> None:
        self._stop()


class LiveModel(NanoModel):
    """Draws with the weights in training, each request by its own seed. Replies are free: what is refused is
    learnt from.

    Args:
        explore: Share of choices that are drawn evenly from the legal ones, whatever the weights prefer.
    """

    def __init__(self, policy: Sampler, explore: float = 0.0) -> None:
        # A policy keeps this model, and its players keep both. Were the policy kept here, too, garbage
        # collection alone would free it.
        load = cast(Callable[[], Sampler], ref(policy))
        # The composition of a batch must not depend on timing: it starts when all games wait.
        super().__init__("nano/live", load, gather=600.0, in_thread=False)
        self.explore = explore

    @property
    def sampler(self) -> Sampler:
        return self._load()

    def offer(self, request: Request) -> Sequence[str]:
        ask = request.ask
        assert ask is not None
        if not self.explore or ask.legal.is_text:
            return ()
        random = stream(request.sampling.seed or 0, "explore")
        return (ask.format.write(random.choice(ask.legal)),) if random.random() < self.explore else ()

    def replies(self, questions: Sequence[NanoQuestion]) -> list[Tokens]:
        replies = zip(super().replies(questions), questions, strict=True)
        return [replace(reply, explored=bool(question.answers)) for reply, question in replies]


class LivePolicy(Policy):
    """A policy that draws replies itself (`Sampler`): its players use the weights in training."""

    @cached_property
    def _models(self) -> dict[float, LiveModel]:
        """One model for each share of explored choices."""
        return {}

    def agent(self, *, blind: bool = False) -> Agent:
        return Player(self._live(), PromptOptions(blind=blind), policy=self)

    def explorer(self, share: float) -> Agent:
        return Player(self._live(share), policy=self)

    def _live(self, explore: float = 0.0) -> LiveModel:
        return self._models.setdefault(explore, LiveModel(cast(Sampler, self), explore))

    def _twin(self) -> Self:
        """A shallow copy with players of its own."""
        twin = copy.copy(self)
        vars(twin).pop("_models", None)
        return twin
