"""Players that know only words: what a prompt says, the places that say most about the answer, tables over
them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import log
from typing import Any, Protocol

import numpy as np

from ludens.agents.vlm import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.state import State
from ludens.core.view import Observation, View
from ludens.models.settings import PromptOptions

Place = tuple[int, int]
LINES, WORDS = 24, 24
"""How many of the last lines, and how many words of each, have a place of their own."""

_WORD = re.compile(r"[\w+#-]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def blind_words(view: View, state: State, seat: str, config: PlayConfig) -> str:
    """What a model with `blind=true` is told besides the rules, which never change. Draws no picture."""
    # The text twin is withheld next to pictures; a seat that is offered text alone keeps it.
    text = view.text(state, seat) if view.offers(seat) == "text" else ""
    observation = Observation(text=text, notes=view.notes(state, seat))
    ask = replace(build_ask(view, state, seat, "nothing", config), observation=observation)
    messages = prompt(ask, PromptOptions(blind=True))[1:]
    return "\n".join(part for message in messages for part in message.parts if isinstance(part, str))


@dataclass(frozen=True)
class Words:
    """The words of one question with the answers that are offered."""

    text: str
    answers: Sequence[str]
    listed: bool
    """Whether the answers are listed in the question, so that their order is known."""

    @cached_property
    def lines(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.text.splitlines() if line.strip())

    @cached_property
    def question(self) -> str:
        """The last line that asks something."""
        return next((line for line in reversed(self.lines) if "?" in line), "")

    @cached_property
    def places(self) -> dict[Place, str]:
        """The words of the last lines, by line from the end and place in the line."""
        return {
            (line, place): word
            for line, text in enumerate(reversed(self.lines[-LINES:]))
            for place, word in enumerate(_WORD.findall(text)[:WORDS])
        }

    @cached_property
    def pieces(self) -> frozenset[str]:
        pieces = set(self.lines)
        for line in self.lines:
            words = _WORD.findall(line.lower())
            pieces.update(words, map(" ".join, pairwise(words)))
        return frozenset(pieces)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What the question says about each answer: the rest of the last line that begins with it."""
        texts = {}
        for answer in self.answers if self.listed else ():
            begins = (line for line in reversed(self.lines) if line.startswith(answer) and line != answer)
            rest = next((line[len(answer) :] for line in begins if not line[len(answer)].isalnum()), answer)
            texts[answer] = rest.strip(" .:)")
        return texts

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The order of the answers by the number that each names; empty unless all name one."""
        numbers = {answer: _NUMBER.fullmatch(text) for answer, text in self.texts.items()}
        if not numbers or not all(numbers.values()):
            return {}
        by_size = sorted(numbers, key=lambda answer: float(self.texts[answer]))
        return {answer: place for place, answer in enumerate(by_size)}

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The order of the answers by the length of their texts."""
        by_length = sorted(self.answers, key=lambda answer: len(self.texts[answer]))
        return {answer: place for place, answer in enumerate(by_length)}


FOLDS = 4
WEIGHT = 2.0
"""The mean of a key is shrunk to an expected one, which counts as so many observations."""
COMMON, RARE = 0.9, 3
"""Pieces of text are used that occur in at most this share, and at least this number, of questions."""
MOST_PIECES = 1500
_ALL = ("all answers",)
_NO_SUMS = [0.0] * (2 * FOLDS)

Keys = tuple[Hashable, ...]
KeysOf = Callable[[Words, str], Keys]
"""The keys of an answer to a question, from the most general to the most special."""


@dataclass(frozen=True)
class Example:
    """A question and the reward of every answer."""

    words: Words
    rewards: Mapping[str, float]
    """From 0 to 1."""


class Answerer(Protocol):
    """Chooses an answer by the words of a question."""

    name: str

    def answer(self, words: Words) -> str:
        """One of the answers that are offered."""


def simple_tables(examples: Sequence[Example]) -> dict[str, KeysOf]:
    """Tables with few keys by name, the simplest first."""
    tables: dict[str, KeysOf] = {"one answer": lambda w, answer: (answer,)}
    if all(example.words.listed for example in examples):
        tables |= {
            "one position": lambda w, answer: (w.answers.index(answer),),
            "one position from the end": lambda w, answer: (w.answers.index(answer) - len(w.answers),),
            "position by number of options": lambda w, answer: ((len(w.answers), w.answers.index(answer)),),
            "text of the option": lambda w, answer: (w.texts[answer],),
            "text of the option by question": lambda w, answer: (
                w.texts[answer],
                (w.question, w.texts[answer]),
            ),
            "rank of the length": lambda w, answer: ((len(w.answers), w.lengths[answer]),),
            "rank of the number by question": lambda w, answer: (
                (w.question, len(w.answers), w.ranks.get(answer)),
            ),
        }
    tables["question"] = lambda w, answer: (answer, (w.question, answer))
    tables["all words"] = lambda w, answer: (answer, (w.text, answer))
    return tables


class RewardTable:
    """Sums of rewards by key and fold.

    The mean of a key is drawn to that of the key before it. With `independent` keys (naive Bayes), each is
    drawn to the first, and all of them shift the score.
    """

    def __init__(
        self, name: str, keys: KeysOf, examples: Sequence[Example], independent: bool = False
    ) -> None:
        self.name, self._keys, self._independent = name, keys, independent
        # Rewards of each fold, then counts of each fold.
        self._sums: dict[Hashable, list[float]] = {_ALL: [*_NO_SUMS]}
        for index, example in enumerate(examples):
            fold = index % FOLDS
            for answer, reward in example.rewards.items():
                for key in (_ALL, *keys(example.words, answer)):
                    sums = self._sums.setdefault(key, [*_NO_SUMS])
                    sums[fold] += reward
                    sums[FOLDS + fold] += 1

    def answer(self, words: Words, without: int | None = None) -> str:
        """The answer with the highest score, from all examples or those outside one fold."""
        return max(words.answers, key=lambda answer: self._score(self._keys(words, answer), without))

    def validated(self, examples: Sequence[Example]) -> float:
        """The mean reward of answers by tables that did not see the question."""
        rewards = (e.rewards[self.answer(e.words, index % FOLDS)] for index, e in enumerate(examples))
        return sum(rewards) / len(examples)

    def _score(self, keys: Keys, without: int | None) -> float:
        total, count = self._totals(_ALL, without)
        mean = total / count if count else 0.5
        if not self._independent:
            for key in keys:
                mean = self._mean(key, mean, without)
            return mean
        first = self._mean(keys[0], mean, without)
        rest = (_logit(self._mean(key, first, without)) for key in keys[1:])
        return _logit(first) + sum(logit - _logit(first) for logit in rest)

    def _mean(self, key: Hashable, expected: float, without: int | None) -> float:
        total, count = self._totals(key, without)
        return (total + WEIGHT * expected) / (count + WEIGHT)

    def _totals(self, key: Hashable, without: int | None) -> tuple[float, float]:
        sums = self._sums.get(key, _NO_SUMS)
        total, count = sum(sums[:FOLDS]), sum(sums[FOLDS:])
        if without is not None:
            total, count = total - sums[without], count - sums[FOLDS + without]
        return total, count


def _logit(share: float) -> float:
    share = min(max(share, 1e-6), 1 - 1e-6)
    return log(share / (1 - share))


def table_of_pieces(examples: Sequence[Example]) -> RewardTable | None:
    """Naive Bayes over lines, words and pairs of words that differ between questions."""
    counts = Counter(piece for example in examples for piece in example.words.pieces)
    often = [(n, piece) for piece, n in counts.items() if RARE <= n <= COMMON * len(examples)]
    frequent = frozenset(piece for _, piece in sorted(often, reverse=True)[:MOST_PIECES])

    def keys(words: Words, answer: str) -> Keys:
        return answer, *((piece, answer) for piece in sorted(words.pieces & frequent))

    return RewardTable("naive Bayes over words", keys, examples, independent=True) if frequent else None


MOST_PLACES, GAIN = 5, 0.01
"""Places whose words a table uses, and what each must add to the mean reward."""
MOST_TRIED = 120
"""Those with the fewest different words."""

Array = np.ndarray[Any, np.dtype[Any]]


def table_of_places(examples: Sequence[Example]) -> RewardTable | None:
    """A table over the words at the chosen places; None where no place helps."""
    places = choose_places(examples)

    def keys(words: Words, answer: str) -> Keys:
        at_places = [words.places.get(place) for place in places]
        return answer, *((words.question, *at_places[:n], answer) for n in range(len(places) + 1))

    name = f"words at {len(places)} place{'s' if len(places) > 1 else ''}"
    return RewardTable(name, keys, examples) if places else None


def choose_places(examples: Sequence[Example]) -> list[Place]:
    rows = _Rows(examples)
    group, expected = rows.start()
    places: list[Place] = []
    reached = rows.reward_of(expected)
    tried = {place: rows.spread([e.words.places.get(place) for e in examples]) for place in _useful(examples)}
    while tried and len(places) < MOST_PLACES:
        scores = {
            place: rows.reward_of(rows.means(_joint(group, words), expected))
            for place, words in tried.items()
        }
        best = max(scores, key=lambda place: scores[place])
        if scores[best] < reached + GAIN:
            break
        reached = scores[best]
        places.append(best)
        group = _joint(group, tried.pop(best))
        expected = rows.means(group, expected)
    return places


def _useful(examples: Sequence[Example]) -> list[Place]:
    """The places at which different questions have different words."""
    words_at: dict[Place, Counter[str]] = {}
    for example in examples:
        for place, word in example.words.places.items():
            words_at.setdefault(place, Counter())[word] += 1
    # A question whose line is shorter has no word there, which is a word too.
    often = {place: max(*words.values(), len(examples) - words.total()) for place, words in words_at.items()}
    differ = [place for place, most in often.items() if most <= COMMON * len(examples)]
    return sorted(differ, key=lambda place: (len(words_at[place]), place))[:MOST_TRIED]


class _Rows:
    """One row for every answer to every question: the sums of a `RewardTable`, for many tables at once."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.sizes = [len(example.rewards) for example in examples]
        self.question = np.repeat(np.arange(len(examples)), self.sizes)
        self.fold = self.question % FOLDS
        self.reward = np.array([reward for example in examples for reward in example.rewards.values()])
        self._answers = _numbered(answer for example in examples for answer in example.rewards)
        self._questions = self.spread([example.words.question for example in examples])

    def spread(self, values: Sequence[Hashable]) -> Array:
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
        elsewhere = total.sum(axis=1)[group] - total[group, self.fold]
        number = count.sum(axis=1)[group] - count[group, self.fold]
        return np.asarray((elsewhere + WEIGHT * expected) / (number + WEIGHT))

    def reward_of(self, scores: Array) -> float:
        order = np.lexsort((-scores, self.question))
        firsts = order[np.cumsum([0, *self.sizes[:-1]])]
        return float(self.reward[firsts].mean())


def _numbered(values: Iterable[Hashable]) -> Array:
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _joint(group: Array, other: Array) -> Array:
    joined = group * (int(other.max()) + 1) + other
    return np.asarray(np.unique(joined, return_inverse=True)[1].reshape(-1))
