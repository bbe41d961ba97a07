"""`ludens bench train`: a random Qwen2.5-VL generates, learns and plays, the plain way and the fast way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import Row
from benchmarks.random_vlm import PATCH, SIZES, random_qwen
from ludens.core.config import PlayConfig
from ludens.core.errors import MissingExtra, UnknownName
from ludens.core.registry import make
from ludens.core.templates import TemplateOverrides
from ludens.core.view import RenderOptions
from ludens.draw.picture import Picture
from ludens.models.chat import Message, Request, Tokens
from ludens.train.policy import TokenSample
from ludens.train.recipe import LossOptions, ModelOptions, OptimizerOptions
from ludens.train.rollout import RolloutJob, Rollouts
from ludens.train.transformers_policy import TransformersPolicy
from ludens.train.update import Updater

SQUARES = 4
TEXT = "Here is a picture. Say in one sentence what you see, then give your answer in a box. " * 4


@dataclass(frozen=True)
class Work:
    """How much is done with a model of one size."""

    patches: int
    """Patches along a side of a picture; four of them are one token."""
    text: int
    """Letters of a prompt beside its picture; one letter is one token."""
    prompts: tuple[int, int]
    tokens: int
    """New tokens of a reply."""
    samples: int
    micro: int
    games: int
    game_tokens: int


_LARGE = Work(36, 132, (64, 256), 256, samples=128, micro=8, games=256, game_tokens=64)
WORK = {
    "tiny": Work(8, 40, (4, 16), 12, samples=8, micro=4, games=8, game_tokens=8),
    "3b": _LARGE,
    "7b": _LARGE,
}
MEASURED = {
    "generate 64, plain": 19.8,
    "generate 256, plain": 23.2,
    "generate 64, static cache": 5.5,
    "generate 256, static cache, varlen": 14.5,
    "update LoRA, plain": 19.6,
    "update LoRA, features once": 5.9,
    "update LoRA, features once, checkpointing": 8.4,
    "update full, features once": 9.3,
}
"""Seconds of the same work on an H200 in a prototype of the 3b model: what the figures are compared with. Its
full update had no float32 copies and saw the pictures in every pass."""
GAMES_TARGET = 20.0
"""Games per second, times those of a loop that plays one game and asks one question at a time."""


@dataclass
class Bench:
    """One model, and the seconds of everything measured so far."""

    size: str
    seconds: float
    model: Any
    processor: Any

    def __post_init__(self) -> None:
        self.work = WORK[self.size]
        self.answers: dict[str, list[Tokens]] = {}
        self.plain: dict[str, float] = {}
        """The figures of the plain way, by what was done."""
        side = self.work.patches * PATCH
        self.requests = [
            Request([Message("user", (_picture(number, side), TEXT[: self.work.text]))])
            for number in range(max(self.work.prompts))
        ]

    def policy(self, **options: Any) -> TransformersPolicy:
        self.model.requires_grad_(True)  # LoRA froze them
        defaults = {"temperature": 1.0, "max_tokens": self.work.tokens, "varlen": False, "feature_cache": 0}
        return TransformersPolicy(
            self.model, self.processor, ModelOptions(kind="hf", pixel_cache=4096, **{**defaults, **options})
        )

    def generate(self, count: int, way: str, **options: Any) -> Row:
        """Replies to so many prompts with one picture each, in one batch."""
        sampler = self.policy(batch=count, **options).sampler

        async def ask() -> list[Tokens]:
            async with sampler:
                answers = await asyncio.gather(*map(sampler.answer, self.requests[:count]))
            return [answer.tokens for answer in answers if answer.tokens]

        def work() -> None:
            self.answers[way] = asyncio.run(ask())

        tokens = count * self.work.tokens
        return self._row(f"generate {count}, {way}", work, tokens)

    def update(self, way: str, micro: int, **options: Any) -> Row:
        """One pass over samples, without a reference."""
        replies = self.answers["plain"]
        samples = [_sample(replies[number % len(replies)], number) for number in range(self.work.samples)]
        policy = self.policy(**options)
        updater = Updater(policy, OptimizerOptions(lr=1e-6, micro=micro), LossOptions(kl=0.0), 1000)
        tokens = sum(len(sample.prompt_ids) + len(sample.completion_ids) for sample in samples)
        row = self._row(f"update {way}", lambda: updater.update(samples, None), tokens)
        if options.get("lora"):
            policy.model.unload()
        policy.base.model.language_model.gradient_checkpointing_disable()
        if updater.limits.micro != micro:
            row = replace(row, note=f"{row.note}; memory was short: micro={updater.limits.micro}")
        return row

    def games(self, count: int, concurrency: int, **options: Any) -> float:
        """Games per second."""
        policy = self.policy(max_tokens=self.work.game_tokens, batch=concurrency, **options)
        render = RenderOptions(
            size=max(256, self.work.patches * PATCH),
            # The tokenizer has one token per letter: short rules keep prompts as long as a real one would.
            templates=TemplateOverrides.of({"spy": {"rules": "Find the spy."}}),
        )
        rollouts = Rollouts(
            make("spy"), policy.agent(), render=render, config=PlayConfig(retries=0), concurrency=concurrency
        )
        seeds = iter(range(1_000_000_000))

        async def play(games: int) -> None:
            await rollouts.play([RolloutJob(next(seeds)) for _ in range(games)])
            await policy.agent().close()

        if policy.options.kv_cache == "static" and self.model.device.type == "cuda":
            asyncio.run(play(count))  # compiles
        return count / self._timed(lambda: asyncio.run(play(count)))

    def _timed(self, work: Callable[[], Any]) -> float:
        """Seconds; on a CPU those of this process alone, so that others change the figure little."""
        import torch

        cuda = self.model.device.type == "cuda"
        clock = perf_counter if cuda else process_time
        began = clock()
        work()
        if cuda:
            torch.cuda.synchronize()
        return clock() - began

    def _row(self, name: str, work: Callable[[], Any], tokens: int) -> Row:
        """Tokens per second: the median of calls after a first one, which compiles."""
        import torch

        cuda = self.model.device.type == "cuda"
        first = self._timed(work)
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        calls = [self._timed(work)]
        while sum(calls) < self.seconds:
            calls.append(self._timed(work))
        seconds = median(calls)
        value, work_name = tokens / seconds, name.partition(",")[0]
        notes = [f"{seconds:.3g} s, the first time {first:.3g} s"]
        if name.endswith("plain"):
            self.plain[work_name] = value
        elif work_name in self.plain:
            notes.insert(0, _times(value, self.plain[work_name]))
        if cuda:
            notes.append(f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
        before = MEASURED.get(name) if self.size == "3b" else None
        target = None if before is None else tokens / before
        return Row(name, value, "tokens/s", target, note="; ".join(notes))


def rows(seconds: float, size: str = "tiny") -> Iterator[Row]:
    """A random Qwen2.5-VL generates, learns and plays; targets are figures of a prototype on an H200."""
    if size not in WORK:
        raise UnknownName("size", size, WORK)
    if find_spec("torch") is None or find_spec("transformers") is None or find_spec("peft") is None:
        raise MissingExtra("bench train", "train")
    import torch

    device, dtype = ("cuda", "bfloat16") if torch.cuda.is_available() else ("cpu", "float32")
    bench = Bench(size, seconds, *random_qwen(SIZES[size], device, dtype))
    few, many = bench.work.prompts
    micro = bench.work.micro
    static: dict[str, Any] = {"kv_cache": "static"}
    fast: dict[str, Any] = {**static, "varlen": True}
    once: dict[str, Any] = {"varlen": True, "feature_cache": 1024}
    # The kernel of `varlen` stays on once it is used: what does without it comes first.
    yield bench.generate(few, "plain")
    yield bench.generate(few, "static cache", **static)
    yield bench.generate(many, "plain")
    yield bench.update("LoRA, plain", micro, lora=16)
    plain = bench.games(1, 1)
    yield Row("games, one at a time, plain", plain, "games/s")
    yield bench.generate(many, "static cache, varlen", **fast)
    yield bench.generate(many, "static cache, varlen, features once", **fast, feature_cache=1024)
    yield bench.update("LoRA, features once", micro, lora=16, **once)
    yield bench.update("LoRA, features once, checkpointing", 2 * micro, lora=16, checkpointing=True, **once)
    yield bench.update("full, features once", micro, **once)
    games = bench.work.games
    engine = bench.games(games, games, **static, **once)
    note = f"{_times(engine, plain)}; {bench.work.game_tokens} tokens a reply"
    yield Row(f"games, {games} at a time", engine, "games/s", GAMES_TARGET * plain, note=note)


def _times(value: float, plain: float) -> str:
    return f"{value / plain:.1f} times the plain way"


def _picture(seed: int, side: int) -> Picture:
    """Random squares."""
    squares = np.random.default_rng(seed).integers(0, 256, (SQUARES, SQUARES, 3), np.uint8)
    return Picture(squares.repeat(side // SQUARES, 0).repeat(side // SQUARES, 1))


def _sample(tokens: Tokens, number: int) -> TokenSample:
    return TokenSample(
        prompt_ids=tokens.prompt_ids,
        completion_ids=tokens.completion_ids,
        logprobs=tokens.logprobs,
        pictures=tokens.pictures,
        temperature=tokens.temperature,
        advantage=1.0 - number % 2 * 2,
    )
