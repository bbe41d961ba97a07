"""Results for other programs: CSV, Parquet and JSON, all from the same rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any, get_type_hints

import orjson

from ludens.core.errors import MissingExtra
from ludens.run.arena.standings import standings_of
from ludens.run.cells import Cell
from ludens.run.index import index_rows
from ludens.run.plan import SETTINGS, Plan, all_settings, seated_name
from ludens.run.report.arena import arena_data, rating_rows
from ludens.run.report.references import ReferenceScores, warnings
from ludens.run.report.tables import judged_data
from ludens.run.results import Results, Row, SuiteResults
from ludens.run.rows import EpisodeRow, RowMaker
from ludens.run.stats import Estimate, finite, normalised
from ludens.run.task import OVERALL, entrant_seats
from ludens.run.verify import verification_text

Types = Mapping[str, type]
"""Column to the type of its values: str, int, float or bool; every value may also be None."""


def types_of(row_class: type) -> dict[str, type]:
    """The columns of a dataclass whose fields are `T` or `T | None`."""
    hints = get_type_hints(row_class)
    return {f.name: getattr(hints[f.name], "__args__", (hints[f.name],))[0] for f in fields(row_class)}


def csv_bytes(types: Types, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A header line and one line per row; None is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_field(name) for name in types])
    writer.writerows([_csv_field(row[name]) for name in types] for row in rows)
    return out.getvalue().encode()


def _csv_field(value: Any) -> Any:
    """The value; text that a spreadsheet would execute as a formula gets an apostrophe before it.

    A number that is not known is an empty field.
    """
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        try:
            float(value)
        except ValueError:
            return "'" + value
    return value


def parquet_bytes(types: Types, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Typed columns; needs the extra `data`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing Parquet", "data") from None
    column_types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, column_types[kind]) for name, kind in types.items()])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


METRIC = "metric."


EPISODE_COLUMNS: Types = {
    "suite": str, "run": str, "key": str, "task": str, "game": str, "entrant": str, "spec": str, "rival": str,
    "seed": int, "seating": int, "sample": int, "cluster": str, "status": str, "seats": str, "returns": str,
    "moves": int, "fallbacks": int, "retried": int, "replies": int, "truncated": int, "input_tokens": int,
    "output_tokens": int, "cost": float, "seconds": float, "error": str,
    **dict.fromkeys(SETTINGS, str), "blind": bool, "frames": int,
}  # fmt: skip
"""The columns of every table of episodes; a column for each metric follows. See `EpisodeRow`.

An episode that was void and played again has two rows. `seats` are the entrant's, separated by semicolons;
`returns` is a JSON object, None for void episodes.
"""


def episode_types(results: Results) -> Types:
    metrics = {
        metric.name: float
        for suite in results.suites
        for task in suite.tasks.values()
        for metric in task.metrics
        if metric.paired
    }
    return {**EPISODE_COLUMNS, **{METRIC + name: kind for name, kind in metrics.items()}}


def episode_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Every episode of the runs, in the order they were written.

    Metrics that have no value for single episodes have no column; where a metric does not apply it is None.
    """
    empty: dict[str, Any] = dict.fromkeys(name for name in episode_types(results) if name.startswith(METRIC))
    for folder, plan in results.plans.items():
        maker = RowMaker.of(plan)
        settings = {
            entrant: {**dict.fromkeys(SETTINGS), **all_settings(plan.spec(entrant))}
            for entrant in plan.matches or plan.entrants
        }
        for read in index_rows(folder, plan, maker):
            row: EpisodeRow = read.pop("measured", None) or EpisodeRow.from_dict(read)
            if not row.void and row.key in results.left_out.get(folder, ()):
                continue
            yield {
                **_episode(folder, plan, row), **settings[row.entrant], **empty, **metrics_of(maker, row)
            }  # fmt: skip


def _episode(folder: Path, plan: Plan, row: EpisodeRow) -> dict[str, Any]:
    values = {
        "suite": plan.suite,
        "run": str(folder),
        "entrant": seated_name(row.entrant, plan.seated),
        "spec": plan.spec(row.entrant),
        "rival": plan.rival(row.entrant) or None,
        "seats": ";".join(entrant_seats(plan.tasks_by_name[row.task], row.seating)),
        "returns": None if row.void else orjson.dumps(row.returns).decode(),
        "input_tokens": row.usage.input_tokens,
        "output_tokens": row.usage.output_tokens,
        "cost": row.usage.cost,
    }
    return {
        name: values[name] if name in values else getattr(row, name)
        for name in EPISODE_COLUMNS
        if name not in SETTINGS
    }


def metrics_of(maker: RowMaker, row: EpisodeRow) -> dict[str, float | None]:
    """Column to value for the metrics of a task that single episodes have; empty for void episodes."""
    own = maker.tasks[row.task].metrics
    return {
        METRIC + metric.name: value
        for metric, value in zip(maker.metrics_of[row.task], row.values or (), strict=not row.void)
        if metric.paired and metric in own
    }


SCHEMA = 4
NORMALISED = "normalised"


@dataclass(frozen=True)
class ResultRow:
    """One metric of one entrant on one task. What does not apply is None.

    Proportions are 0 to 1, normalised scores 0 to 100. Summaries over several tasks have the task `OVERALL`
    and are in the unit that tables show.
    """

    suite: str
    origin: str
    """"ours", "reference" for blind baselines and upper bounds, or the source of a published number."""
    entrant: str
    task: str
    metric: str
    spec: str | None = None
    modality: str | None = None
    """What a model was shown; "offered" is the suite's setting. This and the next five are None for bots."""
    blind: bool | None = None
    style: str | None = None
    frames: int | None = None
    memory: str | None = None
    act: str | None = None
    runs: str | None = None
    theme: str | None = None
    size: int | None = None
    game: str | None = None
    percent: bool | None = None
    higher_is_better: bool | None = None
    mean: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    standard_error: float | None = None
    episodes: int | None = None
    planned: int | None = None
    void: int | None = None
    moves: int | None = None
    fallback_rate: float | None = None
    retried_rate: float | None = None
    illegal: int | None = None
    unreadable: int | None = None
    late: int | None = None
    replies: int | None = None
    truncated: int | None = None
    """Replies cut off by the length limit."""
    truncated_rate: float | None = None
    blind_mean: float | None = None
    blind_low: float | None = None
    blind_high: float | None = None
    blind_control: str | None = None
    sees: bool | None = None
    """Whether the entrant is significantly better than its blind control."""
    trained: bool | None = None
    """Whether Ludens trained the entrant on the game of the task."""
    baseline_mean: float | None = None
    baseline_low: float | None = None
    baseline_high: float | None = None
    above_baseline: bool | None = None
    """Whether the entrant is significantly better than the blind baseline."""
    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    images: int | None = None
    cost: float | None = None
    other_calls: int | None = None
    """Calls, tokens and cost of models in seats that are not the entrant's."""
    other_tokens: int | None = None
    other_cost: float | None = None


COLUMNS = tuple(column.name for column in fields(ResultRow))


def result_rows(results: SuiteResults) -> Iterator[ResultRow]:
    """All rows of a suite, then references, then published numbers."""
    references = ReferenceScores(results)
    if results.is_arena:
        specs = standings_of(results).specs
        for name, where, metric, estimate in rating_rows(results):
            bare = ResultRow(results.suite.name, "ours", name, where, metric, specs[name], percent=False)
            yield _with_estimate(replace(bare, higher_is_better=True, **all_settings(specs[name])), estimate)
    for row in results.rows:
        theme, size, _ = row.render
        runs = ";".join(map(str, row.folders))
        bare = ResultRow(
            results.suite.name, "ours", row.name, OVERALL, "", row.spec, runs=runs, theme=theme, size=size
        )
        bare = replace(bare, **all_settings(row.spec))
        for name, cell in row.cells.items():
            yield from _cell_rows(replace(bare, trained=name in row.trained), cell, references)
        for name, estimate in row.summaries.items():
            yield _with_estimate(replace(bare, metric=name), estimate)
    yield from _reference_rows(results, references)
    for source in results.published:
        for name, value in source.values.items():
            if name not in results.tasks:
                continue
            task, anchored = results.tasks[name], name in results.suite.anchors
            first = task.metrics[0]
            percent = first.percent and not anchored
            yield ResultRow(
                results.suite.name,
                source.source,
                source.model,
                name,
                NORMALISED if anchored else first.name,
                game=task.game,
                percent=percent,
                higher_is_better=anchored or first.higher_is_better,
                mean=value / 100 if percent else value,
            )


def _reference_rows(results: SuiteResults, references: ReferenceScores) -> Iterator[ResultRow]:
    for name in references.rows:
        bare = ResultRow(results.suite.name, "reference", name, OVERALL, "")
        for task in results.tasks.values():
            for metric in task.metrics:
                score = references.score(name, task, metric)
                if score is None:
                    continue
                row = replace(bare, task=task.name, game=task.game, metric=metric.name, spec=score.player)
                row = replace(row, percent=metric.percent, higher_is_better=metric.higher_is_better)
                row = replace(row, episodes=references.tasks[task.name].episodes)
                yield _with_estimate(row, score.estimate)
                if metric is task.metrics[0] and (anchors := results.suite.anchors.get(task.name)):
                    row = replace(row, metric=NORMALISED, percent=False, higher_is_better=True)
                    yield _with_estimate(row, normalised(score.estimate, *anchors, metric.limits))
        for summary, estimate in references.summaries(name).items():
            yield _with_estimate(replace(bare, metric=summary), estimate)


def _cell_rows(bare: ResultRow, cell: Cell, references: ReferenceScores) -> Iterator[ResultRow]:
    stats = asdict(cell.reply_stats)
    shared = replace(
        bare,
        task=cell.task.name,
        game=cell.task.game,
        episodes=len(cell.episodes),
        planned=cell.planned,
        void=cell.void,
        fallback_rate=finite(cell.reply_stats.fallback_rate),
        retried_rate=finite(cell.reply_stats.retried_rate),
        truncated_rate=finite(cell.reply_stats.truncated_rate),
        **{name: stats[name] for name in ("moves", "illegal", "unreadable", "late", "replies", "truncated")},
        **asdict(cell.usage),
        other_calls=cell.other_usage.calls,
        other_tokens=cell.other_usage.tokens,
        other_cost=cell.other_usage.cost,
    )
    for metric in cell.task.metrics:
        row = replace(
            shared, metric=metric.name, percent=metric.percent, higher_is_better=metric.higher_is_better
        )
        if cell.blind is not None and metric is cell.task.metrics[0]:
            row = replace(row, **_interval("blind_", cell.blind.estimate))
            row = replace(row, blind_control=cell.blind.name, sees=cell.blind.sees)
        if (score := references.score(references.baseline, cell.task, metric)) is not None:
            above = references.above(cell, metric)
            row = replace(row, **_interval("baseline_", score.estimate), above_baseline=above)
        yield _with_estimate(row, cell.metrics[metric.name])
    if cell.normalised is not None:
        row = replace(shared, metric=NORMALISED, percent=False, higher_is_better=True)
        yield _with_estimate(row, cell.normalised)


def _with_estimate(row: ResultRow, estimate: Estimate) -> ResultRow:
    error = finite(estimate.standard_error)
    return replace(row, **_interval("", estimate), n=estimate.n, standard_error=error)


def _interval(prefix: str, estimate: Estimate) -> dict[str, Any]:
    return {f"{prefix}{name}": number for name, number in estimate.interval().items()}


def all_rows(results: Results) -> Iterator[dict[str, Any]]:
    return (asdict(row) for suite in results.suites for row in result_rows(suite))


def as_json(results: Results) -> bytes:
    """The rows, and everything else a report has; NaN and infinity become null."""
    report = {
        "schema": SCHEMA,
        "runs": [
            {
                "folder": str(folder),
                "identity": plan.identity(),
                "verification": verification_text(folder),
                "plan": orjson.loads(plan.to_json()),
            }
            for folder, plan in results.plans.items()
        ],
        "suites": [_suite(suite) for suite in results.suites],
    }
    # Numbers of numpy and other subclasses are refused: what leaves the statistics is plain.
    strict = orjson.OPT_PASSTHROUGH_SUBCLASS
    return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | strict)


def _suite(results: SuiteResults) -> dict[str, Any]:
    cells = [(row, cell) for row, _, cell in results.cells()]
    return {
        "name": results.suite.name,
        "about": results.suite.about,
        "deviations": results.suite.deviations,
        "tasks": {
            name: {
                "game": task.game,
                "seatings": [dict(seating) for seating in task.seatings],
                "config": task.config,
                "metrics": {metric.name: metric.about for metric in task.metrics},
                "anchors": results.suite.anchors.get(name),
            }
            for name, task in results.tasks.items()
        },
        "rows": list(result_rows(results)),
        "voids": [
            {"entrant": row.name, "task": cell.task.name, "reason": reason, "count": count}
            for row, cell in cells
            for reason, count in cell.voids.items()
        ],
        "controls": [
            {"entrant": row.name, "task": cell.task.name, **asdict(cell.blind)}
            for row, cell in cells
            if cell.blind is not None
        ],
        "classes": [
            {"entrant": row.name, "task": cell.task.name, "metric": metric.name, **asdict(classes)}
            for row, cell in cells
            for metric in cell.task.metrics
            if (classes := cell.classification(metric)) is not None
        ],
        "pairs": [
            {
                "task": pair.task,
                "a": pair.a,
                "b": pair.b,
                "metric": pair.metric.name,
                "difference": pair.difference,
                "p_value": pair.p_value,
                "verdict": pair.verdict,
                "still_needed": pair.missing_episodes,
            }
            for pair in results.pairs
        ],
        "judged": judged_data(results),
        "warnings": warnings(results),
        "cautions": results.cautions,
        "arena": arena_data(results) if results.is_arena else None,
        "episodes": [episode for row, cell in cells for episode in _episodes(row, cell)],
    }


def _episodes(row: Row, cell: Cell) -> Iterator[dict[str, Any]]:
    paired = [(index, metric.name) for index, metric in enumerate(cell.task.metrics) if metric.paired]
    for episode in cell.episodes.rows():
        assert episode.values is not None
        yield {
            "entrant": row.name,
            "task": cell.task.name,
            **{name: getattr(episode, name) for name in ("key", "seed", "seating", "sample", "status")},
            "metrics": {name: episode.values[index] for index, name in paired},
        }
