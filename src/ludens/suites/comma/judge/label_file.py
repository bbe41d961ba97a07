"""The file of labels: one line per conversation, appended as soon as it is judged.

Verdicts of this judge are not requested again, and those of other judges are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from ludens.core.errors import BadFile
from ludens.suites.comma.judge import RULES, Verdict

Key = tuple[str, str]
"""An episode: its key in the run, and its fingerprint, since another run may use the same keys."""


class LabelFile:
    """A file of labels, opened for one judge.

    Args:
        file: Created if it does not exist.
        judge: The judge's spec.
        words: A hash of the judge's templates, empty for the default ones.
    """

    def __init__(self, file: Path, judge: str, templates: str = "") -> None:
        self._path, self._judge, self._templates = file, judge, templates
        self._file: BinaryIO | None = None
        self.said: dict[Key, Verdict] = {}

    def __enter__(self) -> Self:
        lines = self._read()
        mine = [line for line in lines if self._is_mine(line)]
        # Rules cost nothing and may have changed; failures are tried again.
        good = [line for line in mine if not line["error"] and self._judge != RULES]
        for line in good:
            verdict = Verdict(tuple(line["labels"]), line["why"])
            self.said[line["key"], line.get("fingerprint", "")] = verdict
        others = [line for line in lines if not self._is_mine(line)]
        partial = self._path.with_name(self._path.name + ".part")
        partial.write_bytes(b"".join(map(_written, [*others, *good])))
        partial.replace(self._path)
        self._file = self._path.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: Key, verdict: Verdict, told: Mapping[str, Any]) -> None:
        """Append the verdict on an episode."""
        assert self._file is not None, "the file is not open"
        self.said[key] = verdict
        line = {
            "key": key[0],
            **told,
            "labels": list(verdict.labels),
            "why": verdict.why,
            "error": verdict.error,
            "judge": self._judge,
            "templates": self._templates,
            "fingerprint": key[1],
        }
        self._file.write(_written(line))
        self._file.flush()

    def _is_mine(self, line: Mapping[str, Any]) -> bool:
        return line.get("judge") == self._judge and line.get("templates", "") == self._templates

    def _read(self) -> list[dict[str, Any]]:
        """Complete lines; a truncated last line is skipped."""
        if not self._path.exists():
            return []
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
            found = [orjson.loads(line) for line in lines if line.endswith(b"\n")]
            if all(line.keys() >= {"key", "labels", "why", "error"} for line in found):
                return found
        except (orjson.JSONDecodeError, AttributeError):
            pass
        raise BadFile(f"{str(self._path)!r} is not a file of labels; choose another --out.")


def _written(line: Mapping[str, Any]) -> bytes:
    return orjson.dumps(line) + b"\n"
