"""Small runs of the suites that are shipped."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ludens.run.plan import make_plan
from ludens.run.task import suite
from tests.support.reported import Fake as Fake  # registers the kind of model
from tests.support.runs import played

ENTRANTS = {"bot/random": "bot/random", "fake/guesser": "fake/guesser", "blind": "fake/guesser?blind=true"}
KUHN, ANSWERS = "decide/kuhn", 24
"""A task with a metric that needs an answer to each of twelve questions."""
SLOW = {
    name: {"reason/breakthrough", "decide/breakthrough"}
    for name in ("vs-bench", "vs-bench-ablations", "vs-bench-sight")
}
"""Tasks that are left out; `vs-bench-mini` plays Breakthrough too."""

VARIANTS = {
    "comma-baseline", "comma-expert", "comma-manuals", "comma-memory", "comma-mini", "comma-released",
    "comma-sight-mini", "comma-solver", "comma-strict", "playground-mini", "playground-sight",
    "playground-sight-mini", "playground-sweeps", "study", "vision-zero-ablations", "vision-zero-mini",
    "vision-zero-sight", "vision-zero-sight-mini", "viki-mini", "viki-sight",
    "vs-bench", "vs-bench-ablations", "vs-bench-sight", "vs-bench-sight-mini",
}  # fmt: skip
"""Suites with the tasks of another one, with other options or numbers: slow tests play them.
`vs-bench-mini` has all tasks of `vs-bench`, and plays those that are left out there. `comma-sight` is not
among them: it stands for the suites in which every question has a twin world."""


def play_suite(name: str, folder: Path) -> list[Path]:
    """Play one episode of each task, and enough of Kuhn poker; returns the folders of the runs."""
    tasks = [task.name for task in suite(name).tasks if task.name not in SLOW.get(name, ())]
    runs = {"all": (tuple(task for task in tasks if task != KUHN), 1)}
    if KUHN in tasks:
        runs["kuhn"] = ((KUHN,), ANSWERS)
    controls = {"blind": "fake/guesser"}
    for part, (chosen, limit) in runs.items():
        plan = make_plan(name, ENTRANTS, tasks=chosen, limit=limit, controls=controls)
        asyncio.run(played(folder / part, plan))
    return [folder / part for part in runs]
