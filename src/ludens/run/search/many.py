"""Searches for the best blind players of many tasks, in several processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ludens.run.baselines.many import BaselineOrder, each, read_stored, task_of, tried
from ludens.run.search import Say, Search, search
from ludens.run.task import suite


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

    known = None if again else read_stored(order)
    return tried(
        lambda: search(
            order.suite, task_of(order), order.episodes, budget, known, said, suite(order.suite).deaf
        ),
        order,
    )
