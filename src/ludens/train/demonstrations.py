"""Supervised samples: replies of bots, people or models, with the prompts they answered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from ludens.agents import agent
from ludens.concurrent import play_sync
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.cores import cores
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.listing import listing
from ludens.rebuild import Sample as Rebuilt
from ludens.rebuild import samples as rebuild
from ludens.train.recipe import Demonstration, Recipe
from ludens.train.rollout import Recorder

T = TypeVar("T")

FIRST_SEED = 2_000_000
"""Of demonstrations; far from the seeds of play and evaluation."""
CHUNK, TASKS = 16, 16
"""Most episodes per task of a worker, and tasks of a source with few episodes: those are long."""


@dataclass(frozen=True)
class Chunk:
    """Some episodes of a source; none for the episodes of a run folder."""

    source: Demonstration
    seeds: range = range(0)
    number: int = 0
    """Of the chunk, counted through all rounds."""

    @property
    def render(self) -> RenderOptions:
        """How its pictures look: themes and sizes take turns.

        All of a chunk look alike, because the sprites of a random look take longer to draw than a picture.
        """
        themes, sizes = self.source.theme.split(), self.source.size.split()
        theme, size = themes[self.number % len(themes)], sizes[self.number // len(themes) % len(sizes)]
        return RenderOptions(f"random:{FIRST_SEED + self.number}" if theme == "random" else theme, int(size))


def chunks_of(sources: Iterable[Demonstration], number: int = 0) -> list[Chunk]:
    """The work of a round. Each round has seeds of its own."""
    made = []
    for source in sources:
        if source.run:
            made.append(Chunk(source))
            continue
        start = FIRST_SEED + number * source.episodes
        end, step = start + source.episodes, min(CHUNK, max(1, source.episodes // TASKS))
        seeds = [range(at, min(at + step, end)) for at in range(start, end, step)]
        made += [Chunk(source, some, number * len(seeds) + i) for i, some in enumerate(seeds)]
    return made


Map = Callable[[Callable[[Chunk], T], Sequence[Chunk]], Iterator[T]]


@contextmanager
def processes(workers: int, chunks: int) -> Iterator[Map[Any]]:
    """A `map` over worker processes, or in this one where there is little to do.

    Args:
        workers: How many; 0 for one per core.
        chunks: How much there is to do.
    """
    workers = workers or cores()
    if workers == 1 or chunks < 4:
        yield lambda work, todo: map(work, todo)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _step_back) as pool:
        yield lambda work, todo: pool.map(work, todo)


def _step_back() -> None:
    """Leave the cores to the process that trains: a GPU waits while it does not run."""
    if hasattr(os, "nice"):
        os.nice(10)


def demonstrations(sources: Sequence[Demonstration], workers: int = 0) -> Iterator[Rebuilt]:
    """Everything that is to be imitated, of one round."""
    todo = chunks_of(sources)
    with processes(workers, len(todo)) as run:
        for part in run(_listed, todo):
            yield from part


def rehearsed(recipe: Recipe) -> list[Demonstration]:
    """The demonstrations of games that are not played, a share of each."""
    played, share = make(recipe.play.game).name, recipe.rehearsal.share
    return [
        replace(source, episodes=max(1, round(share * source.episodes)))
        for source in recipe.sources
        if source.episodes and make(source.game).name != played
    ]


def _listed(chunk: Chunk) -> list[Rebuilt]:
    return list(replies(chunk))


def replies(chunk: Chunk) -> Iterator[Rebuilt]:
    """The replies of some episodes, with their prompts."""
    wanted = chunk.source.roles.split()
    samples = _recorded(Path(chunk.source.run)) if chunk.source.run else _played(chunk)
    for sample in samples:
        if not wanted or sample.ask.role in wanted or sample.ask.seat in wanted:
            # What training does not need is left out: samples travel between processes.
            yield replace(sample, ask=replace(sample.ask, state=None, history=()))


def _recorded(folder: Path) -> Iterator[Rebuilt]:
    """Every accepted reply of the finished episodes of a run."""
    from ludens.run.store import iter_records

    for record in iter_records(folder):
        if record.episode.status in ("done", "horizon"):
            yield from (s for s in rebuild(record.episode) if s.attempt.verdict == "ok")


def _played(chunk: Chunk) -> Iterator[Rebuilt]:
    source = chunk.source
    game, render = make(source.game), chunk.render
    for seed in chunk.seeds:
        taught = {seat: _taught(source, game) for seat in game.seats}
        episode = play_sync(game, taught, seed, render=render, config=PlayConfig())
        if episode.status == "void":
            raise BadOption(f"{source.bot} failed in {source.game}, seed {seed}: {episode.error}")
        labels = {(ask.seat, ask.step): reply for one in taught.values() for ask, reply in one.records}
        for sample in rebuild(episode, game):
            label = labels[sample.ask.seat, sample.ask.step]
            spoken = label.text != label.action or label.action is None
            said = label.text if spoken else sample.ask.format.write(label.action or "")
            if source.list_moves and label.action:
                said = f"{listing(sample.ask.legal, label.action)}\n{said}"
            yield replace(sample, completion=said)


def _taught(source: Demonstration, game: Game) -> Taught:
    player = agent(source.player, game) if source.player else None
    return Taught(agent(source.bot, game), player=player)


@dataclass
class Taught(Recorder):
    """Keeps what a teacher (`inner`) would reply, and does it, or lets another player act.

    Positions that only a weaker player reaches are then labelled too.
    """

    player: Agent | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.player is not None and self.player.sees == "state":
            self.sees = "state"

    def begin(self) -> None:
        super().begin()
        if self.player is not None:
            self.player = self.player.sit(self.game, self.seat, self.random)

    async def act(self, ask: Ask) -> Reply:
        label = await super().act(ask)
        return label if self.player is None else await self.player.act(ask)
