"""Measures many tasks, or searches for their best blind players, in several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ludens.run.baselines import measure
from ludens.run.baselines.many import BaselineOrder, each, read_any, read_stored, task_of, tried
from ludens.run.references import TaskReferences, definition_of
from ludens.run.search import Say, Search, measure_again, search
from ludens.run.task import suite


def measure_all(
    wanted: Sequence[BaselineOrder], workers: int
) -> Iterator[tuple[BaselineOrder, TaskReferences | str]]:
    """The references of each order as they are known, or why there are none.

    Players that a search found earlier are measured with the others, so that none is forgotten.
    """
    return each(_measured, wanted, workers)


def _measured(order: BaselineOrder) -> TaskReferences | str:
    return tried(lambda: _anew(order), order)


def _anew(order: BaselineOrder) -> TaskReferences:
    earlier = read_any(order)
    if earlier is None or order.file is None:
        return measure(order.suite, task_of(order), order.episodes)
    definitions = {player.name: definition_of(order.file, player) for player in earlier.players}
    return measure_again(order.suite, task_of(order), order.episodes, earlier, definitions)


def searched(
    wanted: Sequence[BaselineOrder],
    workers: int,
    budget: int = 0,
    again: bool = False,
    say: Say | None = None,
) -> Iterator[tuple[BaselineOrder, Search | str]]:
    """What a search found for each order as it is known, or why nothing.

    Args:
        wanted: The tasks.
        workers: Number of processes.
        budget: Questions or games of other seeds for each task; 0 for its default.
        again: Whether to measure again what is stored.
        say: A function of a module, called in the processes with what is done.
    """
    return each(partial(_searched, budget=budget, again=again, say=say), wanted, workers)


def _searched(order: BaselineOrder, budget: int, again: bool, say: Say | None) -> Search | str:
    def said(text: str) -> None:
        if say is not None:
            say(f"{order.suite} {order.task}: {text}")

    def found() -> Search:
        known = None if again else read_stored(order)
        known, deaf = known or _anew(order), suite(order.suite).deaf
        return search(order.suite, task_of(order), order.episodes, budget, known, said, deaf)

    return tried(found, order)
