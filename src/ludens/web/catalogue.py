"""The runs in a folder and their progress. A request names a run; only runs found here are ever opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import Literal

from ludens.core.errors import UsageError
from ludens.run.lines import EPISODES
from ludens.run.seats import seated_name
from ludens.run.store import read_plan

MAX_RUNS, MAX_DEPTH = 2_000, 6
"""What is searched of a folder at most."""
QUIET = 120.0
"""Seconds without a new episode after which an unfinished run counts as stopped."""
SCAN_EVERY = 2.0
_VOID = b'"void":true,"job":'
"""In the head of a line; inside strings the quotes would be escaped."""

RunStatus = Literal["complete", "in progress", "stopped", "unreadable"]


@dataclass(frozen=True)
class RunInfo:
    """One run in the list."""

    name: str
    status: RunStatus
    changed: float
    """When the last episode was written, in seconds since 1970."""
    suite: str = ""
    entrants: tuple[str, ...] = ()
    done: int = 0
    planned: int = 0
    void: int = 0
    error: str = ""

    @property
    def percent(self) -> float:
        """The share of the planned episodes that are done."""
        return 100 * min(self.done, self.planned) / self.planned if self.planned else 0.0


class _Count:
    """Counts the lines of a file of episodes, from where it last stopped."""

    def __init__(self) -> None:
        self.end = self.done = self.void = self.inode = 0

    def update(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != self.inode or stat.st_size < self.end:
                    self.end = self.done = self.void = 0
                    self.inode = stat.st_ino
                file.seek(self.end)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self.end += len(line)
                    if _VOID in line[:4096]:
                        self.void += 1
                    else:
                        self.done += 1
        except OSError:
            self.end = self.done = self.void = 0


class Catalogue:
    """The runs below a folder. Its methods block: call them in a thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders: dict[str, Path] = {}
        self._scanned = float("-inf")
        self._counts: dict[str, _Count] = {}
        self._lock = Lock()

    def folder(self, name: str) -> Path | None:
        """The folder of a run; None if there is no such run."""
        with self._lock:
            if name not in self._folders:
                self._scan()
            found = self._folders.get(name)
        return found if found is not None and (found / "run.json").is_file() else None

    def runs(self) -> list[RunInfo]:
        """Every run, latest first."""
        with self._lock:
            self._scan()
            infos = [self._info(name, folder) for name, folder in self._folders.items()]
        found = (info for info in infos if info is not None)
        return sorted(found, key=lambda info: info.changed, reverse=True)

    def _scan(self) -> None:
        if monotonic() - self._scanned < SCAN_EVERY:
            return
        self._folders = dict(_find(self.root))
        self._counts = {name: count for name, count in self._counts.items() if name in self._folders}
        self._scanned = monotonic()

    def _info(self, name: str, folder: Path) -> RunInfo | None:
        changed = max(_changed(folder / "run.json"), _changed(folder / EPISODES))
        if not changed:
            return None  # deleted meanwhile
        try:
            plan = read_plan(folder)
            entrants = tuple(seated_name(entrant, plan.seated) for entrant in plan.entrants)
            planned = plan.total()
        except UsageError as error:
            return RunInfo(name, "unreadable", changed, error=str(error))
        count = self._counts.setdefault(name, _Count())
        count.update(folder / EPISODES)
        status: RunStatus = "in progress" if time() - changed < QUIET else "stopped"
        status = "complete" if count.done >= planned else status
        return RunInfo(name, status, changed, plan.suite, entrants, count.done, planned, count.void)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _find(root: Path) -> Iterator[tuple[str, Path]]:
    """Every folder with a `run.json`, by the name that addresses use."""
    found = 0
    for folder, subfolders, files in os.walk(root):
        path = Path(folder)
        depth = len(path.relative_to(root).parts)
        subfolders[:] = sorted(subfolders) if depth < MAX_DEPTH else []
        if "run.json" in files:
            yield path.relative_to(root).as_posix() if path != root else root.resolve().name, path
            subfolders.clear()
            found += 1
        if found >= MAX_RUNS:
            return
