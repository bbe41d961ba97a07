"""Verdicts in a JSON Lines file, written as they arrive.

Verdicts of the same judge are reused, so that an interrupted run continues; those of other judges are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from ludens.core.files import write_atomically
from ludens.run.labels import read_labels
from ludens.suites.comma.judge import RULES, Verdict

Key = tuple[str, str]
"""Key of an episode in its run, and its fingerprint: another run may have the same keys."""


class LabelFile:
    """A context manager that reads the earlier verdicts of a judge and appends new ones.

    Args:
        file: Created if it does not exist.
        judge: The judge's spec.
        templates: Hash of the user's templates, empty for the default ones.
    """

    def __init__(self, file: Path, judge: str, templates: str = "") -> None:
        self._path, self._judge, self._templates = file, judge, templates
        self._file: BinaryIO | None = None
        self.verdicts: dict[Key, Verdict] = {}

    def __enter__(self) -> Self:
        lines = read_labels(self._path)
        mine = [line for line in lines if self._is_mine(line)]
        # Rules cost nothing and may have changed since; failed verdicts are tried again.
        valid = [line for line in mine if not line["error"] and self._judge != RULES]
        for line in valid:
            verdict = Verdict(tuple(line["labels"]), line["reason"])
            self.verdicts[line["key"], line.get("fingerprint", "")] = verdict
        others = [line for line in lines if not self._is_mine(line)]
        write_atomically(self._path, b"".join(map(_encode, [*others, *valid])))
        self._file = self._path.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: Key, verdict: Verdict, details: Mapping[str, Any]) -> None:
        """Append the verdict on an episode, with further details of the episode."""
        assert self._file is not None, "the file is not open"
        self.verdicts[key] = verdict
        line = {
            "key": key[0],
            **details,
            "labels": list(verdict.labels),
            "reason": verdict.reason,
            "error": verdict.error,
            "judge": self._judge,
            "templates": self._templates,
            "fingerprint": key[1],
        }
        self._file.write(_encode(line))
        self._file.flush()

    def _is_mine(self, line: Mapping[str, Any]) -> bool:
        return line.get("judge") == self._judge and line.get("templates", "") == self._templates


def _encode(line: Mapping[str, Any]) -> bytes:
    return orjson.dumps(line) + b"\n"
