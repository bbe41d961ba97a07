"""`ludens arena --reflect`: models practise, write notes on their games, and are measured again.

The folder has a run of practice for each round (`practice-1`, ...), a run on held-out seeds with pictures in
random themes before the first and after each round (`held-out-0`, ...), and the notes (`notes.jsonl`). The
same command continues where it was stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ludens.cli.eval import STOPPED_EARLY, ExecutionOptions, execute_run
from ludens.cli.output import aside, console, write_file
from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure, BadOption
from ludens.core.plain import plural
from ludens.models.settings import MAX_NOTES
from ludens.run.arena.reflect import (
    Notes,
    append_notes,
    check_writers,
    practised,
    read_notes,
    version_name,
    with_notes,
    write_notes,
)
from ludens.run.plan import make_plan
from ludens.run.report import load_results, main_tables, render
from ludens.run.report.table import plain
from ludens.run.store import Store

PRACTICE_SEEDS = 1_000_000
"""Added to the seeds of practice, so that none is held out."""


@dataclass(frozen=True)
class Reflection:
    """What is played, and how long notes may be."""

    suite: str
    specs: Mapping[str, str]
    """Of the models before they have written notes."""
    rounds: int
    seeds: int
    """Seeds of one round, of practice and held out."""
    length: int
    seed: int
    theme: str
    size: int
    templates: str

    def __post_init__(self) -> None:
        if not 1 <= self.length <= MAX_NOTES:
            raise BadOption(f"--notes-length must be 1 to {MAX_NOTES}, not {self.length}.")
        check_writers(dict(self.specs))

    def play(self, folder: Path, options: ExecutionOptions) -> int:
        code = self._run(folder / "held-out-0", self.specs, 0, options)
        for number in range(1, self.rounds + 1):
            specs = self._versions(folder, number - 1)
            code = code or self._run(folder / f"practice-{number}", specs, number, options)
            if code:
                break
            try:
                self._reflect(folder, number, specs)
            except AgentFailure as error:
                aside(f"ludens: {error} Notes that were written are saved; to continue, repeat the command.")
                code = STOPPED_EARLY
                break
            versions = self._versions(folder, number)
            code = self._run(folder / f"held-out-{number}", versions, 0, options)
        self._show(folder)
        return code

    def _versions(self, folder: Path, number: int) -> dict[str, str]:
        """The models with the notes that they wrote after this round."""
        notes = read_notes(folder)
        return {
            version_name(name, number): with_notes(spec, notes[name, number].text) if number else spec
            for name, spec in self.specs.items()
        }

    def _run(self, folder: Path, specs: Mapping[str, str], practice: int, options: ExecutionOptions) -> int:
        """Play held-out seeds, or those of a round of practice."""
        offset = PRACTICE_SEEDS + (practice - 1) * self.seeds if practice else 0
        theme = self.theme if practice else "random"
        plan = make_plan(
            self.suite, specs, seed=self.seed + offset, theme=theme, size=self.size, templates=self.templates
        )
        left = remaining(options, spent(folder.parent))
        if left is None:
            aside("ludens: the budget is spent; to continue, repeat the command with a higher limit.")
            return STOPPED_EARLY
        return execute_run(plan, folder, lambda: Store.create(folder, plan), left, show=False)

    def _reflect(self, folder: Path, number: int, specs: Mapping[str, str]) -> None:
        known = read_notes(folder)
        rows = {row.name: row for row in load_results([folder / f"practice-{number}"]).suites[0].rows}
        for name in self.specs:
            if (name, number) in known:
                continue
            version = version_name(name, number - 1)
            text, usage = asyncio.run(write_notes(specs[version], practised(rows[version]), self.length))
            append_notes(folder, Notes(name, number, text, usage))
            aside(f"{name} wrote notes of {plural(len(text), 'character')} after round {number}.")

    def _show(self, folder: Path) -> None:
        runs = sorted(path.parent for path in folder.glob("held-out-*/run.json"))
        results = load_results(runs)
        write_file(folder / "report.html", render(results, "html"))
        print(plain(main_tables(results), console().width))
        names = " ".join(map(str, runs))
        print(f"Open {folder / 'report.html'}, or run `ludens report {names}` for details.")


def spent(folder: Path) -> Usage:
    """What the runs and the notes in a folder have consumed."""
    total = sum((notes.usage for notes in read_notes(folder).values()), Usage(calls=0))
    runs = [path.parent for path in folder.glob("*/run.json")]
    for suite in load_results(runs).suites if runs else ():
        for row in suite.rows:
            for cell in row.cells.values():
                total += cell.usage + cell.other_usage
    return total


def remaining(options: ExecutionOptions, used: Usage) -> ExecutionOptions | None:
    """The options with the budget that is left; None if a limit is reached."""
    calls = None if options.max_calls is None else options.max_calls - used.calls
    tokens = None if options.max_tokens is None else options.max_tokens - used.tokens
    cost = None if options.max_cost is None else options.max_cost - (used.cost or 0.0)
    if any(limit is not None and limit <= 0 for limit in (calls, tokens, cost)):
        return None
    return replace(options, max_calls=calls, max_tokens=tokens, max_cost=cost)
