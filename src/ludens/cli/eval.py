"""`ludens eval`, `resume` and `demo`: play a run from estimate to report."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.agents import import_agent
from ludens.cli.advice import advice
from ludens.cli.arguments import (
    AgentNames,
    Allowed,
    Flag,
    Size,
    SuiteName,
    Theme,
    Whole,
    Words,
    at_least,
    pairs,
    render_options,
)
from ludens.cli.guard import DONE, INTERRUPTED, usage_error
from ludens.cli.output import aside, console, write_file
from ludens.core.episode import Usage
from ludens.core.errors import BadFile, BadOption, MissingExtra, UsageError
from ludens.core.plain import plural
from ludens.core.policy import Setter, permit
from ludens.core.processes import cores
from ludens.core.spec import parse_spec
from ludens.models.ledger import Budget
from ludens.run.arena.adaptive import AdaptiveSource
from ludens.run.engine import Engine, RunResult, default_workers, make_executor
from ludens.run.estimate import CostEstimate, estimate, unpriced_models
from ludens.run.jobs import JobRunner, combine_errors
from ludens.run.plan import HELD_BACK, MAX_SAMPLES, Entrants, Job, Plan, entrants_of, make_plan
from ludens.run.progress import ProgressDisplay
from ludens.run.report import load_results, main_tables, render
from ludens.run.report.table import plain
from ludens.run.store import Store, read_plan, read_progress
from ludens.run.task import import_suite
from ludens.run.tracking import check_tracker, track_results
from ludens.run.trust import plan_accesses
from ludens.suites.arena import arena_of

STOPPED_EARLY = 3
CONCURRENCY = 16
PROBED_CALLS = 20
"""Models are probed before runs of at least so many calls; in shorter ones the first call is the probe."""


@Parameter(name="*")
@dataclass(frozen=True)
class ExecutionOptions:
    """How a run is played, whatever it plays."""

    concurrency: Whole = CONCURRENCY
    """Maximum number of episodes in flight."""
    workers: Whole | None = None
    """Worker processes; 0 plays in this process. Default: 0, or one per 128 episodes in flight from 256
    on."""
    ray: str | None = None
    """Address of a Ray cluster to play on, with --workers actors; 'local' starts one."""
    max_calls: Whole | None = None
    """Budget: no more calls to models than this."""
    max_tokens: Whole | None = None
    """Budget: no more tokens than this."""
    max_cost: float | None = None
    """Budget: no more dollars; needs prices."""
    max_hours: float | None = None
    """Start no episode after this many hours."""
    skip_unavailable: Flag = False
    """Skip tasks that cannot be played here: missing extras, engines, keys."""
    track: str | None = None
    """Report the results to trackio:PROJECT, wandb:PROJECT or tensorboard:FOLDER."""
    yes: Flag = False
    """Start a large run without asking."""

    def __post_init__(self) -> None:
        if self.track is not None:
            check_tracker(self.track)
        at_least("--concurrency", self.concurrency, 1)
        at_least("--workers", self.workers or 0, 0)
        count = cores()
        most, where = (
            (10_000, "a cluster") if self.ray else (max(16, 4 * count), f"a machine with {count} cores")
        )
        if (self.workers or 0) > most:
            raise BadOption(f"--workers must be at most {most} on {where}, not {self.workers}.")

    @property
    def flags(self) -> str:
        """The flags with which `ludens resume` continues in the same way."""
        return "".join(f" {quote(word)}" for word in self._words("concurrency", "workers", "ray"))

    @property
    def words(self) -> list[str]:
        return self._words(*(field.name for field in fields(self)))

    def _words(self, *names: str) -> list[str]:
        words: list[str] = []
        for name in names:
            value, flag = getattr(self, name), f"--{name.replace('_', '-')}"
            if value != getattr(ExecutionOptions, name):
                words += [flag] if value is True else [flag, str(value)]
        return words

    @property
    def budget(self) -> Budget:
        return Budget(self.max_calls, self.max_tokens, self.max_cost, self.max_hours)


@Parameter(name="*")
@dataclass(frozen=True)
class PromptFlags:
    """How the models of a run are prompted."""

    modality: Literal["image", "text", "both"] | None = None
    """What models see: pictures, text, or both; by default what the game offers."""
    blind_control: Annotated[bool | None, Parameter(show_default=False)] = None
    """Each model that looks at pictures also plays with blank ones; this is the default."""
    style: Literal["direct", "cot", "explain"] | None = None
    """Answer directly (default), reason first, or answer and explain."""
    frames: Whole | None = None
    """Number of latest observations shown as pictures; 1 by default."""
    memory: Literal["none", "last", "all"] | None = None
    """Earlier exchanges kept in the prompt; none by default."""
    templates: Path | None = None
    """Folder with your own templates: agent.md, GAME.md."""
    preset: str = ""
    """Sampling settings of a paper, for all models: vs-bench or vs-bench-reasoning."""

    @property
    def folder(self) -> str:
        """The folder of templates, as plans name it."""
        return str(self.templates.resolve()) if self.templates else ""

    def entrants(
        self, specs: Sequence[str], names: Sequence[str], blind: bool = False, act: str | None = None
    ) -> Entrants:
        values = {
            "modality": self.modality,
            "blind": "true" if blind else None,
            "style": self.style,
            "frames": self.frames,
            "memory": self.memory,
            "act": act,
        }
        options = {option: str(value) for option, value in values.items() if value is not None}
        return entrants_of(
            specs,
            names,
            options,
            templates=self.folder,
            preset=self.preset,
            blind_control=self.blind_control,
        )


def execute_run(
    plan: Plan,
    folder: Path,
    open_store: Callable[[], Store],
    options: ExecutionOptions,
    show: bool = True,
) -> int:
    """Play the jobs of a run that are not done, then show the results; returns the exit code.

    The store is opened, and its folder created, once the run is confirmed.
    """
    if options.ray is not None and find_spec("ray") is None:
        raise MissingExtra("running on Ray", "ray")
    if _has_person(plan) and (options.workers or options.ray is not None):
        raise BadOption("a person plays in this process: drop --workers and --ray.")
    playable = _playable(plan, options)
    done_keys, _ = read_progress(folder)
    jobs = [job for job in playable.jobs if job.key not in done_keys]
    budget = options.budget
    estimate = _confirm(playable, jobs, options, budget)
    hint = partial(advice, plan, folder, options.flags, options.words)
    resume_hint = hint()
    arena = arena_of(plan.suite)
    with open_store() as store:
        source = AdaptiveSource(store, arena.adaptive) if arena and arena.adaptive else None
        try:
            result = _play(store, playable, len(jobs), options, budget, estimate, source) if jobs else None
        except KeyboardInterrupt:
            aside(f"\nludens: stopped. {resume_hint}")
            return INTERRUPTED
        except UsageError as error:
            code = usage_error(str(error))
            aside(hint([str(error)]))
            return code
    if show:
        show_results(folder)
    if options.track is not None:
        count = track_results(load_results([folder]), options.track)
        print(f"Reported to {options.track}: {plural(count, 'run')}.")
    if skipped := plan.tasks_by_name.keys() - playable.tasks_by_name.keys():
        aside(f"ludens: skipped: {', '.join(sorted(skipped))}. {resume_hint}")
    if source is not None and source.reason:
        aside(f"ludens: {source.reason}")
    if result is None or result.complete:
        return STOPPED_EARLY if skipped else DONE
    how = hint(result.errors or [result.reason])
    aside(f"ludens: stopped early: {result.reason.rstrip('.')}. {how}")
    return INTERRUPTED if result.interrupted else STOPPED_EARLY


def _playable(plan: Plan, options: ExecutionOptions) -> Plan:
    """The plan without tasks that cannot be played here; raises if there are any that must not be skipped."""
    if options.ray is not None:  # nodes of a cluster check for themselves: keys may exist only there
        return plan
    problems = JobRunner(plan).problems()
    if not problems:
        return plan
    available = tuple(name for name in plan.tasks_by_name if name not in problems)
    error = combine_errors(problems)
    if not available:
        raise error
    if not options.skip_unavailable:
        raise UsageError(f"{error} Or add --skip-unavailable to skip {', '.join(problems)}.")
    aside(f"skipping {', '.join(problems)}: {error}")
    return replace(plan, tasks=available)


def _has_person(plan: Plan) -> bool:
    return any(parse_spec(spec).name == "human" for spec in plan.players)


def _play(
    store: Store,
    plan: Plan,
    jobs: int,
    options: ExecutionOptions,
    budget: Budget,
    estimate: CostEstimate,
    source: Callable[[], Iterable[Job]] | None,
) -> RunResult:
    workers = options.workers
    if workers is None:
        workers = default_workers(plan, min(options.concurrency, jobs)) if options.ray is None else 0
    workers = min(workers, jobs)
    where = f" in {workers} process{'es' if workers > 1 else ''}" if workers else ""
    aside(f"playing{where}, saving to {store.folder}")
    # A person plays one game at a time, and cannot type into a line that is redrawn four times a second.
    human = _has_person(plan)
    concurrency = 1 if human else max(options.concurrency, 2 * workers)
    executor = make_executor(plan, concurrency=concurrency, workers=workers, ray=options.ray, budget=budget)
    with nullcontext() if human else ProgressDisplay() as display:
        engine = Engine(
            store,
            executor,
            concurrency=concurrency,
            budget=budget,
            estimates=estimate.each,
            tasks=plan.tasks_by_name,
            source=source,
            probe=estimate.usage.calls >= PROBED_CALLS,
            on_progress=display,
        )
        return asyncio.run(engine.run())


def _confirm(plan: Plan, jobs: Sequence[Job], options: ExecutionOptions, budget: Budget) -> CostEstimate:
    """Print the cost estimate, compare it with the budget, and ask for confirmation if it is large."""
    if options.max_cost is not None and (names := unpriced_models(plan)):
        raise BadOption(f"--max-cost needs a price for {', '.join(names)}: add it to the price file.")
    expected = estimate(plan, jobs)
    if expected.usage.calls:
        aside(expected.sentence())
    _check_budget(budget, expected)
    if expected.large and not (options.yes or budget.limits_spending):
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise BadOption("this is a large run: add --yes to start it, or limit it with --max-calls.")
        print("This is a large run. Start it? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise BadOption("the run was not started.")
    return expected


def _check_budget(budget: Budget, expected: CostEstimate) -> None:
    """Raise if the budget covers no episode of a model, and say which tasks it does not cover."""
    over = {cell: usage for cell, usage in expected.each.items() if budget.exceeded_by(usage, Usage(calls=0))}
    if not over:
        return
    if len(over) == len(expected.each):
        entrant, task = min(over, key=lambda cell: over[cell].tokens)
        raise BadOption(
            f"the budget covers no episode: the smallest, {task} with {entrant}, is estimated at "
            f"{_amounts(over[entrant, task], budget)}; raise the limit."
        )
    for (entrant, task), usage in over.items():
        aside(f"the budget does not cover {task} with {entrant}, estimated at {_amounts(usage, budget)}.")


def _amounts(usage: Usage, budget: Budget) -> str:
    parts = [
        f"{amount} (--max-{flag} {limit:g})"
        for flag, limit, amount in (
            ("calls", budget.calls, f"{usage.calls:,} calls"),
            ("tokens", budget.tokens, f"{usage.tokens:,} tokens"),
            ("cost", budget.cost, f"${usage.cost or 0.0:.4f}"),
        )
        if limit is not None
    ]
    return " and ".join(parts)


def show_results(folder: Path, runs: Sequence[Path] | None = None) -> None:
    """Print the tables of a run, or of several, and write their page into the folder."""
    runs = [folder] if runs is None else runs
    results = load_results(runs)
    page, failure = folder / "report.html", None
    try:  # before the table, whose reader (`head`, a pager) may close the pipe
        write_file(page, render(results, "html"))
    except BadFile as error:
        failure = error
    print(plain(main_tables(results), console().width))
    if failure is not None:
        raise failure
    print(f"Open {page}, or run `ludens report {' '.join(quote(str(run)) for run in runs)}` for details.")


def eval_(
    suite: str,
    /,
    *,
    model: Annotated[Words, Parameter(name=["--model", "-m"])] = (),
    name: Words = (),
    seat: Words = (),
    reference: str = "",
    data: Path | None = None,
    tasks: str = "",
    limit: Whole = 0,
    samples: Whole = 1,
    seed: Whole = 0,
    held_back: Flag = False,
    out: Path | None = None,
    theme: Theme = "classic",
    size: Size = 512,
    blind: Flag = False,
    prompts: PromptFlags | None = None,
    act: Literal["text", "tools"] | None = None,
    options: ExecutionOptions | None = None,
) -> int:
    """Evaluate models or bots on a suite; print a table and write a report. Resumable, with budgets.

    Args:
        suite: Suite to play; `ludens suites` lists them; or module:attribute.
        model: Model or bot to evaluate: openai/gpt-4.1, vllm/NAME@http://HOST:PORT/v1, bot/random,
            module:Class, ...; may be repeated.
        name: Name of each --model in tables, in the same order.
        seat: SEAT=SPEC: give a seat of every task to this player, such as expert=human; repeatable.
        reference: Player that models are compared with, where the suite has one: vision-zero.
        data: File or folder of questions, where the suite takes one: files, viki.
        tasks: Comma-separated tasks of the suite; all by default.
        limit: Maximum number of episodes per task; 0 for the suite's number.
        samples: Play every episode this many times.
        seed: Added to the seed of every episode.
        held_back: Play seeds that are kept for a last evaluation: nothing is trained or tried on them.
        out: Folder of the run; runs/SUITE-MODEL-TIME by default.
        blind: Show models blank pictures of the same size.
        act: Models reply in text (default), or through a tool call of their API.
    """
    render = render_options(theme, size)
    at_least("--limit", limit, 0)
    if held_back and seed:
        raise BadOption("give --seed or --held-back, not both.")
    if not 1 <= samples <= MAX_SAMPLES:
        raise BadOption(f"--samples must be 1 to {MAX_SAMPLES}, not {samples}.")
    task_names = tuple(filter(None, (task.strip() for task in tasks.split(","))))
    if tasks and not task_names:
        raise BadOption(f"--tasks names no task: {tasks!r}.")
    prompts = prompts or PromptFlags()
    entrants = prompts.entrants(model, name, blind, act)
    flags = {"reference": reference, "data": str(data.resolve()) if data else ""}
    suite_options = {option: value for option, value in flags.items() if value}
    suite = str(parse_spec(suite).with_options(**suite_options)) if suite_options else suite
    plan = make_plan(
        suite,
        entrants.specs,
        pairs(seat, "--seat", "expert=human"),
        tasks=task_names,
        limit=limit,
        samples=samples,
        seed=HELD_BACK.start if held_back else seed,
        theme=render.theme,
        size=render.size,
        templates=prompts.folder,
        controls=entrants.controls,
    )
    for note in plan.cautions():
        aside(f"ludens: {note}")
    folder = out or default_folder(suite, entrants)
    return execute_run(plan, folder, lambda: Store.create(folder, plan), options or ExecutionOptions())


def default_folder(suite: str, entrants: Entrants) -> Path:
    """runs/SUITE-MODEL-TIME, in characters that need no quoting."""
    names = [name for name in entrants.specs if name not in entrants.controls]
    players = names[0] if len(names) == 1 else f"{names[0]}-and-{len(names) - 1}-more"
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", f"{suite}-{players}").strip("-.")
    time = datetime.now().strftime("%Y%m%d-%H%M%S")
    first = Path("runs") / f"{plain[:80]}-{time}"
    free, number = first, 2
    while free.exists():
        free, number = first.with_name(f"{first.name}-{number}"), number + 1
    return free


def resume(
    run: Path,
    /,
    *,
    suite: SuiteName = None,
    allow: Allowed = (),
    agent: AgentNames = (),
    options: ExecutionOptions | None = None,
) -> int:
    """Resume a run that was stopped; finished episodes are never played again.

    Args:
        run: Folder of the run; `ludens runs` lists them.
    """
    import_suite(suite or "")
    for name in agent:
        import_agent(name)
    permit(plan_accesses(read_plan(run)), Setter.FILE, allow)
    store = Store.reopen(run)
    return execute_run(store.plan, run, lambda: store, options or ExecutionOptions())


ENTRANTS = ("bot/random", "bot/best", "nano")


def demo(
    *,
    out: Path | None = None,
    seed: Whole = 0,
    limit: Whole = 0,
) -> int:
    """Run the demo suite with bots and a small model; print a table and write a report. Needs no API key.

    Equivalent to `ludens eval demo --model bot/random --model bot/best --model nano`.

    Args:
        out: Folder for episodes and report; runs/demo-...-TIME by default.
        seed: Added to the seed of every episode.
        limit: Maximum episodes per task; 0 for the suite's number.
    """
    at_least("--limit", limit, 0)
    entrants = entrants_of(ENTRANTS, blind_control=True)
    plan = make_plan("demo", entrants.specs, limit=limit, seed=seed, controls=entrants.controls)
    folder = out or default_folder("demo", entrants)
    return execute_run(plan, folder, lambda: Store.create(folder, plan), ExecutionOptions())
