"""Trackers of experiments: numbers of evaluations and training in trackio, Weights & Biases or TensorBoard.

`trackio:PROJECT`, `wandb:PROJECT` or `tensorboard:FOLDER`, as `--track` of `ludens eval` and `ludens train`.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from time import time
from typing import Any

from ludens.core.errors import BadOption, MissingExtra, UnknownName
from ludens.run.results import Results

KINDS = ("trackio", "wandb", "tensorboard")


class Tracker(ABC):
    """One run in a tracker."""

    @abstractmethod
    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Add numbers of one step."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is left."""


class _Logger(Tracker):
    """trackio and Weights & Biases, which have the same interface."""

    def __init__(self, package: Any, project: str, name: str, config: Mapping[str, Any]) -> None:
        self._run = package.init(project=project, name=name, config=dict(config))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self._run.log(dict(values), step=step)

    def finish(self) -> None:
        self._run.finish()


class _Events(Tracker):
    """A folder of TensorBoard events. Those after the first step belong to a run that was stopped."""

    def __init__(self, folder: Path, first: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._writer, self._event = EventFileWriter(str(folder)), Event
        if first:
            start = Event(wall_time=time(), step=first, session_log=SessionLog(status=SessionLog.START))
            self._writer.add_event(start)

    def log(self, step: int, values: Mapping[str, float]) -> None:
        from tensorboard.compat.proto.summary_pb2 import Summary

        entries = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._writer.add_event(self._event(wall_time=time(), step=step, summary=Summary(value=entries)))
        self._writer.flush()

    def finish(self) -> None:
        self._writer.close()


def check_tracker(spec: str) -> tuple[str, str]:
    """Kind and place of a tracker; raises if it cannot be used."""
    kind, colon, place = spec.partition(":")
    if kind not in KINDS:
        raise UnknownName("tracker", kind, KINDS)
    if not (colon and place):
        example = "FOLDER" if kind == "tensorboard" else "PROJECT"
        raise BadOption(f"a tracker is named {kind}:{example}, not {spec!r}.")
    installed = sys.modules[kind] is not None if kind in sys.modules else find_spec(kind) is not None
    if not installed:
        raise MissingExtra(f"the tracker {kind}", "track")
    return kind, place


def open_tracker(spec: str, name: str, config: Mapping[str, Any], first: int = 0) -> Tracker:
    """Begin a run in a tracker.

    Args:
        spec: Kind and place: `trackio:ludens`.
        name: Of the run.
        config: What determines it, as plain values.
        first: The first step that will be logged, where an earlier run is continued.
    """
    kind, place = check_tracker(spec)
    if kind == "tensorboard":
        return _Events(Path(place) / re.sub(r"[^A-Za-z0-9._-]+", "-", name), first)
    if kind == "trackio":
        import trackio

        return _Logger(trackio, place, name, config)
    import wandb

    return _Logger(wandb, place, name, config)


def track_results(results: Results, spec: str) -> int:
    """Log the results of runs, one run of the tracker for each entrant; returns how many."""
    count = 0
    for suite_results in results.suites:
        for row in suite_results.rows:
            values: dict[str, float] = {}
            for task, cell in row.cells.items():
                if not cell.episodes:
                    continue
                for metric in cell.task.metrics:
                    estimate = cell.table_estimate(metric)
                    key = f"{task}/{metric.name}"
                    ends = {
                        key: estimate.mean,
                        f"{key}/low": estimate.low,
                        f"{key}/high": estimate.high,
                    }
                    values |= {name: value for name, value in ends.items() if isfinite(value)}
                values[f"{task}/episodes"] = float(len(cell.episodes))
                values[f"{task}/tokens"] = float(cell.usage.tokens)
            config = {"suite": suite_results.suite.name, "spec": row.spec, "seated": dict(row.seated)}
            tracker = open_tracker(spec, f"{suite_results.suite.name} {row.name}", config)
            tracker.log(0, values)
            tracker.finish()
            count += 1
    return count
