"""Supervised samples: replies of bots, people or models, with the prompts they answered."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from ludens.agents import agent, import_agent, imported_agents
from ludens.concurrent import play_sync
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.ask import History
from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError
from ludens.core.processes import WorkerDied, WorkerPool, cores
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.view import UNSEEN, RenderOptions
from ludens.games.boards import listing
from ludens.rebuild import Sample as Rebuilt
from ludens.rebuild import samples as rebuild
from ludens.run.dataset import arrow
from ludens.train import ranks
from ludens.train.recipe import Demonstration, Recipe
from ludens.train.rollout import Recorder
from ludens.train.transformers_policy import TransformersPolicy, pil_image

T = TypeVar("T")

FIRST_SEED = 2_000_000
"""Of demonstrations; far from the seeds of play and evaluation."""
CHUNK, TASKS = 16, 16
"""Most episodes per task of a worker, and tasks of a source with few episodes: those are long."""


@dataclass(frozen=True)
class SourceChunk:
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


def chunks_of(sources: Iterable[Demonstration], number: int = 0) -> list[SourceChunk]:
    """The work of a round. Each round has seeds of its own, unless a source has a pool of them."""
    chunks = []
    for source in sources:
        if source.run:
            chunks.append(SourceChunk(source))
            continue
        first = number * source.episodes
        start = FIRST_SEED + (first % source.pool if source.pool else first)
        end, step = start + source.episodes, min(CHUNK, max(1, source.episodes // TASKS))
        seeds = [range(at, min(at + step, end)) for at in range(start, end, step)]
        chunks += [SourceChunk(source, some, number * len(seeds) + i) for i, some in enumerate(seeds)]
    return chunks


Map = Callable[[Callable[[SourceChunk], T], Sequence[SourceChunk]], Iterator[T]]


@contextmanager
def processes(workers: int, chunks: int) -> Iterator[Map[Any]]:
    """A `map` over worker processes (0: one per core), or in this process for few chunks."""
    workers = workers or cores()
    if workers == 1 or chunks < 4:
        yield lambda work, tasks: map(work, tasks)
        return
    with WorkerPool(workers, _begin, (imported_agents(),)) as pool:

        def run(work: Callable[[SourceChunk], T], tasks: Sequence[SourceChunk]) -> Iterator[T]:
            futures = deque(pool.submit(work, task) for task in tasks)  # before any result is read
            return (futures.popleft().result() for _ in range(len(futures)))

        try:
            with pool.watched():
                yield run
        except WorkerDied:
            raise UsageError(
                "a process that makes demonstrations ended: memory may be short; the same command goes on."
            ) from None


def map_rounds(
    work: Callable[[SourceChunk], T],
    sources: Sequence[Demonstration],
    numbers: Iterable[int],
    workers: int = 0,
) -> Generator[list[T], None, None]:
    """The results of `work` for the chunks of each round.

    The next round is begun before one is yielded, so that no process waits for the slowest.
    """
    begun = deque[Iterator[T]]()
    run: Map[T]
    with processes(workers, len(chunks_of(sources))) as run:
        for number in numbers:
            begun.append(run(work, chunks_of(sources, number)))
            if len(begun) > 1:
                yield list(begun.popleft())
        while begun:
            yield list(begun.popleft())


def _begin(agents: tuple[str, ...]) -> None:
    """Import the agents that the user has named, and leave the cores to the process that trains: a GPU waits
    while it does not run."""
    for name in agents:
        import_agent(name)
    if hasattr(os, "nice"):
        os.nice(10)


def demonstrations(sources: Sequence[Demonstration], workers: int = 0) -> Iterator[Rebuilt]:
    chunks = chunks_of(sources)
    with processes(workers, len(chunks)) as run:
        for part in run(_listed, chunks):
            yield from part


def rehearsed(recipe: Recipe) -> list[Demonstration]:
    """The demonstrations of games that are not played, a share of each."""
    game_played, share = make(recipe.play.game).name, recipe.rehearsal.share
    return [
        replace(source, episodes=max(1, round(share * source.episodes)), pool=0)
        for source in recipe.sources
        if source.episodes and make(source.game).name != game_played
    ]


def _listed(chunk: SourceChunk) -> list[Rebuilt]:
    return list(replies(chunk))


def replies(chunk: SourceChunk) -> Iterator[Rebuilt]:
    roles = chunk.source.roles.split()
    samples = _read_run(Path(chunk.source.run)) if chunk.source.run else _play_chunk(chunk)
    for sample in samples:
        if not roles or sample.ask.role in roles or sample.ask.seat in roles:
            # Samples travel between processes, without the fields that training does not need.
            yield replace(sample, ask=replace(sample.ask, state=None, history=()))


def _read_run(folder: Path) -> Iterator[Rebuilt]:
    """Every accepted reply of the finished episodes of a run."""
    from ludens.run.lines import iter_records

    for record in iter_records(folder):
        if record.episode.status in ("done", "horizon"):
            yield from (s for s in rebuild(record.episode) if s.attempt.verdict == "ok")


def _play_chunk(chunk: SourceChunk) -> Iterator[Rebuilt]:
    source = chunk.source
    game, render = make(source.game), chunk.render
    for seed in chunk.seeds:
        start = game.start(seed)
        state = start.clone()
        players = {seat: agent(source.player, game) if source.player else None for seat in game.seats}
        teachers = {
            seat: Taught(agent(source.bot, game), player=other, state=state)
            for seat, other in players.items()
        }
        config = PlayConfig(listed=source.listed)
        episode = play_sync(game, teachers, seed, first=state, render=render, config=config)
        if episode.status == "void":
            raise BadOption(f"{source.bot} failed in {source.game}, seed {seed}: {episode.error}")
        records = (record for teacher in teachers.values() for record in teacher.records)
        labels = {(ask.seat, ask.step): reply for ask, reply in records}
        for sample in rebuild(episode, game, state=start):
            label = labels[sample.ask.seat, sample.ask.step]
            yield replace(sample, completion=_completion(source, sample.ask, label))
            random = stream(seed, "refused", sample.ask.seat, sample.ask.step)
            if label.action and len(sample.ask.legal) > 2 and random.random() < source.refused:
                yield _after_refusal(source, sample, label, random)


def _completion(source: Demonstration, ask: Ask, label: Reply) -> str:
    """The reply to imitate: the teacher's own words, or its action in the format of the question."""
    spoken = label.text != label.action or label.action is None
    completion = label.text if spoken else ask.format.write(label.action or "")
    if source.list_moves and label.action:
        moves = [move for move in ask.legal if (move, "") not in ask.refused]
        completion = f"{listing(moves, label.action, shown=ask.listed)}\n{completion}"
    return completion


def _after_refusal(source: Demonstration, sample: Rebuilt, label: Reply, random: Stream) -> Rebuilt:
    """The same question after one or two refused replies.

    A model that is sure of a move repeats it after a refusal. So in half of these questions the best move
    itself counts as refused, although it is legal, and another move is right.
    """
    ask, best = sample.ask, label.action or ""
    alternatives = [move for move in ask.legal if move != best]
    refused = random.sample(alternatives, random.between(1, min(2, len(alternatives) - 1)))
    move = best
    if random.below(2):
        refused[-1] = best
        move = random.choice([move for move in alternatives if move not in refused])
    for text in refused:
        ask = ask.again(text, "")
    return replace(sample, ask=ask, completion=_completion(source, ask, Reply(move, move)))


@dataclass
class Taught(Recorder):
    """Keeps what a teacher (`inner`) would reply, and does it, or lets another player act.

    Positions that only a weaker player reaches are then labelled too.
    """

    player: Agent | None = None
    state: State | None = None
    """The state of the game, for a teacher or player that reads it; the question fits the other one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.sees = self._looking.sees

    @property
    def _looking(self) -> Agent:
        """The teacher or the player, whichever is shown the game."""
        return self.inner if self.player is None or self.inner.sees not in UNSEEN else self.player

    def history(self) -> History:
        return self._looking.history()

    def begin(self) -> None:
        super().begin()
        if self.player is not None:
            self.player = self.player.sit(self.game, self.seat, self.random)

    async def act(self, ask: Ask) -> Reply:
        ask = replace(ask, state=self.state)
        label = await super().act(ask)
        return label if self.player is None else await self.player.act(ask)


def rows_from(recipe: Recipe) -> Iterator[dict[str, Any]]:
    """All samples to imitate, in the layout of TRL: replies in games, then datasets."""
    games = [source for source in recipe.sources if not source.data]
    yield from rows_of(demonstrations(games, recipe.supervised.workers))
    for source in recipe.sources:
        if source.data:
            yield from rows_in(Path(source.data), source.column)


def rows_in(folder: Path, column: str) -> Iterator[dict[str, Any]]:
    """The rows of a dataset, such as `ludens data viki/plan`: columns `prompt`, `images` and the replies."""
    from PIL import Image

    files = sorted(folder.rglob("*.parquet"))
    if not files:
        raise BadFile(f"{str(folder)!r} has no Parquet files.")
    parquet = arrow().parquet
    columns = ["prompt", "images", column]
    for file in files:
        try:
            table = parquet.ParquetFile(file)
            missing_column = next((name for name in columns if name not in table.schema_arrow.names), None)
            if missing_column is not None:
                raise BadFile(f"{str(file)!r} has no column {missing_column!r}.")
            batches = table.iter_batches(batch_size=64, columns=columns)
            rows = (row for batch in batches for row in batch.to_pylist())
            for row in rows:
                images = [Image.open(BytesIO(image["bytes"])).convert("RGB") for image in row["images"]]
                yield _row([("user", [*images, row["prompt"]])], row[column], images)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise BadFile(f"{str(file)!r} cannot be read as a dataset: {error}.") from None


def rows_of(rebuilt: Iterable[Rebuilt]) -> Iterable[dict[str, Any]]:
    for sample in rebuilt:
        messages = [(message.role, message.parts) for message in sample.messages]
        yield _row(messages, sample.completion, [pil_image(picture) for picture in sample.pictures])


def _row(messages: Sequence[tuple[str, Sequence[Any]]], reply: str, images: list[Any]) -> dict[str, Any]:
    """A sample in the layout of TRL: a prompt with picture placeholders, a completion, the pictures."""

    def message(role: str, parts: Sequence[Any]) -> dict[str, Any]:
        texts = [part if isinstance(part, str) else None for part in parts]
        content = [{"type": "image" if text is None else "text", "text": text} for text in texts]
        return {"role": role, "content": content}

    prompt = [message(role, parts) for role, parts in messages]
    return {"prompt": prompt, "completion": [message("assistant", [reply])], "images": images}


def train_supervised(
    policy: TransformersPolicy, rows: list[dict[str, Any]], recipe: Recipe, folder: Path
) -> list[float]:
    """Train the policy in place; returns the losses that were logged.

    `max_length=None`: a limit that cuts a completion trains on nothing, without an error. Rows are shared out
    here: by itself TRL would learn from so many batches at once as there are ranks, and from some rows twice.
    """
    try:
        from datasets import Dataset
        from trl import SFTConfig, SFTTrainer
    except ImportError:
        raise MissingExtra("supervised training of hf models", "train") from None
    import torch
    from torch.utils.data import DataLoader

    supervised, optimizer = recipe.supervised, recipe.optimizer
    cuda = torch.cuda.is_available() and policy.base.device.type == "cuda"
    shares = Shares(len(rows), supervised.batch, optimizer.micro, recipe.run.seed, *ranks.world())
    config = SFTConfig(
        output_dir=str(folder),
        per_device_train_batch_size=shares.micro,
        gradient_accumulation_steps=shares.passes,
        num_train_epochs=supervised.epochs,
        learning_rate=supervised.lr,
        lr_scheduler_type="cosine",
        warmup_steps=optimizer.warmup,
        weight_decay=supervised.weight_decay,
        max_grad_norm=optimizer.grad_norm or 1e9,
        max_length=None,
        completion_only_loss=True,
        gradient_checkpointing=False,
        use_cpu=not cuda,
        bf16=cuda,
        seed=recipe.run.seed,
        report_to=[],
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
    )

    class Shared(SFTTrainer):
        def get_train_dataloader(self) -> Any:
            return DataLoader(Filled(self.train_dataset), batch_sampler=shares, collate_fn=self.collated)

        def collated(self, items: list[tuple[dict[str, Any], bool]]) -> Any:
            batch = self.data_collator([row for row, _ in items])
            batch["labels"][[not counts for _, counts in items]] = -100
            return batch

    dataset = Dataset.from_list(rows)
    trainer = Shared(policy.model, config, train_dataset=dataset, processing_class=policy.processor)
    trainer.train()
    policy.train(False)
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


@dataclass
class Shares:
    """The rows of one rank in each forward pass, for as many updates as one rank alone would make.

    All ranks have the same number of passes: one that has a row less gets one that does not count, with a
    number beyond all rows.

    Args:
        batch: Rows of all ranks in an update; fewer in the last one of an epoch.
        most: Rows in a pass.
    """

    rows: int
    batch: int
    most: int
    seed: int
    rank: int = 0
    size: int = 1
    epoch: int = 0

    @property
    def micro(self) -> int:
        """Most rows of a rank in a pass."""
        return min(self.most, ceil(self.batch / self.size))

    @property
    def passes(self) -> int:
        """Of an update, all but the last one of an epoch."""
        return ceil(ceil(self.batch / self.size) / self.micro)

    def __len__(self) -> int:
        whole, rest = divmod(self.rows, self.batch)
        return whole * self.passes + ceil(ceil(rest / self.size) / self.micro)

    def __iter__(self) -> Iterator[list[int]]:
        import torch

        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(self.rows, generator=generator).tolist()
        self.epoch += 1
        for start in range(0, self.rows, self.batch):
            batch = order[start : start + self.batch]
            own = batch[self.rank :: self.size]
            if len(own) < ceil(len(batch) / self.size):
                own.append(self.rows + batch[0])
            for at in range(0, len(own), self.micro):
                yield own[at : at + self.micro]


@dataclass
class Filled:
    """Rows, and whether they count: numbers beyond the last row are those of rows that do not."""

    rows: Sequence[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> tuple[dict[str, Any], bool]:
        return self.rows[number % len(self.rows)], number < len(self.rows)
