"""Tables over words: which answer was right most often, given what was said.

A table gives every answer some keys; the score of a key is the mean reward of the answers that had it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from ludens.run.baselines.words import Words

FOLDS = 4
WEIGHT = 2.0
"""How many observations the mean counts for that a key's own mean is drawn to."""
COMMON, RARE = 0.9, 3
"""Pieces of text in nearly every question tell nothing, those in fewer questions than this are luck."""
MOST_PIECES = 1500
_ALL = ("all answers",)

Keys = tuple[Hashable, ...]
KeysOf = Callable[[Words, str], Keys]
"""The keys of an answer to a question, from the most general to the most special."""


@dataclass(frozen=True)
class Example:
    """A question and the reward of every answer."""

    words: Words
    rewards: Mapping[str, float]
    """From 0 to 1."""


def simple_tables(examples: Sequence[Example]) -> dict[str, KeysOf]:
    """Tables with few keys by name, the simplest first."""
    found: dict[str, KeysOf] = {"one answer": lambda words, answer: (answer,)}
    if all(example.words.listed for example in examples):
        found |= {
            "one position": lambda words, answer: (_place(words, answer),),
            "one position from the end": lambda words, answer: (_place(words, answer) - len(words.answers),),
            "position by number of options": lambda words, answer: (
                (len(words.answers), _place(words, answer)),
            ),
            "text of the option": lambda words, answer: (words.texts[answer],),
            "text of the option by question": lambda words, answer: (
                words.texts[answer],
                (words.question, words.texts[answer]),
            ),
            "rank of the number by question": lambda words, answer: (
                (words.question, len(words.answers), words.ranks.get(answer)),
            ),
        }
    found["question"] = lambda words, answer: (answer, (words.question, answer))
    found["all words"] = lambda words, answer: (answer, (words.text, answer))
    return found


def _place(words: Words, answer: str) -> int:
    return words.answers.index(answer)


class Table:
    """Sums of rewards by key and fold.

    The mean of a key is drawn to that of the key before it. With `independent` keys (naive Bayes), each is
    drawn to the first, and all of them shift the score.
    """

    def __init__(
        self, name: str, keys: KeysOf, examples: Sequence[Example], independent: bool = False
    ) -> None:
        self.name, self._keys, self._independent = name, keys, independent
        # Rewards of each fold, then counts of each fold.
        self._sums: dict[Hashable, list[float]] = {_ALL: [0.0] * (2 * FOLDS)}
        for index, example in enumerate(examples):
            fold = index % FOLDS
            for answer, reward in example.rewards.items():
                for key in (_ALL, *keys(example.words, answer)):
                    sums = self._sums.setdefault(key, [0.0] * (2 * FOLDS))
                    sums[fold] += reward
                    sums[FOLDS + fold] += 1

    def answer(self, words: Words, without: int | None = None) -> str:
        """The answer with the highest score, from all examples or those outside one fold."""
        return max(words.answers, key=lambda answer: self._score(self._keys(words, answer), without))

    def validated(self, examples: Sequence[Example]) -> float:
        """The mean reward of answers by tables that did not see the question."""
        rewards = [
            example.rewards[self.answer(example.words, index % FOLDS)]
            for index, example in enumerate(examples)
        ]
        return sum(rewards) / len(rewards)

    def _score(self, keys: Keys, without: int | None) -> float:
        total, count = self._counted(_ALL, without)
        mean = total / count if count else 0.5
        if not self._independent:
            for key in keys:
                mean = self._mean(key, mean, without)
            return mean
        first = self._mean(keys[0], mean, without)
        rest = (_logit(self._mean(key, first, without)) for key in keys[1:])
        return _logit(first) + sum(other - _logit(first) for other in rest)

    def _mean(self, key: Hashable, expected: float, without: int | None) -> float:
        total, count = self._counted(key, without)
        return (total + WEIGHT * expected) / (count + WEIGHT)

    def _counted(self, key: Hashable, without: int | None) -> tuple[float, float]:
        sums = self._sums.get(key)
        if sums is None:
            return 0.0, 0.0
        total, count = sum(sums[:FOLDS]), sum(sums[FOLDS:])
        if without is not None:
            total, count = total - sums[without], count - sums[FOLDS + without]
        return total, count


def _logit(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return log(share / (1 - share))


def table_of_pieces(examples: Sequence[Example]) -> Table | None:
    """Naive Bayes over lines, words and pairs of words that differ between questions."""
    counts = Counter(piece for example in examples for piece in example.words.pieces)
    often = [(n, piece) for piece, n in counts.items() if RARE <= n <= COMMON * len(examples)]
    kept = frozenset(piece for _, piece in sorted(often, reverse=True)[:MOST_PIECES])

    def keys(words: Words, answer: str) -> Keys:
        return answer, *((piece, answer) for piece in sorted(words.pieces & kept))

    return Table("naive Bayes over words", keys, examples, independent=True) if kept else None
