"""What `eval`, `resume` and `demo` share: the options of a run, and playing it from estimate to report."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Whole, at_least
from ludens.cli.guard import DONE, INTERRUPTED, usage_error
from ludens.cli.output import aside, console
from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError
from ludens.core.files import write_atomically

if TYPE_CHECKING:
    from ludens.run.budget import Budget
    from ludens.run.engine import RunResult
    from ludens.run.estimate import CostEstimate
    from ludens.run.plan import Job, Plan
    from ludens.run.store import Store

STOPPED_EARLY = 3
CONCURRENCY = 16


@Parameter(name="*")
@dataclass(frozen=True)
class RunOptions:
    """How a run is played, whatever it plays."""

    concurrency: Annotated[Whole, Parameter(help="Maximum number of episodes in flight.")] = CONCURRENCY
    workers: Annotated[
        Whole | None,
        Parameter(
            help="Worker processes; 0 plays in this process. "
            "Default: 0, or one per 128 episodes in flight from 256 on."
        ),
    ] = None
    ray: Annotated[
        str | None,
        Parameter(help="Address of a Ray cluster to play on, with --workers actors; 'local' starts one."),
    ] = None
    max_calls: Annotated[Whole | None, Parameter(help="Budget: maximum number of calls to models.")] = None
    max_tokens: Annotated[Whole | None, Parameter(help="Budget: maximum number of tokens.")] = None
    max_cost: Annotated[float | None, Parameter(help="Budget: maximum cost in dollars; needs prices.")] = None
    max_hours: Annotated[float | None, Parameter(help="Start no episode after this many hours.")] = None
    yes: Annotated[
        bool, Parameter(negative="", show_default=False, help="Start a large run without asking.")
    ] = False

    def __post_init__(self) -> None:
        at_least("--concurrency", self.concurrency, 1)
        at_least("--workers", self.workers or 0, 0)
        cores = os.cpu_count() or 1
        most, where = (
            (10_000, "a cluster") if self.ray else (max(16, 4 * cores), f"a machine with {cores} cores")
        )
        if (self.workers or 0) > most:
            raise BadOption(f"--workers must be at most {most} on {where}, not {self.workers}.")

    @property
    def flags(self) -> str:
        """The flags with which `ludens resume` continues in the same way."""
        given = {
            "--concurrency": None if self.concurrency == CONCURRENCY else self.concurrency,
            "--workers": self.workers,
            "--ray": self.ray,
        }
        return "".join(f" {flag} {quote(str(value))}" for flag, value in given.items() if value is not None)

    @property
    def limited(self) -> bool:
        """Whether the number of calls, tokens or the cost is limited."""
        return (self.max_calls or self.max_tokens or self.max_cost) is not None

    @property
    def budget(self) -> Budget:
        """The limits."""
        from ludens.run.budget import Budget

        return Budget(self.max_calls, self.max_tokens, self.max_cost, self.max_hours)


def execute_run(plan: Plan, folder: Path, open_store: Callable[[], Store], options: RunOptions) -> int:
    """Play the jobs of a run that are not done, then show the results; returns the exit code.

    Args:
        plan: What is played.
        folder: The run's folder, which need not exist yet.
        open_store: Creates or opens the folder; called once the run is confirmed.
        options: How it is played.
    """
    from ludens.run.jobs import JobRunner
    from ludens.run.store import read_progress

    if options.ray is None:  # nodes of a cluster check for themselves: keys may exist only there
        JobRunner(plan).check()
    elif find_spec("ray") is None:
        raise MissingExtra("running on Ray", "ray")
    done, _ = read_progress(folder)
    jobs = [job for job in plan.jobs if job.key not in done]
    budget, estimate = options.budget, _confirm(plan, jobs, options)
    resume_hint = _resume_hint(folder, options, plan)
    with open_store() as store:
        try:
            result = _play(store, len(jobs), options, budget, estimate) if jobs else None
        except KeyboardInterrupt:
            aside(f"\nludens: stopped. {resume_hint}")
            return INTERRUPTED
        except UsageError as error:
            code = usage_error(str(error))
            aside(resume_hint)
            return code
    show_results(folder)
    if result is None or result.complete:
        return DONE
    aside(f"ludens: stopped early: {result.reason.rstrip('.')}. {resume_hint}")
    return INTERRUPTED if result.interrupted else STOPPED_EARLY


def _play(store: Store, jobs: int, options: RunOptions, budget: Budget, estimate: CostEstimate) -> RunResult:
    from ludens.run.engine import Engine
    from ludens.run.executors import default_workers, make_executor
    from ludens.run.progress import ProgressDisplay

    workers = options.workers
    if workers is None:
        workers = default_workers(store.plan, min(options.concurrency, jobs)) if options.ray is None else 0
    workers = min(workers, jobs)
    where = f" in {workers} process{'es' if workers > 1 else ''}" if workers else ""
    aside(f"playing{where}, saving to {store.folder}")
    # A person plays one game at a time, and cannot type into a line that is redrawn four times a second.
    human = any(spec.partition("?")[0] == "human" for spec in store.plan.entrants.values())
    concurrency = 1 if human else max(options.concurrency, 2 * workers)
    executor = make_executor(store.plan, concurrency=concurrency, workers=workers, ray=options.ray)
    with nullcontext() if human else ProgressDisplay() as display:
        engine = Engine(
            store,
            executor,
            concurrency=concurrency,
            budget=budget,
            estimates=estimate.each,
            on_progress=display,
        )
        return asyncio.run(engine.run())


def _resume_hint(folder: Path, options: RunOptions, plan: Plan) -> str:
    from ludens.agents import agent_paths
    from ludens.run.trust import accesses

    name = plan.suite.partition("?")[0]
    flags = f" --suite {quote(name)}" if ":" in name else ""
    flags += "".join(f" --agent {quote(path)}" for path in agent_paths(plan.entrants.values()))
    allowed = dict.fromkeys(access.value for access in accesses(plan))
    flags += "".join(f" --allow {quote(value)}" for value in allowed) + options.flags
    return f"Finished episodes are saved; to continue: ludens resume {quote(str(folder))}{flags}"


def _confirm(plan: Plan, jobs: Sequence[Job], options: RunOptions) -> CostEstimate:
    """Print the cost estimate, and ask for confirmation if it is large."""
    from ludens.run.estimate import estimate, unpriced

    if options.max_cost is not None and (names := unpriced(plan)):
        raise BadOption(f"--max-cost needs a price for {', '.join(names)}: add it to the price file.")
    expected = estimate(plan, jobs)
    if expected.calls:
        aside(expected.sentence())
    if expected.large and not (options.yes or options.limited):
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadOption("this is a large run: add --yes to start it, or limit it with --max-calls.")
        print("This is a large run. Start it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise BadOption("the run was not started.")
    return expected


def show_results(folder: Path) -> None:
    """Write the HTML report and print the table."""
    from ludens.run.report import load_results, render
    from ludens.run.report.tables import scores, split, task_scores
    from ludens.run.report.text import plain

    results = load_results([folder])
    page, failure = folder / "report.html", ""
    try:  # before the table, whose reader (`head`, a pager) may close the pipe
        write_atomically(page, render(results, "html"))
    except OSError as error:
        failure = (error.strerror or str(error)).lower()
    made = [part for found in results.suites for part in (*split(scores(found)), task_scores(found))]
    print(plain([part for part in made if part is not None], console().width))
    if failure:
        raise BadFile(f"cannot write {str(page)!r}: {failure}.")
    print(f"Open {page}, or run `ludens report {quote(str(folder))}` for details.")
