"""Classification scores: accuracy, precision, recall, F1 and the confusion matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import fsum, nan

from ludens.run.stats.estimate import Estimate, rate

UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Scores of one label. Precision is NaN if it was never answered, recall if it was never the truth."""

    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True, slots=True)
class Classification:
    """Scores of all answers.

    `confusion` has a row for each of `labels` (the truth) and a column for each of `columns` (the answer):
    the labels, then "unreadable". Macro-F1 is over every label that was the truth or an answer.
    """

    accuracy: Estimate
    per_label: Mapping[str, LabelScore]
    macro_f1: float
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]
    unreadable: int


def classification(pairs: Iterable[tuple[str | Set[str], str | None]]) -> Classification:
    """Score (truth, answer) pairs; an answer of None was unreadable and counts as wrong.

    The truth may be a set of labels that are all right (actions with the same outcome). A right answer then
    counts as the truth; a wrong one is divided equally among the right labels.
    """
    cells: defaultdict[tuple[str, str | None], list[float]] = defaultdict(list)
    right = asked = unreadable = 0
    for truth, answer in pairs:
        accepted = {truth} if isinstance(truth, str) else truth
        if not accepted:
            raise ValueError("the truth needs at least one label")
        asked += 1
        right += answer in accepted
        unreadable += answer is None
        if answer is not None and answer in accepted:
            cells[answer, answer].append(1.0)
        else:
            for label in accepted:
                cells[label, answer].append(1 / len(accepted))
    counts = {cell: fsum(shares) for cell, shares in cells.items()}
    labels = tuple(sorted({name for cell in counts for name in cell if name is not None}))
    answers: tuple[str | None, ...] = (*labels, None)
    confusion = tuple(tuple(counts.get((row, column), 0.0) for column in answers) for row in labels)
    per_label = {label: _score(confusion, i) for i, label in enumerate(labels)}
    macro = fsum(score.f1 for score in per_label.values()) / len(labels) if labels else nan
    return Classification(
        rate(right, asked), per_label, macro, labels, (*labels, UNREADABLE), confusion, unreadable
    )


def _score(confusion: tuple[tuple[float, ...], ...], i: int) -> LabelScore:
    right, support = confusion[i][i], fsum(confusion[i])
    answered = fsum(row[i] for row in confusion)
    return LabelScore(
        precision=right / answered if answered else nan,
        recall=right / support if support else nan,
        f1=2 * right / (support + answered),
        support=support,
    )
