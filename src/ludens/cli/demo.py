"""`ludens demo`: the suite `demo` with bots in every chair; a table and a page stay behind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.eval import usual_folder
from ludens.cli.given import Whole, at_least
from ludens.cli.go import Pace, go

ENTRANTS = ("bot/random", "bot/best")


def demo(
    *,
    out: Annotated[
        Path | None, Parameter(help="Folder for episodes and the page; runs/demo-...-TIME by default.")
    ] = None,
    seed: Annotated[Whole, Parameter(help="Added to the seed of every game.")] = 0,
    limit: Annotated[Whole, Parameter(help="At most so many games a task; 0 is the suite's number.")] = 0,
) -> int:
    """Let bots play a little of everything, with no key; leave a table and a page to open.

    The same as `ludens eval demo --model bot/random --model bot/best`.
    """
    from ludens.run.entrants import entrants_of
    from ludens.run.plan import make_plan
    from ludens.run.store import Store

    at_least("--limit", limit, 0)
    plan = make_plan("demo", entrants_of(ENTRANTS).specs, limit=limit, seed=seed)
    folder = out or usual_folder("demo", list(plan.entrants))
    return go(plan, folder, lambda: Store.create(folder, plan), Pace())
