"""`ludens demo`: the suite `demo` with bots and nano; prints a table and writes a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Whole, at_least
from ludens.cli.eval import default_folder
from ludens.cli.execute import RunOptions, execute_run

ENTRANTS = ("bot/random", "bot/best", "nano")


def demo(
    *,
    out: Annotated[
        Path | None, Parameter(help="Folder for episodes and report; runs/demo-...-TIME by default.")
    ] = None,
    seed: Annotated[Whole, Parameter(help="Added to the seed of every episode.")] = 0,
    limit: Annotated[Whole, Parameter(help="Maximum episodes per task; 0 for the suite's number.")] = 0,
) -> int:
    """Run the demo suite with bots and a small model; print a table and write a report. Needs no API key.

    Equivalent to `ludens eval demo --model bot/random --model bot/best --model nano --blind-control`.
    """
    from ludens.run.entrants import entrants_of
    from ludens.run.plan import make_plan
    from ludens.run.store import Store

    at_least("--limit", limit, 0)
    entrants = entrants_of(ENTRANTS, blind_control=True)
    plan = make_plan("demo", entrants.specs, limit=limit, seed=seed, controls=entrants.controls)
    folder = out or default_folder("demo", list(ENTRANTS))
    return execute_run(plan, folder, lambda: Store.create(folder, plan), RunOptions())
