"""One row per episode, void ones included: what a data frame of a run contains. See `Suite.left_out`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from ludens.core.episode import Episode, Usage
from ludens.run.cells import entrant_seats
from ludens.run.entrants import all_settings
from ludens.run.plan import Plan
from ludens.run.reply_stats import count_replies
from ludens.run.report.export import Types, types_of
from ludens.run.results import Results
from ludens.run.seats import seated_name
from ludens.run.store import Head, read_lines
from ludens.run.task import EpisodeResult

METRIC = "metric."
"""Prefix of the columns of metrics."""


@dataclass(frozen=True)
class EpisodeRow:
    """The columns of every table of episodes; a column for each metric follows.

    Counts, tokens, cost and seconds are those of the entrant's seats.
    """

    suite: str
    run: str
    key: str
    task: str
    game: str
    entrant: str
    spec: str
    seed: int
    seating: int
    sample: int
    status: str
    """"done", "horizon", "forfeit" or "void"; an episode that was void and played again has two rows."""
    seats: str
    """The entrant's seats, separated by semicolons."""
    returns: str | None
    """The return of every seat as a JSON object; None for void episodes."""
    moves: int
    fallbacks: int
    retried: int
    replies: int
    truncated: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    """Time that the entrant took for its moves."""
    error: str
    modality: str | None = None
    blind: bool | None = None
    style: str | None = None
    frames: int | None = None
    memory: str | None = None


def episode_types(results: Results) -> Types:
    """The columns of the table and their types."""
    metrics = {
        metric.name: float
        for found in results.suites
        for task in found.tasks.values()
        for metric in task.metrics
        if metric.paired
    }
    return {**types_of(EpisodeRow), **{METRIC + name: kind for name, kind in metrics.items()}}


def episode_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Every episode of the runs, read from their folders in the order they were written.

    Metrics that have no value for single episodes have no column; where a metric does not apply it is None.
    """
    empty: dict[str, Any] = dict.fromkeys(name for name in episode_types(results) if name.startswith(METRIC))
    for folder, plan in results.plans.items():
        for head, _, data in read_lines(folder):
            if not head.void and head.key in results.left_out.get(folder, ()):
                continue
            played = EpisodeResult(
                head.key, Episode.from_json(data), entrant_seats(plan.chosen[head.task], head.seating)
            )
            yield {**asdict(_row(folder, plan, head, played)), **empty, **metrics_of(plan, head.task, played)}


def _row(folder: Path, plan: Plan, head: Head, played: EpisodeResult) -> EpisodeRow:
    episode, spec = played.episode, plan.entrants[head.entrant]
    void = episode.status == "void"
    moves = [m for m in (*episode.moves, *episode.unfinished) if m.seat in played.seats]
    counts = count_replies(moves)
    usage = sum((episode.usage(seat) for seat in played.seats), Usage(calls=0))
    return EpisodeRow(
        suite=plan.suite,
        run=str(folder),
        key=head.key,
        task=head.task,
        game=episode.game,
        entrant=seated_name(head.entrant, plan.seated),
        spec=spec,
        seed=episode.seed,
        seating=head.seating,
        sample=episode.sample,
        status=episode.status,
        seats=";".join(played.seats),
        returns=None if void else orjson.dumps(episode.returns).decode(),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
        seconds=round(sum(move.ms for move in moves) / 1000, 3),
        error=episode.error,
        moves=counts["moves"],
        fallbacks=counts["fallbacks"],
        retried=counts["retried"],
        replies=counts["replies"],
        truncated=counts["truncated"],
        **all_settings(spec),
    )


def metrics_of(plan: Plan, task: str, played: EpisodeResult) -> dict[str, float | None]:
    """Column to value for the metrics of a task that single episodes have; empty for void episodes."""
    if played.episode.status == "void":
        return {}
    values = {m.name: m.value(played) for m in plan.chosen[task].metrics if m.paired}
    return {METRIC + name: None if value is None else float(value) for name, value in values.items()}
