"""`ludens baselines SUITE`: measure what players reach that never look, and what the best player reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path

from ludens.cli.arguments import Flag, Json, Whole, at_least
from ludens.cli.guard import DONE
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption, UsageError
from ludens.core.plain import plural
from ludens.core.processes import cores
from ludens.run.baselines import BaselineOrder, orders, read_stored
from ludens.run.baselines.questions import OTHER_SEEDS
from ludens.run.references import TaskReferences, keep_references, write_references
from ludens.run.report.tables import raw
from ludens.run.search import Search, measure_all, search_all
from ludens.run.task import SUITES, Metric, Suite, Task, import_suite, suite
from ludens.suites import TASKS_IN_OPTIONS

INCOMPLETE = 3


def baselines(
    *suite: str,
    all: Flag = False,
    tasks: str = "",
    episodes: Whole = 0,
    workers: Whole | None = None,
    write: Flag = False,
    out: Path | None = None,
    again: Flag = False,
    search: Flag = False,
    budget: Whole = 0,
    json: Json = False,
) -> int:
    """Measure blind baselines and upper bounds of the tasks of a suite.

    Scores that are stored already are shown, not measured; with --search, those that were searched for.

    Args:
        suite: Suites to measure, or module:attribute.
        all: Measure every registered suite.
        tasks: Comma-separated tasks; all by default.
        episodes: Episodes of each player; by default 400 questions, 100 to 200 games, 50 games with search.
        workers: Processes; by default one per core.
        write: Save the scores in the file that the suite names.
        out: Save the scores in this TOML file instead.
        again: Measure again what the file has already.
        search: Search for the best player that never looks, on other seeds, and test it on those of the task.
        budget: Questions or games of other seeds that the search plays for each task; by default 800
            questions, 600 games, 60 games with search.
    """
    at_least("--budget", budget, 0)
    if budget and not search:
        raise BadOption("--budget is for --search.")
    at_least("--episodes", episodes, 0)
    at_least("--workers", workers or 1, 1)
    suites = _suites(suite, all)
    ordered = orders(suites, [name for name in map(str.strip, tasks.split(",")) if name], episodes, out)
    if write and (homeless := next((order.suite for order in ordered if order.file is None), None)):
        raise BadOption(
            f"the suite {homeless} names no file for its references: set Suite.references or use --out."
        )
    results: dict[BaselineOrder, TaskReferences] = {}
    for order in () if again else ordered:
        scores = read_stored(order)
        if scores is not None and (not search or scores.searched > budget or scores.searched == budget > 0):
            results[order] = scores
    todo = [order for order in ordered if order not in results]
    if todo:
        aside(f"{'searching' if search else 'measuring'} {plural(len(todo), 'task')} ...")
    searches: list[tuple[BaselineOrder, Search]] = []
    failed = False
    for number, (order, result) in enumerate(_measure(todo, workers or cores(), search, budget, again), 1):
        if isinstance(result, str):
            failed = True
            aside(f"{number}/{len(todo)} {order.suite} {order.task}: not measured: {result}")
            continue
        if not isinstance(result, TaskReferences):
            searches.append((order, result))
            result = result.references
        results[order] = result
        if order.file is not None and (write or out):
            write_references(order.file, {order.key: result})
        aside(f"{number}/{len(todo)} {order.suite} {order.task}")
    if all and write and not (tasks or out):
        for file in {order.file for order in ordered if order.file is not None and order.file.is_file()}:
            keep_references(file, [order.key for order in ordered if order.file == file])
    if not json:
        for order, one in searches:
            _show_search(order, one, suites)
    _show([(order, results[order]) for order in ordered if order in results], suites, json)
    return INCOMPLETE if failed else DONE


def _suites(names: Sequence[str], all: bool) -> Mapping[str, Suite]:
    if bool(names) == all:
        raise BadOption("name the suites to measure, or give --all.")
    for name in names:
        import_suite(name)
    suites = {}
    for name in names or [name for name in SUITES.names() if name not in TASKS_IN_OPTIONS]:
        try:
            suites[name] = suite(name)
        except UsageError as error:
            if names:
                raise
            aside(f"skipping {name}: {error}")
    return suites


def _measure(
    todo: Sequence[BaselineOrder], workers: int, search: bool, budget: int, again: bool
) -> Iterator[tuple[BaselineOrder, TaskReferences | Search | str]]:

    if search:
        yield from search_all(todo, workers, budget, again, aside)
    else:
        yield from measure_all(todo, workers)


def _task(order: BaselineOrder, suites: Mapping[str, Suite]) -> Task:
    return next(task for task in suites[order.suite].tasks if task.name == order.task)


def _show_search(order: BaselineOrder, result: Search, suites: Mapping[str, Suite]) -> None:

    task = _task(order, suites)
    metric = next(metric for metric in task.metrics if metric.name == result.metric)
    rows = [
        (
            trial.player,
            "episode" if trial.memory else "none",
            _number(trial.other_seeds, metric),
            "" if trial.tested is None else str(raw(trial.tested, metric)),
        )
        for trial in result.trials
    ]
    first, last = task.first_seed, task.placed(result.references.episodes - 1)[0]
    title = (
        f"{order.suite} {order.task}: {metric.name} of players that never look, fitted with a budget of "
        f"{result.budget} on seeds from {OTHER_SEEDS:,}, tested on the seeds {first} to {last}"
    )
    table(title, ("player", "memory", "other seeds", "seeds of the task"), rows, ("other seeds",))


def _number(mean: float, metric: Metric) -> str:
    return "" if isnan(mean) else f"{100 * mean:.1f}" if metric.percent else f"{mean:.2f}"


def _show(
    references: Sequence[tuple[BaselineOrder, TaskReferences]], suites: Mapping[str, Suite], json: bool
) -> None:
    from dataclasses import asdict

    if json:
        return json_out([asdict(task) for _, task in references])
    rows = []
    for order, task in references:
        metric = _task(order, suites).metrics[0]
        scores = [_entry(task, kind, metric) for kind in ("chance", "blind", "upper")]
        rows.append((order.suite, order.task, metric.name, str(task.episodes), *scores))
    columns = ("suite", "task", "metric", "episodes", "chance", "blind baseline", "upper bound")
    return table("Reference scores, with 95% intervals", columns, rows, ("episodes",), spare=("metric",))


def _entry(task: TaskReferences, kind: str, metric: Metric) -> str:
    score = next((s for s in task.scores if s.kind == kind and s.metric == metric.name), None)
    return "" if score is None else f"{raw(score.estimate, metric)}\n{score.player}"
