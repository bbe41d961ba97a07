"""`ludens data viki/LEVEL`: questions with pictures, answers and reasoning, for supervised warm-up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any, cast

from ludens.core.errors import BadOption, UnknownName
from ludens.core.processes import cores, run_in_processes
from ludens.core.registry import make
from ludens.core.view import view_of
from ludens.games.viki.bots import reasoning
from ludens.games.viki.generate import Split, template_of
from ludens.games.viki.levels import AnswerState, Level
from ludens.games.viki.sources import SEAT
from ludens.run.dataset import ColumnType, Dataset, DatasetOrder, count_shares

LEVELS = ("activate", "plan", "trace")
STRIDE = 10_000_000
"""Episode seeds per seed of a dataset; the suite's own tasks use those of seed 0 of `first`."""
FIRST = 1_000
"""Datasets begin this many strides after the seeds of suites, so that no question is in both."""

PART = 100
"""Samples that one process makes at a time."""

COLUMNS: dict[str, ColumnType] = {
    "id": "text",
    "images": "pictures",
    "prompt": "text",
    "text": "text",
    "answer": "text",
    "reasoning": "text",
    "completion": "text",
    "family": "number",
    "template": "text",
    "layout": "text",
}


def build(order: DatasetOrder) -> Dataset:
    level = order.spec.partition("?")[0]
    if level not in LEVELS:
        raise UnknownName("level of viki", level, LEVELS)
    if order.run is not None:
        raise BadOption("datasets of viki are generated; --from is not used.")
    if not 0 <= order.seed < 2**30 or order.n > STRIDE:
        raise BadOption(f"a dataset has at most {STRIDE:,} samples and a seed from 0 to 2**30 - 1.")
    game = make(f"viki/{order.spec}")
    assert isinstance(game, Level)
    first = (FIRST + order.seed) * STRIDE
    seeds = range(first, first + order.n)
    return Dataset(
        name=f"viki/{level}",
        about=f"VIKI, level {LEVELS.index(level) + 1}: prompt, picture, answer and reasoning from templates. "
        "`completion` is the whole reply: reasoning in <think> tags, then the answer in <answer> tags.",
        columns=COLUMNS,
        rows=_rows(order, seeds),
        shares=count_shares("family", [str(_family(game, seed)) for seed in seeds]),
        made_from={"game": game.name, "version": game.version, "options": game.options, "seed": order.seed,
                   "theme": order.render.theme, "size": order.render.size},
    )  # fmt: skip


def _state(game: Level, seed: int) -> AnswerState:
    state = game.start(seed)
    assert isinstance(state, AnswerState)
    return state


def _family(game: Level, seed: int) -> int:
    """Known before the scene is made, unless scenes come from files."""
    if game.look == "map" and not game.data:
        return template_of(seed, cast(Split, game.split)).family
    return _state(game, seed).scene.task.family


def _rows(order: DatasetOrder, seeds: range) -> Iterator[dict[str, Any]]:
    """All rows, on all cores where there are many."""
    parts = [seeds[at : at + PART] for at in range(0, len(seeds), PART)]
    workers = min(cores(), len(parts))
    if workers == 1:
        yield from chain.from_iterable(_part(order, part) for part in parts)
        return
    for _, rows in run_in_processes(partial(_part, order), parts, workers):
        yield from rows


def _part(order: DatasetOrder, seeds: range) -> list[dict[str, Any]]:
    game = make(f"viki/{order.spec}")
    assert isinstance(game, Level)
    return [_row(game, seed, order) for seed in seeds]


def _row(game: Level, seed: int, order: DatasetOrder) -> dict[str, Any]:
    state, view = _state(game, seed), view_of(game, order.render, seed)
    form = view.format(state, SEAT)
    answer, why = state.solution(SEAT) or "", reasoning(state)
    system, notes = view.system(state, SEAT), view.notes(state, SEAT)
    parts = (system, notes) if system else (view.rules(SEAT), notes, form.ask(state.legal(SEAT)))
    return {
        "id": f"{game.name}/{seed}",
        "images": view.images(state, SEAT),
        "prompt": "\n\n".join(parts),
        "text": view.text(state, SEAT),
        "answer": answer,
        "reasoning": why,
        "completion": f"<think>{why}</think>{form.write(answer)}",
        "family": state.scene.task.family,
        "template": state.scene.task.template,
        "layout": state.scene.layout,
    }
