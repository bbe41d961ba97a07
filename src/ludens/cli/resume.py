"""`ludens resume RUN`: continue a run that was stopped, killed or limited by a budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import AgentNames, Allowed, SuiteName
from ludens.cli.execute import RunOptions, execute_run


def resume(
    run: Annotated[Path, Parameter(help="Folder of the run; `ludens runs` lists them.")],
    /,
    *,
    suite: SuiteName = None,
    allow: Allowed = (),
    agent: AgentNames = (),
    options: RunOptions | None = None,
) -> int:
    """Continue a run where it stopped; finished episodes are never played again."""
    from ludens.agents import import_agent
    from ludens.core.policy import Setter, permit
    from ludens.run.store import Store, read_plan
    from ludens.run.task import import_suite
    from ludens.run.trust import plan_accesses

    import_suite(suite or "")
    for name in agent:
        import_agent(name)
    permit(plan_accesses(read_plan(run)), Setter.FILE, allow)
    store = Store.reopen(run)
    return execute_run(store.plan, run, lambda: store, options or RunOptions())
