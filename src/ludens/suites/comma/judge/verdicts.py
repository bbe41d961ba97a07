"""Verdicts of judges: in a file as they arrive, and their accuracy on the calibration set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.run.labels import read_labels
from ludens.run.stats import Estimate, rate
from ludens.suites.comma.judge import RULES, Verdict
from ludens.suites.comma.judge.conversation import LABELS, Conversation, Label, label_of, read_conversation

Key = tuple[str, str]
"""Key of an episode in its run, and its fingerprint: another run may have the same keys."""


class LabelFile:
    """A context manager that reads the earlier verdicts of a judge and appends new ones.

    `templates` is the hash of the templates of the user, empty for the default ones.
    """

    def __init__(self, file: Path, judge: str, templates: str = "") -> None:
        self._path, self._judge, self._templates = file, judge, templates
        self._file: BinaryIO | None = None
        self.verdicts: dict[Key, Verdict] = {}

    def __enter__(self) -> Self:
        own, others = list[dict[str, Any]](), list[dict[str, Any]]()
        for line in read_labels(self._path):
            same = (line.get("judge"), line.get("templates", "")) == (self._judge, self._templates)
            (own if same else others).append(line)
        # Rules cost nothing and may have changed since; failed verdicts are tried again.
        valid = [line for line in own if not line["error"] and self._judge != RULES]
        for line in valid:
            verdict = Verdict(tuple(line["labels"]), line["reason"])
            self.verdicts[line["key"], line.get("fingerprint", "")] = verdict
        write_atomically(self._path, b"".join(map(_encode, [*others, *valid])))
        self._file = self._path.open("ab")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, key: Key, verdict: Verdict, details: Mapping[str, Any]) -> None:
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


def _encode(line: Mapping[str, Any]) -> bytes:
    return orjson.dumps(line) + b"\n"


@dataclass(frozen=True)
class Case:
    """A conversation and its correct labels; it was written to show the first."""

    conversation: Conversation
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class Agreement:
    """How well a judge assigns one label."""

    label: Label
    accuracy: Estimate
    """Share of all conversations that correctly have or lack the label."""
    found: Estimate
    """Share of the conversations with the label that got it (recall)."""
    false: Estimate
    """Share of the conversations without the label that got it (false positive rate)."""


@dataclass(frozen=True)
class Calibration:
    """How well a judge did on the whole set."""

    labels: Mapping[Label, Agreement]
    exact: Estimate
    """Share of conversations with exactly the correct labels."""
    hit: Estimate
    """Share whose labels include the one they were written for: the paper's measure."""


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    files = sorted((Path(__file__).parent / "calibration").glob("*.txt"))
    return tuple(case for file in files for case in read_cases(file))


def read_cases(file: Path) -> list[Case]:
    """The cases in a file; each starts with a line `# puzzle | label, label`."""
    _, *parts = file.read_text(encoding="utf-8").split("\n# ")
    cases = []
    for part in parts:
        head, *rows = part.rstrip().splitlines()
        puzzle, _, names = head.partition(" | ")
        labels = tuple(label for name in names.split(",") if (label := label_of(name)) is not None)
        if len(labels) < names.count(",") + 1:
            raise BadFile(f"unknown label in {head!r} of {file.name}.")
        cases.append(Case(read_conversation(puzzle, rows), labels))
    return cases


def agreement(truth: Sequence[Case], answers: Sequence[Sequence[Label]]) -> Calibration:
    pairs = [(set(case.labels), set(labels)) for case, labels in zip(truth, answers, strict=True)]
    by_label = {}
    for label in LABELS:
        present = [label in judged for correct, judged in pairs if label in correct]
        absent = [label in judged for correct, judged in pairs if label not in correct]
        accuracy = rate(sum(present) + absent.count(False), len(pairs))
        shares = (rate(sum(labelled), len(labelled)) for labelled in (present, absent))
        by_label[label] = Agreement(label, accuracy, *shares)
    exact = sum(correct == judged for correct, judged in pairs)
    hits = sum(case.labels[0] in labels for case, labels in zip(truth, answers, strict=True))
    return Calibration(by_label, rate(exact, len(pairs)), rate(hits, len(pairs)))
