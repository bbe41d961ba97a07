"""Supervised samples: replies of bots, people or models, with the prompts they answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.rebuild import Sample as Rebuilt
from ludens.rebuild import samples as rebuild
from ludens.train.recipe import DemonstrationOptions, PlayOptions

T = TypeVar("T")

FIRST_SEED = 2_000_000
"""Of demonstrations; far from the seeds of play and evaluation."""
CHUNK = 16
"""Episodes per task of a worker."""


def demonstrations(play: PlayOptions, options: DemonstrationOptions) -> Iterator[Rebuilt]:
    """What is to be imitated: replies of a bot, or those of a run folder."""
    if options.run:
        yield from recorded(Path(options.run))
        return
    for part in in_chunks(partial(play_bot, play, options.bot), options):
        yield from part


def in_chunks(work: Callable[[Sequence[int]], T], options: DemonstrationOptions) -> Iterator[T]:
    """What `work` makes of the seeds of all demonstrations, a chunk at a time, in worker processes."""
    end = FIRST_SEED + options.episodes
    chunks = [range(start, min(start + CHUNK, end)) for start in range(FIRST_SEED, end, CHUNK)]
    workers = options.workers or os.cpu_count() or 1
    if workers == 1 or len(chunks) < 4:
        yield from map(work, chunks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from pool.map(work, chunks, chunksize=4)


def play_bot(play: PlayOptions, bot: str, seeds: Iterable[int]) -> list[Rebuilt]:
    """The replies of a bot that plays all seats."""
    game = make(play.game)
    render, config = RenderOptions(play.theme, play.size), PlayConfig()
    found: list[Rebuilt] = []
    for seed in seeds:
        agents = {seat: agent(bot, game) for seat in game.seats}
        episode = play_sync(game, agents, seed, render=render, config=config)
        if episode.status == "void":
            raise BadOption(f"{bot} failed in {play.game}, seed {seed}: {episode.error}")
        found.extend(_light(rebuild(episode, game)))
    return found


def recorded(folder: Path) -> Iterator[Rebuilt]:
    """Every accepted reply of the finished episodes of a run."""
    from ludens.run.store import iter_records

    for record in iter_records(folder):
        if record.episode.status in ("done", "horizon"):
            yield from (s for s in _light(rebuild(record.episode)) if s.attempt.verdict == "ok")


def _light(samples: Iterable[Rebuilt]) -> Iterator[Rebuilt]:
    """Samples without what training does not need."""
    for sample in samples:
        yield replace(sample, ask=replace(sample.ask, state=None, history=()))
