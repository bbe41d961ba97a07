"""Which episodes a page shows, and which of their moves: the best, the worst, those that went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ludens.core.episode import Episode
from ludens.run.cells import Cell, Row
from ludens.run.results import SuiteResults
from ludens.run.task import EpisodeResult

MOVES = 8
"""Moves of one episode that are shown with picture and prompt."""


@dataclass(frozen=True)
class Pick:
    """An episode and why it was chosen."""

    row: Row
    cell: Cell
    played: EpisodeResult
    tags: tuple[str, ...]
    value: float | None
    """Of the task's first metric."""


def picks(found: SuiteResults, most: int) -> list[Pick]:
    """The most telling ones first, of every entrant and task in turn."""
    piles = [_pile(row, cell)[:most] for row in found.rows for cell in row.cells.values()]
    return [pick for rank in zip_longest(*piles) for pick in rank if pick is not None]


def _pile(row: Row, cell: Cell) -> list[Pick]:
    metric = cell.task.metrics[0]
    values = cell.values(metric)
    tags: dict[tuple[int, int], list[str]] = {}
    if len(set(values.values())) > 1:
        sign = 1 if metric.higher_is_better else -1
        ranked = sorted(values, key=lambda place: sign * values[place])
        tags.setdefault(ranked[-1], []).append("best")
        tags.setdefault(ranked[0], []).append("worst")
    broken = {place: _trouble(played) for place, played in cell.episodes.items()}
    for place in sorted((p for p, count in broken.items() if count), key=lambda p: -broken[p])[:2]:
        tags.setdefault(place, []).append("fallbacks")
    for place in cell.episodes:
        tags.setdefault(place, [])
    return [
        Pick(row, cell, cell.episodes[place], tuple(words), values.get(place))
        for place, words in tags.items()
    ]


def _trouble(played: EpisodeResult) -> int:
    own = [move for move in played.episode.moves if move.seat in played.seats]
    return sum(move.verdict == "fallback" for move in own)


def telling_steps(episode: Episode, seats: Sequence[str], most: int = MOVES) -> set[int]:
    """Steps to show in full: those with refused replies, then others evenly spaced."""
    own = list(dict.fromkeys(move.step for move in episode.moves if move.seat in seats))
    wrong = {move.step for move in episode.moves if move.seat in seats and move.verdict != "ok"}
    chosen = set(_spread([step for step in own if step in wrong], most - 2))
    return chosen | set(_spread([step for step in own if step not in chosen], most - len(chosen)))


def _spread(items: Sequence[int], most: int) -> Iterator[int]:
    if len(items) <= most or most < 2:
        yield from items[: max(most, 0)]
        return
    last = len(items) - 1
    yield from (items[round(i * last / (most - 1))] for i in range(most))
