"""Everything a report knows, as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import orjson

from ludens.run.cells import Cell, Row
from ludens.run.results import Results, SuiteResults
from ludens.run.task import Metric

SCHEMA = 1


def as_json(results: Results) -> bytes:
    """Numbers that are not known, NaN and infinity, become null."""
    whole = {
        "schema": SCHEMA,
        "runs": [
            {"folder": str(folder), "identity": plan.identity(), "plan": orjson.loads(plan.to_json())}
            for folder, plan in results.plans.items()
        ],
        "suites": [_suite(found) for found in results.suites],
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _suite(found: SuiteResults) -> dict[str, Any]:
    suite = found.suite
    return {
        "name": suite.name,
        "about": suite.about,
        "deviations": list(suite.deviations),
        "tasks": {
            name: {
                "game": task.game,
                "seatings": [dict(seating) for seating in task.seatings],
                "config": asdict(task.config),
                "metrics": [_metric(metric) for metric in task.metrics],
                "anchors": suite.anchors.get(name),
            }
            for name, task in found.tasks.items()
        },
        "entrants": [_row(row) for row in found.rows],
        "published": [
            {"source": p.source, "model": p.model, "values": dict(p.values)} for p in suite.published
        ],
        "pairs": [
            {
                "task": pair.task,
                "a": pair.a,
                "b": pair.b,
                "metric": pair.metric.name,
                "difference": asdict(pair.difference),
                "p_value": pair.p_value,
                "verdict": pair.verdict,
                "still_needed": pair.needed,
            }
            for pair in found.pairs
        ],
        "warnings": list(found.warnings),
        "cautions": list(found.cautions),
    }


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "percent": metric.percent,
        "higher_is_better": metric.higher_is_better,
        "about": metric.about,
    }


def _row(row: Row) -> dict[str, Any]:
    theme, size, templates = row.render
    return {
        "name": row.name,
        "spec": row.spec,
        "blind": row.blind,
        "runs": [str(folder) for folder in row.folders],
        "theme": theme,
        "size": size,
        "templates": templates,
        "overall": None if row.overall is None else asdict(row.overall),
        "scores": {name: asdict(score) for name, score in row.scores.items()},
        "digest": {name: asdict(estimate) for name, estimate in row.digest.items()},
        "tasks": {name: _cell(cell) for name, cell in row.cells.items()},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    played = list(cell.episodes.values())
    return {
        "episodes": len(cell.episodes),
        "planned": cell.planned,
        "void": cell.void,
        "void_reasons": dict(cell.voids),
        "metrics": {name: asdict(estimate) for name, estimate in cell.metrics.items()},
        "normalised": None if cell.normalised is None else asdict(cell.normalised),
        "reply_stats": {
            **asdict(cell.reply_stats),
            "fallback_rate": cell.reply_stats.fallback_rate,
            "retried_rate": cell.reply_stats.retried_rate,
        },
        "usage": asdict(cell.usage),
        "blind": None if cell.blind is None else asdict(cell.blind),
        "classes": {
            metric.name: asdict(metric.classes(played))
            for metric in cell.task.metrics
            if metric.classes is not None and played
        },
        "values": [
            {
                "key": played.key,
                "seed": seed,
                "seating": seating,
                "status": played.episode.status,
                "metrics": {
                    metric.name: metric.value(played)
                    for metric in cell.task.metrics
                    if metric.value is not None
                },
            }
            for (seed, seating), played in cell.episodes.items()
        ],
    }
