"""Compares this checkout with another commit: the same benchmarks on both, in turns, so that load hits both.

Every measurement is a process of its own: `python -m benchmarks.against NAME SECONDS` prints rows as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks import ROOT, Row, bench
from ludens.core.errors import UsageError

TOLERANCE = 0.9
"""A ratio below this is a regression; smaller differences are noise."""
_ROUNDS = 3
_TIMEOUT = 3600


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A temporary git worktree of the commit."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        _git("worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def compare(name: str, seconds: float, tree: Path, commit: str) -> list[Row]:
    """Rows of a benchmark on this checkout, with the ratio to the other one: above 1 where this is better."""
    ours: dict[str, list[Row]] = {}
    theirs: dict[str, list[Row]] = {}
    problem = ""
    for _ in range(_ROUNDS):
        for root, figures in ((ROOT, ours), (tree, theirs)):
            rows, error = measure(name, seconds, root)
            if root is ROOT and error:
                raise UsageError(f"the benchmark {name} failed: {error}")
            problem = problem or error
            for row in rows:
                figures.setdefault(row.what, []).append(row)
    return [_compared(rows, theirs.get(what, []), commit, problem) for what, rows in ours.items()]


def _compared(ours: list[Row], theirs: list[Row], commit: str, problem: str) -> Row:
    row = ours[0]
    values = [each.value for each in ours if each.value is not None]
    pairs = [(a.value, b.value) for a, b in zip(ours, theirs, strict=False) if a.value and b.value]
    if not values:
        return row
    if not pairs:
        note = f"skipped on {commit}: {problem or 'it has no such row'}"
        return Row(row.what, median(values), row.unit, row.target, note=note)
    ratio = median(a / b if row.is_rate else b / a for a, b in pairs)
    note = f"{commit}: {median(b for _, b in pairs):,.4g}"
    return Row(row.what, median(values), row.unit, row.target, ratio, note)


def measure(name: str, seconds: float, root: Path) -> tuple[list[Row], str]:
    """The rows of a benchmark on the checkout in this folder, and why it stopped where it did."""
    path = os.pathsep.join([str(root / "src"), str(ROOT)])
    command = [sys.executable, "-m", "benchmarks.against", name, str(seconds)]
    environment = {**os.environ, "PYTHONPATH": path}
    process = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    rows = [Row(**json.loads(line)) for line in process.stdout.splitlines() if line.startswith("{")]
    error = (process.stderr.strip().splitlines() or ["no error message"])[-1] if process.returncode else ""
    return rows, error


def _git(*words: str) -> None:
    process = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    if process.returncode:
        raise UsageError(f"git {' '.join(words[:2])} failed: {process.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    for row in bench(sys.argv[1])(float(sys.argv[2])):
        print(json.dumps(asdict(row)), flush=True)
