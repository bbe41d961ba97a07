"""Calibration of judges: ten conversations written for each class, and ten normal ones."""

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
    """A conversation and its labels."""

    conversation: Conversation
    labels: tuple[Label, ...]
    """The first is the class it was written for."""


@dataclass(frozen=True)
class Agreement:
    """A judge compared with the right labels, for one label."""

    label: Label
    accuracy: Estimate
    """Share of all conversations on which both agree whether the label applies."""
    found: Estimate
    """Share of the conversations it applies to that got it."""
    false: Estimate
    """Share of the conversations it does not apply to that got it."""


@dataclass(frozen=True)
class Calibration:
    """A judge's results on the whole set."""

    labels: Mapping[Label, Agreement]
    exact: Estimate
    """Share of conversations with exactly the right labels."""
    hit: Estimate
    """Share with the class they were written for, whatever else: the paper's measure."""


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """The calibration set."""
    folder = Path(__file__).parent / "calibration"
    return tuple(case for file in sorted(folder.glob("*.txt")) for case in read_cases(file))


def read_cases(file: Path) -> list[Case]:
    """The conversations in a file: each begins with a line `# puzzle | label, label`."""
    _, *parts = file.read_text(encoding="utf-8").split("\n# ")
    found = []
    for part in parts:
        head, *rows = part.rstrip().splitlines()
        puzzle, _, names = head.partition(" | ")
        labels = [label_of(name) for name in names.split(",")]
        if None in labels:
            raise BadFile(f"{file.name} has an unknown label in {head!r}.")
        known = tuple(label for label in labels if label is not None)
        found.append(Case(read_conversation(puzzle, rows), known))
    return found


def agreement(truth: Sequence[Case], given: Sequence[Sequence[Label]]) -> Calibration:
    """Compare a judge's labels with the right ones."""
    pairs = [(set(case.labels), set(labels)) for case, labels in zip(truth, given, strict=True)]
    each = {}
    for label in LABELS:
        fits = [label in theirs for right, theirs in pairs if label in right]
        other = [label in theirs for right, theirs in pairs if label not in right]
        right_ones = sum(fits) + other.count(False)
        each[label] = Agreement(
            label, rate(right_ones, len(pairs)), rate(sum(fits), len(fits)), rate(sum(other), len(other))
        )
    exact = sum(right == theirs for right, theirs in pairs)
    hits = sum(case.labels[0] in labels for case, labels in zip(truth, given, strict=True))
    return Calibration(each, rate(exact, len(pairs)), rate(hits, len(pairs)))
