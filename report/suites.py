"""Tables about the five rebuilt systems: their size, baselines and bounds, published rows, twin worlds."""

from __future__ import annotations

import re
from collections import Counter
from math import isfinite, isnan
from typing import Any

from ludens.run.paper import entries_of
from ludens.run.references import BLIND, UPPER, Score, TaskReferences, references_of
from ludens.run.report.references import ReferenceScores
from ludens.run.report.table import NOTHING, Column, Entry, Table, TableRow, Value
from ludens.run.report.tables import MetricColumn
from ludens.run.results import SuiteResults
from ludens.run.task import Suite, Task, suite

REBUILT = ("vs-bench", "playground", "comma", "vision-zero", "viki")
TITLE = re.compile(r"title = \{(.+)\},\n")


def sight_of(name: str) -> str:
    """The suite with the same subject in twin worlds."""
    return f"{name}-sight"


def title_of(whole: Suite) -> str:
    """The title of the publication."""
    found = TITLE.search(entries_of(whole))
    return re.sub(r"[{}]", "", found[1]) if found else ""


def texts(title: str, heads: str, rows: list[list[Entry]], words: int = 1, **rest: Any) -> Table:
    """A table whose first columns are words and whose others are numbers; `heads` are divided by bars."""
    names = [head.strip() for head in heads.split("|")]
    columns = [Column(name, numbers=place >= words) for place, name in enumerate(names)]
    return Table(title, columns, [TableRow("ours", row) for row in rows], **rest)


def systems() -> Table:
    """One row for each system."""
    rows: list[list[Entry]] = []
    for name in REBUILT:
        whole, sight = suite(name), suite(sight_of(name))
        numbers = (
            len(whole.tasks), sum(task.episodes for task in whole.tasks), len(whole.published),
            len(whole.deviations), len(sight.tasks),
        )  # fmt: skip
        rows.append([name, title_of(whole), *(f"{number:,}" for number in numbers)])
    heads = "suite | publication | tasks | episodes | published rows | deviations | tasks of the sight suite"
    return texts("The five rebuilt systems", heads, rows, 2)


def deviations() -> list[dict[str, Any]]:
    return [{"suite": name, "items": list(suite(name).deviations)} for name in REBUILT]


def _value(score: Score | None, task: Task) -> Entry:
    metric = task.metrics[0]
    if score is None:
        return NOTHING
    digits = MetricColumn(task, metric, normalised=False).digits
    return Value(metric.in_table_units(score.estimate), digits)


def share_text(share: float) -> str:
    return NOTHING if isnan(share) else f"{100 * share:.0f}"


def bounds(name: str) -> Table:
    """Chance, the best player that never looks and the best player, for each task of a suite."""
    whole = suite(name)
    measured = references_of(whole, whole.tasks)
    rows: list[list[Entry]] = []
    for task in whole.tasks:
        metric, references = task.metrics[0], measured.get(task.name)
        if references is None:
            continue
        scores = [references.get(kind, metric) for kind in ("chance", "blind", "upper")]
        unit = MetricColumn(task, metric, normalised=False).unit
        players = [score.player if score else NOTHING for score in scores[1:]]
        way = share_text(references.blind_share(metric))
        rows.append([task.name, unit, *players, *(_value(score, task) for score in scores), way])
    heads = "task | metric | blind player | best player | chance | blind baseline | upper bound | way %"
    return texts(f"{name}: chance, blind baseline and upper bound", heads, rows, 4)


def shares(name: str) -> list[dict[str, Any]]:
    """How far the best player that never looks comes in each task, from 0 (chance) to 1 (upper bound)."""
    whole = suite(name)
    measured = references_of(whole, whole.tasks)
    found = [
        (task, measured[task.name].blind_share(task.metrics[0]))
        for task in whole.tasks
        if task.name in measured
    ]
    return [{"task": task.name, "share": max(0.0, share)} for task, share in found if isfinite(share)]


def strips() -> list[dict[str, Any]]:
    return [{"suite": one, "cells": shares(one)} for name in REBUILT for one in (name, sight_of(name))]


def sight_table() -> Table:
    """Each suite as published and in twin worlds: in how many tasks sight is not needed."""
    rows: list[list[Entry]] = []
    for name in REBUILT:
        for one in (name, sight_of(name)):
            found = [cell["share"] for cell in shares(one)]
            half = sum(share > 0.5 for share in found)
            mean = f"{100 * sum(found) / len(found):.1f}"
            rows.append([one, str(len(found)), str(half), mean, f"{100 * max(found):.0f}"])
    heads = "suite | tasks | more than half of the way | mean way % | longest way %"
    return texts("How far a player that never looks comes, from chance to the upper bound", heads, rows)


def all_references() -> dict[str, TaskReferences]:
    """The stored references of the five systems and their twin worlds; what suites share is there once."""
    found = {}
    for name in (one for system in REBUILT for one in (system, sight_of(system))):
        whole = suite(name)
        for references in references_of(whole, whole.tasks).values():
            found[f"{references.suite} {references.task}"] = references
    return found


def family(player: str) -> str:
    """The kind of a player that never looks: `tree` of `tree: all words`."""
    kind = player.partition(":")[0].partition("?")[0]
    return "always one action" if kind.startswith("always ") else kind


def blind_players() -> Table:
    """Who holds the blind baselines of the first metrics."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for name in (one for system in REBUILT for one in (system, sight_of(system))):
        whole = suite(name)
        measured = references_of(whole, whole.tasks)
        for task in whole.tasks:
            score = measured[task.name].get("blind", task.metrics[0]) if task.name in measured else None
            if score is not None:
                counts[family(score.player)] += 1
                examples.setdefault(family(score.player), []).append(f"{name} {task.name}")
    rows: list[list[Entry]] = [
        [kind, ", ".join(examples[kind][:2]), str(count)] for kind, count in counts.most_common()
    ]
    return texts("Players that hold blind baselines", "player | for example in | tasks", rows, 2)


def published_table() -> Table:
    """Tasks in which the best published model is not above a player that never looks."""
    rows: list[list[Entry]] = []
    for name in REBUILT:
        whole = suite(name)
        references = ReferenceScores(SuiteResults(whole, {}, ()))
        compared, below, gaps = 0, [], 0
        for task in whole.tasks:
            metric = task.metrics[0]
            values = [row.values[task.name] for row in whole.published if task.name in row.values]
            blind, upper = (references.table_estimate(row, task, metric) for row in (BLIND, UPPER))
            if not values or blind is None or upper is None:
                continue
            sign = 1 if metric.higher_is_better else -1
            best = max(sign * value for value in values)
            compared += 1
            below += [task.name] if best <= sign * blind.mean else []
            gaps += best < sign * upper.mean
        if compared:
            names = ", ".join(below) or "none"
            rows.append([name, names, str(len(whole.published)), str(compared), str(len(below)), str(gaps)])
    below_blind = "tasks in which no published model exceeds the blind baseline"
    heads = f"suite | {below_blind} | models | tasks | number | below the upper bound"
    return texts("Published results beside our baselines", heads, rows, 2)


def facts() -> dict[str, Any]:
    """Numbers in the prose."""
    measured = all_references()
    return {
        "tasks": sum(len(suite(name).tasks) for name in REBUILT),
        "sight_tasks": sum(len(suite(sight_of(name)).tasks) for name in REBUILT),
        "references": len(measured),
        "scores": sum(len(one.scores) for one in measured.values()),
        "searched": sum(one.searched > 0 for one in measured.values()),
        "searched_episodes": sum(one.searched for one in measured.values()),
        "deviations": sum(len(suite(name).deviations) for name in REBUILT),
        "published": sum(len(suite(name).published) for name in REBUILT),
    }
