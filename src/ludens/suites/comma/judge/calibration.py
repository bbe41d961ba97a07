"""Accuracy of a judge on the calibration set: ten conversations of each error and ten normal ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ludens.core.errors import BadFile
from ludens.run.stats import Estimate, rate
from ludens.suites.comma.judge.conversation import Conversation, read_conversation
from ludens.suites.comma.judge.labels import LABELS, Label, label_of


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
    """The calibration set."""
    folder = Path(__file__).parent / "calibration"
    return tuple(case for file in sorted(folder.glob("*.txt")) for case in read_cases(file))


def read_cases(file: Path) -> list[Case]:
    """The cases in a file; each starts with a line `# puzzle | label, label`."""
    _, *parts = file.read_text(encoding="utf-8").split("\n# ")
    found = []
    for part in parts:
        head, *rows = part.rstrip().splitlines()
        puzzle, _, names = head.partition(" | ")
        labels = [label_of(name) for name in names.split(",")]
        if None in labels:
            raise BadFile(f"unknown label in {head!r} of {file.name}.")
        known = tuple(label for label in labels if label is not None)
        found.append(Case(read_conversation(puzzle, rows), known))
    return found


def agreement(truth: Sequence[Case], given: Sequence[Sequence[Label]]) -> Calibration:
    """Compare a judge's labels with the correct ones."""
    pairs = [(set(case.labels), set(labels)) for case, labels in zip(truth, given, strict=True)]
    by_label = {}
    for label in LABELS:
        present = [label in judged for correct, judged in pairs if label in correct]
        absent = [label in judged for correct, judged in pairs if label not in correct]
        accuracy = rate(sum(present) + absent.count(False), len(pairs))
        found, false = (rate(sum(labelled), len(labelled)) for labelled in (present, absent))
        by_label[label] = Agreement(label, accuracy, found, false)
    exact = sum(correct == judged for correct, judged in pairs)
    hits = sum(case.labels[0] in labels for case, labels in zip(truth, given, strict=True))
    return Calibration(by_label, rate(exact, len(pairs)), rate(hits, len(pairs)))
