"""`ludens resume RUN`: go on with a run that was stopped, killed or short of budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import SuiteName
from ludens.cli.go import (
    CONCURRENCY,
    Concurrency,
    MaxCalls,
    MaxCost,
    MaxHours,
    MaxTokens,
    Pace,
    Ray,
    Workers,
    Yes,
    go,
)


def resume(
    run: Annotated[Path, Parameter(help="The folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    concurrency: Concurrency = CONCURRENCY,
    workers: Workers = None,
    ray: Ray = None,
    max_calls: MaxCalls = None,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    max_hours: MaxHours = None,
    yes: Yes = False,
) -> int:
    """Go on with a run where it stopped; episodes that are there are never played again."""
    from ludens.run.store import Store
    from ludens.run.task import import_suite

    pace = Pace(concurrency, workers, ray, max_calls, max_tokens, max_cost, max_hours, yes)
    import_suite(suite or "")
    store = Store.reopen(run)
    return go(store.plan, run, lambda: store, pace)
