"""Results for other programs: one row an entrant, task and metric, as CSV or Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from math import isfinite
from typing import Any

from ludens.core.errors import MissingExtra
from ludens.run.cells import Cell, Row
from ludens.run.results import Results, SuiteResults
from ludens.run.stats import Estimate

NORMALISED, OVERALL, SCORE = "normalised", "overall", "score"

_TEXT = ("suite", "origin", "entrant", "spec", "runs", "theme", "task", "game", "metric", "blind_control")
_WHOLE = (
    "size", "n", "episodes", "planned", "void", "moves", "illegal", "unreadable", "late",
    "calls", "input_tokens", "output_tokens", "reasoning_tokens", "images",
)  # fmt: skip
_NUMBER = (
    "mean", "low", "high", "standard_error", "fallback_rate", "retried_rate",
    "blind_mean", "blind_low", "blind_high", "cost",
)  # fmt: skip
_TRUTH = ("blind", "percent", "higher_is_better", "sees")

COLUMNS = (
    "suite", "origin", "entrant", "spec", "blind", "runs", "theme", "size", "task", "game", "metric",
    "percent", "higher_is_better", "mean", "low", "high", "n", "standard_error", "episodes", "planned",
    "void", "moves",
    "fallback_rate", "retried_rate", "illegal", "unreadable", "late", "blind_mean", "blind_low", "blind_high",
    "blind_control", "sees", "calls", "input_tokens", "output_tokens", "reasoning_tokens", "images", "cost",
)  # fmt: skip
"""`origin` is "ours" or the source of a published number; shares are 0..1, normalised scores 0..100; `sees`
says whether the entrant does better than its blind control."""


def rows(results: Results) -> Iterator[dict[str, Any]]:
    """Every row; what does not apply is None."""
    for found in results.suites:
        for row in found.rows:
            for cell in row.cells.values():
                yield from _cell_rows(found, row, cell)
            if row.overall is not None:
                yield _whole(
                    {**_entrant(found, row), "task": OVERALL, "metric": OVERALL, **_estimate(row.overall)}
                )
            for name, score in row.scores.items():
                yield _whole({**_entrant(found, row), "task": name, "metric": SCORE, **_estimate(score)})
            for name, number in row.digest.items():
                yield _whole({**_entrant(found, row), "task": OVERALL, "metric": name, **_estimate(number)})
        yield from _published(found)


def as_csv(results: Results) -> str:
    """With a header line; what is None is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(results))
    return out.getvalue()


def as_parquet(results: Results) -> bytes:
    """Typed columns; needs the extra `data`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing Parquet", "data") from None
    kinds = {
        **dict.fromkeys(_TEXT, pa.string()),
        **dict.fromkeys(_WHOLE, pa.int64()),
        **dict.fromkeys(_NUMBER, pa.float64()),
        **dict.fromkeys(_TRUTH, pa.bool_()),
    }
    schema = pa.schema([(name, kinds[name]) for name in COLUMNS])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(list(rows(results)), schema=schema), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _whole(some: dict[str, Any]) -> dict[str, Any]:
    return {name: some.get(name) for name in COLUMNS}


def _entrant(found: SuiteResults, row: Row) -> dict[str, Any]:
    theme, size, _ = row.render
    return {
        "suite": found.suite.name,
        "origin": "ours",
        "entrant": row.name,
        "spec": row.spec,
        "blind": row.blind,
        "runs": ";".join(map(str, row.folders)),
        "theme": theme,
        "size": size,
    }


def _cell_rows(found: SuiteResults, row: Row, cell: Cell) -> Iterator[dict[str, Any]]:
    reply_stats, usage = cell.reply_stats, cell.usage
    shared = {
        **_entrant(found, row),
        "task": cell.task.name,
        "game": cell.task.game,
        "episodes": len(cell.episodes),
        "planned": cell.planned,
        "void": cell.void,
        "moves": reply_stats.moves,
        "fallback_rate": _finite(reply_stats.fallback_rate),
        "retried_rate": _finite(reply_stats.retried_rate),
        "illegal": reply_stats.illegal,
        "unreadable": reply_stats.unreadable,
        "late": reply_stats.late,
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "images": usage.images,
        "cost": usage.cost,
    }
    for metric in cell.task.metrics:
        told = {"metric": metric.name, "percent": metric.percent, "higher_is_better": metric.higher_is_better}
        control: dict[str, Any] = {}
        if cell.blind is not None and metric is cell.task.metrics[0]:
            blind = {f"blind_{key}": value for key, value in _estimate(cell.blind.estimate).items()}
            control = {**blind, "blind_control": cell.blind.name, "sees": cell.blind.sees}
        yield _whole({**shared, **told, **_estimate(cell.metrics[metric.name]), **control})
    if cell.normalised is not None:
        told = {"metric": NORMALISED, "percent": False, "higher_is_better": True}
        yield _whole({**shared, **told, **_estimate(cell.normalised)})


def _published(found: SuiteResults) -> Iterator[dict[str, Any]]:
    for source in found.suite.published:
        for name, value in source.values.items():
            if name not in found.tasks:
                continue
            metric, between = found.tasks[name].metrics[0], name in found.suite.anchors
            percent = metric.percent and not between
            yield _whole(
                {
                    "suite": found.suite.name,
                    "origin": source.source,
                    "entrant": source.model,
                    "task": name,
                    "game": found.tasks[name].game,
                    "metric": NORMALISED if between else metric.name,
                    "percent": percent,
                    "higher_is_better": between or metric.higher_is_better,
                    "mean": value / 100 if percent else value,
                }
            )


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "mean": _finite(estimate.mean),
        "low": _finite(estimate.low),
        "high": _finite(estimate.high),
        "n": estimate.n,
        "standard_error": _finite(estimate.standard_error),
    }


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
