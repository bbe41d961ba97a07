"""Mutation check: `make mutants` puts each small fault of mutants.toml into a copy of the source and runs the
tests that should notice it. Survivors, which no test noticed, are printed; more than three are a failure.

Each group of the file names its tests and its faults: a file, a text that occurs in it once, and its
replacement. The tests of a group are run without a fault first, since tests that fail anyway notice nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("mutants.toml")
MAX_SURVIVORS = 3
TIMEOUT = 300
"""Seconds; tests that hang have noticed the fault."""


@dataclass(frozen=True)
class Fault:
    """A small change of the source that at least one of the tests must notice."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {_line(self.old)} -> {_line(self.new)}"

    def problem(self, source: Path) -> str:
        """Why the fault cannot be put into the source; empty if it can."""
        path = source / "ludens" / self.file
        if not path.exists():
            return f"{self.file} does not exist"
        count = path.read_text(encoding="utf-8").count(self.old)
        return "" if count == 1 else f"{self.file} contains {_line(self.old)!r} {count} times, not once"


def _line(text: str) -> str:
    return " ".join(text.split())


def read_faults(file: Path = LIST) -> list[Fault]:
    """The faults of all groups."""
    groups = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        Fault(fault["file"], fault["old"], fault["new"], tuple(group["tests"]))
        for group in groups.values()
        for fault in group["faults"]
    ]


class Copies:
    """Copies of the source, one for each test run at a time. Files are links: a fault replaces its file."""

    def __init__(self, folder: Path, count: int) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for number in range(count):
            copy = folder / str(number)
            shutil.copytree(ROOT / "src", copy, copy_function=os.link, ignore=shutil.ignore_patterns("*.pyc"))
            self._free.put(copy)

    @contextmanager
    def with_fault(self, fault: Fault | None) -> Iterator[Path]:
        """A copy that contains the fault."""
        copy = self._free.get()
        try:
            if fault is None:
                yield copy
                return
            path = copy / "ludens" / fault.file
            text = path.read_text(encoding="utf-8")
            _replace(path, text.replace(fault.old, fault.new))
            try:
                yield copy
            finally:
                _replace(path, text)
        finally:
            self._free.put(copy)


def _replace(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text, encoding="utf-8")


def tests_pass(source: Path, tests: Sequence[str]) -> bool:
    """Whether the tests pass with this source."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]
    try:
        run = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--jobs", type=int, default=2, help="test runs at a time")
    parser.add_argument("--only", default="", help="only faults whose file contains this text")
    arguments = parser.parse_args()
    faults = [fault for fault in read_faults() if arguments.only in fault.file]
    problems = [problem for fault in faults if (problem := fault.problem(ROOT / "src"))]
    if problems or not faults:
        print("\n".join(problems) or f"no fault in a file named {arguments.only!r}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(dir=ROOT / "build" if (ROOT / "build").is_dir() else None) as folder:
        copies = Copies(Path(folder), arguments.jobs)

        def survives(tests: Sequence[str], fault: Fault | None) -> bool:
            with copies.with_fault(fault) as source:
                passed = tests_pass(source, tests)
            if fault is not None:
                print(f"{'SURVIVED' if passed else 'noticed '}  {fault}", flush=True)
            return passed

        with ThreadPoolExecutor(arguments.jobs) as pool:
            groups = sorted({fault.tests for fault in faults})
            sound = pool.map(lambda tests: survives(tests, None), groups)
            failing = [" ".join(tests) for tests, passed in zip(groups, sound, strict=True) if not passed]
            if failing:
                print(f"tests that fail without a fault: {'; '.join(failing)}", file=sys.stderr)
                return 2
            alive = pool.map(lambda fault: survives(fault.tests, fault), faults)
            survivors = [fault for fault, passed in zip(faults, alive, strict=True) if passed]
    print(
        f"{len(faults) - len(survivors)} of {len(faults)} faults were noticed; survivors: {len(survivors)}."
    )
    for fault in survivors:
        print(f"  {fault}")
    return int(len(survivors) > MAX_SURVIVORS)


if __name__ == "__main__":
    sys.exit(main())
