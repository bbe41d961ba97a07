"""Ways to answer without looking: they see the words of questions, and half of the answers to learn from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ludens.games.qa.questions import LETTERS, QaItem

Guesser = Callable[[QaItem], int]
"""Which option is answered."""


@dataclass(frozen=True)
class Blind:
    """How often a way of guessing is right, beside what chance gives."""

    name: str
    accuracy: float
    chance: float

    @property
    def above(self) -> float:
        return self.accuracy - self.chance


def blind(questions: Sequence[QaItem]) -> list[Blind]:
    """Every way of guessing; those that learn do so from the first half and are tried on the second."""
    chance = sum(1 / len(q.options) for q in questions) / len(questions)
    half = len(questions) // 2
    seen, fresh = questions[:half], questions[half:]
    fixed: dict[str, Guesser] = {f"always {letter}": _letter(i) for i, letter in enumerate(LETTERS)}
    if all(option.isdigit() for q in questions for option in q.options):
        for rank, name in enumerate(("least", "second", "third", "greatest")):
            fixed[f"the {name} number"] = _ranked(rank)
    learnt: dict[str, Guesser] = {
        "the value most often right when offered": _favourite(seen, lambda q: ""),
        "the same for these very words": _favourite(seen, lambda q: q.text),
        "the same for these very options": _favourite(seen, lambda q: str(sorted(q.options))),
        "the letter most often right": _letter(Counter(q.right for q in seen).most_common(1)[0][0]),
    }
    return [
        *(Blind(name, _accuracy(guess, questions), chance) for name, guess in fixed.items()),
        *(Blind(name, _accuracy(guess, fresh), chance) for name, guess in learnt.items()),
    ]


def _accuracy(guess: Guesser, questions: Sequence[QaItem]) -> float:
    return sum(guess(q) == q.right for q in questions) / len(questions)


def _letter(index: int) -> Guesser:
    return lambda q: min(index, len(q.options) - 1)


def _ranked(rank: int) -> Guesser:
    def guess(q: QaItem) -> int:
        return sorted(range(len(q.options)), key=lambda i: int(q.options[i]))[min(rank, len(q.options) - 1)]

    return guess


def _favourite(seen: Sequence[QaItem], key: Callable[[QaItem], str]) -> Guesser:
    """The option that was right most often when it was offered, as far as that is known."""
    offered: defaultdict[tuple[str, str], int] = defaultdict(int)
    right: defaultdict[tuple[str, str], int] = defaultdict(int)
    for q in seen:
        for i, option in enumerate(q.options):
            offered[key(q), option] += 1
            right[key(q), option] += i == q.right

    def share(q: QaItem, i: int) -> float:
        known = key(q), q.options[i]
        # Two imagined tries, so that what was offered once and right is not thought certain.
        return (right[known] + 2 / len(q.options)) / (offered[known] + 2)

    return lambda q: max(range(len(q.options)), key=lambda i: share(q, i))
