"""Orders of reference scores for many tasks, each definition once, and work on them in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ludens.core.errors import UnknownName, UsageError
from ludens.core.processes import WorkerDied, run_in_processes
from ludens.core.registry import make
from ludens.run.baselines import default_episodes
from ludens.run.references import TaskReferences, definition, read_references
from ludens.run.task import Suite, Task, import_suite, suite

T = TypeVar("T")


@dataclass(frozen=True)
class BaselineOrder:
    key: str
    suite: str
    task: str
    episodes: int
    file: Path | None
    least: int = 0
    """Episodes that stored references must have to be used."""


def orders(
    suites: Mapping[str, Suite], tasks: Sequence[str] = (), episodes: int = 0, out: Path | None = None
) -> list[BaselineOrder]:
    """What to measure: every definition once per file, with the most episodes that a suite wants of it.

    Whole games come first, since they take longest.
    """
    named = {task.name for whole in suites.values() for task in whole.tasks}
    for name in tasks:
        if name not in named:
            raise UnknownName(f"task of {', '.join(suites)}", name, named)
    chosen: dict[tuple[str, Path | None], BaselineOrder] = {}
    for name, whole in suites.items():
        for task in whole.tasks:
            if tasks and task.name not in tasks:
                continue
            file, count = out or whole.references, episodes or default_episodes(task)
            order = BaselineOrder(definition(task), name, task.name, count, file, episodes)
            earlier = chosen.get((order.key, file))
            if earlier is None or earlier.episodes < count:
                chosen[order.key, file] = order
    tasks_of = {(name, task.name): task for name, whole in suites.items() for task in whole.tasks}
    return sorted(chosen.values(), key=lambda order: make(tasks_of[order.suite, order.task].game).question)


def read_stored(order: BaselineOrder) -> TaskReferences | None:
    """The references of an order, if they have as many episodes as it asks for."""
    references = read_any(order)
    return references if references is not None and references.episodes >= order.least else None


def read_any(order: BaselineOrder) -> TaskReferences | None:
    """The references of an order, of however many episodes."""
    if order.file is None or not order.file.is_file():
        return None
    return read_references(order.file).get(order.key)


def each(
    work: Callable[[BaselineOrder], T | str], wanted: Sequence[BaselineOrder], workers: int
) -> Iterator[tuple[BaselineOrder, T | str]]:
    """The result of each order as it is known, or why there is none."""
    if workers < 2 or len(wanted) < 2:
        yield from ((order, work(order)) for order in wanted)
        return
    missing = dict.fromkeys(wanted)
    try:
        for order, result in run_in_processes(work, wanted, min(workers, len(wanted)), ordered=False):
            del missing[order]
            yield order, result
    except WorkerDied:
        reason = "a process ended unexpectedly; run the command again for what is missing."
        yield from ((order, reason) for order in missing)


def tried(work: Callable[[], T], order: BaselineOrder) -> T | str:
    """The result of some work for an order, or why there is none."""
    try:
        import_suite(order.suite)
        return work()
    except UsageError as error:
        return str(error)
    except Exception as error:  # a bug in one game must not lose the scores of the others
        return f"{type(error).__name__}: {error}"


def task_of(order: BaselineOrder) -> Task:
    """The task of an order."""
    return next(task for task in suite(order.suite).tasks if task.name == order.task)
