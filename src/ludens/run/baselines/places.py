"""Chooses the places whose words say most about the right answer, one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from ludens.run.baselines.tables import COMMON, FOLDS, WEIGHT, Example, Keys, KeysOf, Table
from ludens.run.baselines.words import Place, Words

MOST_PLACES, GAIN = 5, 0.01
"""Places whose words a table uses, and what each must add to the mean reward."""
MOST_TRIED = 120
"""Those with the fewest different words."""

Array = np.ndarray[Any, np.dtype[Any]]


def table_of_places(examples: Sequence[Example]) -> Table | None:
    """A table over the words at the chosen places; None where no place helps."""
    chosen = _chosen(examples)

    def keys(words: Words, answer: str) -> Keys:
        said = [words.places.get(place) for place in chosen]
        return answer, *((words.question, *said[:n], answer) for n in range(len(said) + 1))

    made: KeysOf = keys
    name = f"words at {len(chosen)} place{'s' if len(chosen) > 1 else ''}"
    return Table(name, made, examples) if chosen else None


def _chosen(examples: Sequence[Example]) -> list[Place]:
    rows = _Rows(examples)
    group, expected = rows.start()
    chosen: list[Place] = []
    reached = rows.reward_of(expected)
    tried = {place: rows.spread([e.words.places.get(place) for e in examples]) for place in _useful(examples)}
    while tried and len(chosen) < MOST_PLACES:
        scores = {
            place: rows.reward_of(rows.means(_joint(group, said), expected)) for place, said in tried.items()
        }
        best = max(scores, key=lambda place: scores[place])
        if scores[best] < reached + GAIN:
            break
        reached = scores[best]
        chosen.append(best)
        group = _joint(group, tried.pop(best))
        expected = rows.means(group, expected)
    return chosen


def _useful(examples: Sequence[Example]) -> list[Place]:
    """The places at which different questions have different words."""
    seen: dict[Place, Counter[str]] = {}
    for example in examples:
        for place, word in example.words.places.items():
            seen.setdefault(place, Counter())[word] += 1
    # A question whose line is shorter has no word there, which is a word too.
    often = {place: max(*words.values(), len(examples) - words.total()) for place, words in seen.items()}
    differ = [place for place, most in often.items() if most <= COMMON * len(examples)]
    return sorted(differ, key=lambda place: (len(seen[place]), place))[:MOST_TRIED]


class _Rows:
    """One row for every answer to every question: the sums of a `Table`, for many tables at once."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.sizes = [len(example.rewards) for example in examples]
        self.question = np.repeat(np.arange(len(examples)), self.sizes)
        self.fold = self.question % FOLDS
        self.reward = np.array([reward for example in examples for reward in example.rewards.values()])
        self._answers = _numbered(answer for example in examples for answer in example.rewards)
        self._questions = self.spread([example.words.question for example in examples])

    def spread(self, values: Sequence[Hashable]) -> Array:
        """A number for the value of each question, in all its rows."""
        return np.repeat(_numbered(values), self.sizes)

    def start(self) -> tuple[Array, Array]:
        """The groups of answers to one question, and the mean reward of each without its fold."""
        everything = np.zeros(len(self.reward), dtype=np.int64)
        mean = self.means(self._answers, self.means(everything, np.full(len(self.reward), 0.5)))
        group = _joint(self._answers, self._questions)
        return group, self.means(group, mean)

    def means(self, group: Array, expected: Array) -> Array:
        """The mean reward of each row's group in the other folds, drawn to what is expected."""
        cell = group * FOLDS + self.fold
        size = FOLDS * (int(group.max()) + 1)
        total = np.bincount(cell, self.reward, size).reshape(-1, FOLDS)
        count = np.bincount(cell, minlength=size).reshape(-1, FOLDS)
        others = total.sum(axis=1)[group] - total[group, self.fold]
        number = count.sum(axis=1)[group] - count[group, self.fold]
        return np.asarray((others + WEIGHT * expected) / (number + WEIGHT))

    def reward_of(self, scores: Array) -> float:
        """The mean reward of the answers with the highest scores."""
        order = np.lexsort((-scores, self.question))
        firsts = order[np.cumsum([0, *self.sizes[:-1]])]
        return float(self.reward[firsts].mean())


def _numbered(values: Iterable[Hashable]) -> Array:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _joint(group: Array, other: Array) -> Array:
    """The groups that differ in either."""
    joined = group * (int(other.max()) + 1) + other
    return np.asarray(np.unique(joined, return_inverse=True)[1].reshape(-1))
