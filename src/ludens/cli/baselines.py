"""`ludens baselines SUITE`: measure what players reach that never look, and what the best player reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ludens.cli.arguments import Flag, Json, Whole, at_least
from ludens.cli.guard import DONE
from ludens.cli.output import aside, json_out, table
from ludens.core.errors import BadOption, UsageError
from ludens.core.plain import plural
from ludens.core.processes import cores
from ludens.run.baselines.many import measure_all, orders, read_stored
from ludens.run.references import TaskReferences, keep_references, write_references
from ludens.run.report.tables import raw
from ludens.run.task import SUITES, Metric, Suite, import_suite, suite
from ludens.suites import PLAYED_BY_PEOPLE

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
    json: Json = False,
) -> int:
    """Measure blind baselines and upper bounds of the tasks of a suite.

    Scores that are stored already are shown, not measured.

    Args:
        suite: Suites to measure, or module:attribute.
        all: Measure every registered suite.
        tasks: Comma-separated tasks; all by default.
        episodes: Episodes of each player; by default 400 questions, 100 to 200 games, 50 games with search.
        workers: Processes; by default one per core.
        write: Save the scores in the file that the suite names.
        out: Save the scores in this TOML file instead.
        again: Measure again what the file has already.
    """
    at_least("--episodes", episodes, 0)
    at_least("--workers", workers or 1, 1)
    suites = _suites(suite, all)
    ordered = orders(suites, [name for name in map(str.strip, tasks.split(",")) if name], episodes, out)
    if write and (homeless := next((order.suite for order in ordered if order.file is None), None)):
        raise BadOption(
            f"the suite {homeless} names no file for its references: set Suite.references or use --out."
        )
    results = (
        {} if again else {order: scores for order in ordered if (scores := read_stored(order)) is not None}
    )
    missing = [order for order in ordered if order not in results]
    if missing:
        aside(f"measuring {plural(len(missing), 'task')} ...")
    failed = False
    for number, (order, result) in enumerate(measure_all(missing, workers or cores()), 1):
        if isinstance(result, str):
            failed = True
            aside(f"{number}/{len(missing)} {order.suite} {order.task}: not measured: {result}")
            continue
        results[order] = result
        if order.file is not None and (write or out):
            write_references(order.file, {order.key: result})
        aside(f"{number}/{len(missing)} {order.suite} {order.task}")
    if all and write and not (tasks or out):
        for file in {order.file for order in ordered if order.file is not None and order.file.is_file()}:
            keep_references(file, [order.key for order in ordered if order.file == file])
    _show([results[order] for order in ordered if order in results], suites, json)
    return INCOMPLETE if failed else DONE


def _suites(names: Sequence[str], all: bool) -> Mapping[str, Suite]:
    if bool(names) == all:
        raise BadOption("name the suites to measure, or give --all.")
    for name in names:
        import_suite(name)
    suites = {}
    for name in names or [name for name in SUITES.names() if name not in PLAYED_BY_PEOPLE]:
        try:
            suites[name] = suite(name)
        except UsageError as error:
            if names:
                raise
            aside(f"skipping {name}: {error}")
    return suites


def _show(references: Sequence[TaskReferences], suites: Mapping[str, Suite], json: bool) -> None:
    from dataclasses import asdict

    if json:
        return json_out([asdict(task) for task in references])
    rows = []
    for task in references:
        metric = next(t.metrics[0] for t in suites[task.suite].tasks if t.name == task.task)
        scores = [_entry(task, kind, metric) for kind in ("chance", "blind", "upper")]
        rows.append((task.suite, task.task, metric.name, str(task.episodes), *scores))
    columns = ("suite", "task", "metric", "episodes", "chance", "blind baseline", "upper bound")
    return table("Reference scores, with 95% intervals", columns, rows, ("episodes",), spare=("metric",))


def _entry(task: TaskReferences, kind: str, metric: Metric) -> str:
    score = next((s for s in task.scores if s.kind == kind and s.metric == metric.name), None)
    return "" if score is None else f"{raw(score.estimate, metric)}\n{score.player}"
