"""`ludens.evaluate`: a suite played from Python, with its results as tables and data.

evaluation = ludens.evaluate("vs-bench-mini", models=["bot/random", "openai/gpt-4.1"], limit=4)
print(evaluation.table())
frame = evaluation.frame()
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from ludens.core.errors import BadOption
from ludens.core.files import write_atomically
from ludens.core.view import RenderOptions
from ludens.run.engine import Engine, RunResult, make_executor
from ludens.run.jobs import JobRunner
from ludens.run.plan import Plan, entrants_of, make_plan
from ludens.run.progress import ProgressDisplay
from ludens.run.report import main_tables, render
from ludens.run.report.data import episode_rows
from ludens.run.report.table import plain
from ludens.run.results import Results, load_results
from ludens.run.store import Store


@dataclass(frozen=True)
class Evaluation:
    """The results of `evaluate`."""

    results: Results
    """Rows, cells, estimates, comparisons and warnings, as reports use them."""
    folder: Path
    """The folder of the run; a temporary one is deleted together with this object."""
    complete: bool
    """Whether every episode was played."""
    reason: str = ""
    """Why episodes are missing."""

    def __str__(self) -> str:
        return self.table()

    def table(self, width: int = 160) -> str:
        """Entrants x tasks as text, with intervals and warnings."""
        return plain(main_tables(self.results), width)

    def episodes(self) -> list[dict[str, Any]]:
        """One row per episode; `EpisodeRow` documents the columns, metrics are in columns `metric.NAME`."""
        return list(episode_rows(self.results))

    def frame(self) -> Any:
        """`episodes` as a pandas DataFrame; without pandas, the list itself."""
        try:
            import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            return self.episodes()
        return pandas.DataFrame(self.episodes())

    def to_csv(self, path: str | Path) -> None:
        """Write `episodes` as CSV."""
        self._write(path, "episodes-csv")

    def to_parquet(self, path: str | Path) -> None:
        """Write `episodes` as Parquet; needs the extra `data`."""
        self._write(path, "episodes-parquet")

    def to_html(self, path: str | Path) -> None:
        self._write(path, "html")

    def _write(self, path: str | Path, format: str) -> None:
        write_atomically(Path(path), render(self.results, format))


def evaluate(
    suite: str,
    models: Sequence[str],
    *,
    names: Sequence[str] = (),
    seats: Mapping[str, str] | None = None,
    tasks: Sequence[str] = (),
    limit: int = 0,
    samples: int = 1,
    seed: int = 0,
    out: str | Path | None = None,
    theme: str = "classic",
    size: int = 512,
    preset: str = "",
    blind_control: bool = False,
    concurrency: int = 16,
    progress: bool = False,
) -> Evaluation:
    """Play a suite and return its results, as `ludens eval` does; blocks until the last episode has ended.

    There is no estimate, confirmation or budget: for large runs of paid models use `ludens eval`.

    Args:
        suite: Name of a suite, with options where it has them, or "module:attribute".
        models: Specs of the models and bots to evaluate.
        names: Their names in tables, in the same order.
        seats: Seat to the spec of the player who has it in every task, such as {"expert": "bot/oracle"}.
        tasks: Tasks of the suite; all by default.
        limit: Maximum number of episodes per task; 0 for the suite's number, which is never exceeded.
        samples: How often every episode is played.
        seed: Added to the seed of every episode.
        out: Folder of the run, which is continued if it contains the same run; by default a temporary one.
        theme: Theme of the pictures.
        size: Size of the pictures.
        preset: Sampling settings of a paper, for all models: vs-bench or vs-bench-reasoning.
        blind_control: Whether each model also plays with blank pictures.
        concurrency: Maximum number of episodes in flight.
        progress: Whether progress is shown on stderr.
    """
    if isinstance(models, str):
        raise BadOption(f"models must be a list of specs, such as [{models!r}].")
    if concurrency < 1:
        raise BadOption(f"concurrency must be at least 1, not {concurrency}.")
    render = RenderOptions(theme, size)
    entrants = entrants_of(models, names, preset=preset, blind_control=blind_control)
    plan = make_plan(
        suite,
        entrants.specs,
        seats,
        tasks=tuple(tasks),
        limit=limit,
        samples=samples,
        seed=seed,
        theme=render.theme,
        size=render.size,
        controls=entrants.controls,
    )
    for note in plan.cautions():
        warnings.warn(note, stacklevel=2)
    JobRunner(plan).check()
    folder = Path(mkdtemp(prefix="ludens-") if out is None else out)
    try:
        result = _run(plan, folder, concurrency, progress)
        if result.interrupted:
            raise KeyboardInterrupt
        evaluation = Evaluation(load_results([folder]), folder, result.complete, result.reason)
    except BaseException:
        if out is None:
            rmtree(folder, ignore_errors=True)
        raise
    if out is None:
        finalize(evaluation, rmtree, folder, ignore_errors=True)
    return evaluation


def _run(plan: Plan, folder: Path, concurrency: int, progress: bool) -> RunResult:
    """Play the plan, in a thread where an event loop is already running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_play(plan, folder, concurrency, progress))
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _play(plan, folder, concurrency, progress)).result()


async def _play(plan: Plan, folder: Path, concurrency: int, progress: bool) -> RunResult:
    with Store.create(folder, plan) as store, ProgressDisplay() if progress else nullcontext() as display:
        executor = make_executor(plan, concurrency=concurrency)
        return await Engine(store, executor, concurrency=concurrency, on_progress=display).run()
