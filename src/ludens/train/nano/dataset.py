"""Demonstrations as arrays, made by many processes: tokens of prompts and replies, and shrunk pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from ludens.rebuild import Sample as Rebuilt
from ludens.train.demonstrations import FIRST_SEED, in_chunks, play_bot, recorded
from ludens.train.nano.pictures import shrink
from ludens.train.nano.prompts import short_prompt
from ludens.train.nano.tokens import Vocabulary
from ludens.train.recipe import DemonstrationOptions, PlayOptions

VOCABULARY_EPISODES = 256


@dataclass
class Dataset:
    """Samples to imitate. Prompts are padded on the left, replies on the right."""

    prompts: np.ndarray[Any, Any]
    replies: np.ndarray[Any, Any]
    prompt_lengths: np.ndarray[Any, Any]
    reply_lengths: np.ndarray[Any, Any]
    picture: np.ndarray[Any, Any]
    """Of each sample, the number of its picture."""
    pictures: np.ndarray[Any, Any]
    """(pictures, 3, side, side), bytes."""

    def __len__(self) -> int:
        return len(self.prompts)

    def batches(self, size: int, seed: str) -> Iterator[np.ndarray[Any, Any]]:
        """Every sample once, in batches of prompts of similar length: less padding."""
        random = Random(seed)
        order = list(range(len(self)))
        random.shuffle(order)
        batches = []
        for start in range(0, len(order), 16 * size):
            part = sorted(order[start : start + 16 * size], key=lambda n: int(self.prompt_lengths[n]))
            batches += [part[place : place + size] for place in range(0, len(part), size)]
        random.shuffle(batches)
        yield from map(np.array, batches)


@dataclass(frozen=True)
class Shape:
    """What samples are cut to."""

    side: int
    longest: int
    max_tokens: int


@dataclass
class _Part:
    """The samples of some episodes."""

    prompts: list[list[int]]
    replies: list[list[int]]
    picture: list[int]
    pictures: list[np.ndarray[Any, Any]]


def vocabulary_of(play: PlayOptions, options: DemonstrationOptions) -> Vocabulary:
    """Every piece of the first prompts and replies."""
    texts: set[str] = set()
    for sample in _some(play, options):
        texts.update((short_prompt(sample.game, sample.ask), sample.completion))
    return Vocabulary.of(texts)


def _some(play: PlayOptions, options: DemonstrationOptions) -> Iterable[Rebuilt]:
    if options.run:
        return islice(recorded(Path(options.run)), 20 * VOCABULARY_EPISODES)
    bot = options.bot if options.episodes else "bot/random"
    return play_bot(play, bot, range(FIRST_SEED, FIRST_SEED + VOCABULARY_EPISODES))


def make_dataset(
    play: PlayOptions, options: DemonstrationOptions, vocabulary: Vocabulary, shape: Shape
) -> Dataset:
    """Play, or read a run, and encode."""
    if options.run:
        return _joined([encode(recorded(Path(options.run)), vocabulary, shape)], vocabulary, shape)
    work = partial(_encoded, play, options.bot, vocabulary, shape)
    return _joined(list(in_chunks(work, options)), vocabulary, shape)


def _encoded(
    play: PlayOptions, bot: str, vocabulary: Vocabulary, shape: Shape, seeds: Sequence[int]
) -> _Part:
    return encode(play_bot(play, bot, seeds), vocabulary, shape)


def encode(samples: Iterable[Rebuilt], vocabulary: Vocabulary, shape: Shape) -> _Part:
    """Samples as numbers; equal samples (all voters of a game) are kept once."""
    part, known, done = _Part([], [], [], []), dict[str, int](), set[tuple[Any, ...]]()
    for sample in samples:
        prompt = vocabulary.encode(short_prompt(sample.game, sample.ask))
        reply = [*vocabulary.encode(sample.completion), vocabulary.end]
        pictures = sample.pictures[-1:]
        shown = pictures[0].hash if pictures else ""
        key = (*prompt, -1, *reply, shown)
        if key in done or len(reply) > shape.max_tokens:
            continue
        done.add(key)
        if shown not in known:
            known[shown] = len(part.pictures)
            part.pictures.append(shrink(pictures[0] if pictures else None, shape.side))
        part.prompts.append(prompt[-(shape.longest - shape.max_tokens) :])
        part.replies.append(reply)
        part.picture.append(known[shown])
    return part


def _joined(parts: Sequence[_Part], vocabulary: Vocabulary, shape: Shape) -> Dataset:
    prompts = [prompt for part in parts for prompt in part.prompts]
    replies = [reply for part in parts for reply in part.replies]
    before, numbers = 0, []
    for part in parts:
        numbers += [before + number for number in part.picture]
        before += len(part.pictures)
    width, height = max(map(len, prompts), default=1), max(map(len, replies), default=1)
    prompt_ids = np.full((len(prompts), width), vocabulary.pad, np.int16)
    reply_ids = np.full((len(replies), height), vocabulary.pad, np.int16)
    for row, (prompt, reply) in enumerate(zip(prompts, replies, strict=True)):
        prompt_ids[row, width - len(prompt) :] = prompt
        reply_ids[row, : len(reply)] = reply
    return Dataset(
        prompt_ids,
        reply_ids,
        np.array(list(map(len, prompts)), np.int32),
        np.array(list(map(len, replies)), np.int32),
        np.array(numbers, np.int64),
        np.stack([picture for part in parts for picture in part.pictures]),
    )
