"""What `eval`, `resume` and `demo` share: the flags of a run, and playing it from estimate to report."""

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

from ludens.cli.given import Whole, at_least
from ludens.cli.guard import DONE, INTERRUPTED, refuse
from ludens.cli.out import aside, console
from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError

if TYPE_CHECKING:
    from ludens.run.budget import Budget
    from ludens.run.engine import Ending
    from ludens.run.estimate import CostEstimate
    from ludens.run.plan import Job, Plan
    from ludens.run.store import Store

STOPPED_EARLY = 3
CONCURRENCY = 16

Concurrency = Annotated[Whole, Parameter(help="Episodes in flight at the same time.")]
Workers = Annotated[
    Whole | None,
    Parameter(
        help="Processes that play; 0 plays in this one. Usual: more only for over 255 calls in flight."
    ),
]
Ray = Annotated[
    str | None,
    Parameter(help="Play on the Ray cluster at this address, --workers wide; 'local' starts one here."),
]
MaxCalls = Annotated[Whole | None, Parameter(help="Start nothing that would take more calls to models.")]
MaxTokens = Annotated[Whole | None, Parameter(help="Start nothing that would take more tokens.")]
MaxCost = Annotated[float | None, Parameter(help="Start nothing that would cost more dollars; needs prices.")]
MaxHours = Annotated[float | None, Parameter(help="Start nothing after so many hours.")]
Yes = Annotated[
    bool, Parameter(name="--yes", negative="", show_default=False, help="Begin, however large the run is.")
]


@dataclass(frozen=True)
class Pace:
    """How a run is played, whatever it plays."""

    concurrency: int = CONCURRENCY
    workers: int | None = None
    ray: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_hours: float | None = None
    yes: bool = False

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
        """What must be said again to go on at this pace."""
        own = {
            "--concurrency": None if self.concurrency == CONCURRENCY else self.concurrency,
            "--workers": self.workers,
            "--ray": self.ray,
        }
        return "".join(f" {flag} {quote(str(said))}" for flag, said in own.items() if said is not None)

    @property
    def bounded(self) -> bool:
        """Whether somebody has said how much may be spent."""
        return (self.max_calls or self.max_tokens or self.max_cost) is not None

    @property
    def budget(self) -> Budget:
        """The limits of this go."""
        from ludens.run.budget import Budget

        return Budget(self.max_calls, self.max_tokens, self.max_cost, self.max_hours)


def go(plan: Plan, folder: Path, opened: Callable[[], Store], pace: Pace) -> int:
    """Play what is missing of a run, then show what was found; returns the exit code.

    Args:
        plan: What is played.
        folder: Where to; it need not be there yet.
        opened: Makes or opens the folder, once the run is known to be wanted.
        pace: How it is played.
    """
    from ludens.run.jobs import JobRunner
    from ludens.run.store import progress

    if pace.ray is None:  # the nodes of a cluster look for themselves: keys are there and perhaps not here
        JobRunner(plan).check()
    elif find_spec("ray") is None:
        raise MissingExtra("running on Ray", "ray")
    done, _ = progress(folder)
    left = [job for job in plan.jobs() if job.key not in done]
    if any(not -(2**63) <= job.seed < 2**63 for job in left):
        raise BadOption(f"--seed {plan.seed} leads to seeds of episodes that do not fit into 64 bits.")
    budget, guess = pace.budget, _agreed(plan, left, pace)
    with opened() as store:
        try:
            ending = _played(store, pace, budget, guess) if left else None
        except KeyboardInterrupt:
            aside(f"\nludens: stopped at once. {_how_to_resume(folder, pace, plan.suite)}")
            return INTERRUPTED
        except UsageError as error:
            code = refuse(str(error))
            aside(_how_to_resume(folder, pace, plan.suite))
            return code
    show_results(folder)
    if ending is None or ending.complete:
        return DONE
    aside(f"ludens: stopped early: {ending.reason.rstrip('.')}. {_how_to_resume(folder, pace, plan.suite)}")
    return INTERRUPTED if ending.interrupted else STOPPED_EARLY


def _played(store: Store, pace: Pace, budget: Budget, guess: CostEstimate) -> Ending:
    from ludens.run.engine import Engine
    from ludens.run.executor import executor, fitting
    from ludens.run.progress import Progress

    workers, left = pace.workers, sum(1 for _ in store.pending())
    people = any(spec.partition("?")[0] == "human" for spec in store.plan.entrants.values())
    if workers is None:
        workers = fitting(store.plan, min(pace.concurrency, left)) if pace.ray is None else 0
    workers = min(workers, left)
    among = f", in {workers} process{'es' if workers > 1 else ''}" if workers else ""
    aside(f"playing into {store.folder}{among}")
    concurrency = 1 if people else max(pace.concurrency, 2 * workers)
    where = executor(store.plan, concurrency=concurrency, workers=workers, ray=pace.ray)
    # Nobody can play sixteen games at once, nor type into a line that is drawn anew four times a second.
    with nullcontext() if people else Progress() as progress:
        engine = Engine(
            store, where, concurrency=concurrency, budget=budget, estimated=guess.each, watch=progress
        )
        return asyncio.run(engine.run())


def _how_to_resume(folder: Path, pace: Pace, suite: str) -> str:
    name = suite.partition("?")[0]
    own = f" --suite {quote(name)}" if ":" in name else ""
    return f"Finished episodes are saved; to continue: ludens resume {quote(str(folder))}{own}{pace.flags}"


def _agreed(plan: Plan, left: Sequence[Job], pace: Pace) -> CostEstimate:
    """The estimate, once somebody has agreed to it where it is large."""
    from ludens.run.estimate import estimate, unpriced

    if pace.max_cost is not None and (names := unpriced(plan)):
        raise BadOption(f"--max-cost needs a price for {', '.join(names)}: name it in the file of prices.")
    guess = estimate(plan, left)
    if guess.calls:
        aside(guess.sentence())
    if guess.large and not (pace.yes or pace.bounded):
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadOption("this is a large run: add --yes to begin it, or bound it with --max-calls.")
        print("This is a large run. Begin? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise BadOption("nothing was begun.")
    return guess


def show_results(folder: Path) -> None:
    """Write the page, print the table, and say where the page is."""
    from ludens.run.report import load_results, render
    from ludens.run.report.tables import scores, split, task_scores
    from ludens.run.report.text import plain

    results = load_results([folder])
    page, trouble = folder / "report.html", ""
    try:  # first: who reads the table (`head`, a pager) may leave in the middle of it
        page.write_bytes(render(results, "html"))
    except OSError as error:
        trouble = (error.strerror or str(error)).lower()
    made = [part for found in results.suites for part in (*split(scores(found)), task_scores(found))]
    print(plain([part for part in made if part is not None], console().width))
    if trouble:
        raise BadFile(f"cannot write {str(page)!r}: {trouble}.")
    print(f"Open {page}; `ludens report {quote(str(folder))}` tells more.")
