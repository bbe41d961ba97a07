"""The small model as a player: `small/PATH` in specs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from ludens.core.episode import Usage
from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import configure, option
from ludens.core.spec import Spec
from ludens.core.view import Picture
from ludens.models.batching import Batcher
from ludens.models.chat import Answer, Model, Request, Tokens
from ludens.train.small.prompts import short_prompt

if TYPE_CHECKING:
    from ludens.train.small.policy import SmallPolicy


@dataclass(frozen=True)
class SmallSettings:
    """Options of a small model in a spec."""

    temperature: float = option(0.0, low=0, high=2, help="sampling temperature")
    max_tokens: int = option(0, low=0, help="most tokens in a reply; 0 for as many as in training")
    batch: int = option(256, low=1, help="most requests in a batch")
    device: str = option("auto", help="where it runs: auto, cpu, cuda")


class _Question(NamedTuple):
    prompt: list[int]
    pictures: Sequence[Picture]


def small_model(spec: Spec) -> SmallModel:
    """Make the model of a spec; its weights are loaded with the first request."""
    if find_spec("torch") is None:
        raise MissingExtra(spec.name, "train")
    if spec.address:
        raise BadOption(f"{spec.name} runs in this process and takes no address.")
    settings = configure(SmallSettings, spec.options, spec.name)
    return SmallModel(str(spec), Path(spec.name.partition("/")[2]), settings)


class SmallModel(Model):
    """Answers requests that come with the question itself (`Request.ask`), many in a batch."""

    def __init__(self, spec: str, folder: Path, settings: SmallSettings) -> None:
        super().__init__(spec)
        self.folder, self.settings = folder, settings
        self._policy: SmallPolicy | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batcher: Batcher[_Question, Tokens] | None = None
        self._gather = 0.005

    @staticmethod
    def live(policy: SmallPolicy) -> SmallModel:
        """A model made of weights in training. Its batches start when all games wait: the composition of a
        batch must not depend on timing."""
        made = SmallModel("small/live", Path(), SmallSettings())
        made._policy, made._gather = policy, 600.0
        return made

    @property
    def policy(self) -> SmallPolicy:
        """Network and vocabulary, loaded when first needed."""
        if self._policy is None:
            from ludens.train.small.policy import SmallPolicy

            wanted = self.settings
            given = {"max_tokens": wanted.max_tokens} if wanted.max_tokens else {}
            self._policy = SmallPolicy.read(
                self.folder, temperature=wanted.temperature, batch=wanted.batch, device=wanted.device, **given
            )
        return self._policy

    async def answer(self, request: Request) -> Answer:
        if request.ask is None:
            raise BadOption(f"{self.spec} plays games and does not chat.")
        policy, began = self.policy, perf_counter()
        prompt = policy.encode(short_prompt(request.game, request.ask))
        tokens = await self._current_batcher().ask(_Question(prompt, request.pictures[-1:]))
        ended = tokens.completion_ids[-1] == policy.vocabulary.end
        text = policy.vocabulary.decode(tokens.completion_ids)
        usage = Usage(len(prompt), len(tokens.completion_ids), images=len(tokens.pictures))
        self.counts["calls"] += 1
        ms = round((perf_counter() - began) * 1000, 3)
        return Answer(text, "stop" if ended else "length", usage, self.spec, ms, tokens=tokens)

    def _current_batcher(self) -> Batcher[_Question, Tokens]:
        loop = asyncio.get_running_loop()
        if self._batcher is None or self._loop is not loop:
            self._stop()
            self._loop = loop
            self._batcher = Batcher(self._answer, self.policy.batch, self._gather)
        return self._batcher

    def _answer(self, questions: Sequence[_Question]) -> list[Tokens]:
        return self.policy.sample([q.prompt for q in questions], [q.pictures for q in questions])

    def _stop(self) -> None:
        batcher, self._batcher = self._batcher, None
        if batcher is not None:
            batcher.close()

    async def close(self) -> None:
        self._stop()
