"""Models over the words of a question, linear ones and boosted trees in numpy, and the players that use them.

Each scores the answers that are offered, from the words alone: what the prompt says, and for every answer its
position, rank, length and what is said about it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy as np

from ludens.core.game import Game
from ludens.run.baselines.questions import (
    OTHER_SEEDS,
    Fitted,
    Questions,
    best_table,
    questions,
    rewards_of,
)
from ludens.run.baselines.words import COMMON, FOLDS, RARE, Answerer, Example, Words
from ludens.run.search.players import Definition
from ludens.run.task import Task

Array = np.ndarray[Any, np.dtype[Any]]
TABLE = "table"
MODELS = ("logistic regression", "ridge regression", "boosted trees")
MOST_VALUES = 1_000_000
"""Features of all answers to all questions together; above, fewer pieces of text are used."""
ROUNDS, DEPTH, BINS, RATE = 60, 3, 16, 0.15
"""Trees, their depth, the thresholds tried for a number, and the part of each tree that is added."""
LEAST_ROWS = 8
"""Answers in a leaf."""

_WORD = re.compile(r"[\w+#-]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Traits:
    """What the words say about one answer, as numbers."""

    place: int
    """In the list of answers, from 0."""
    from_end: int
    count: int
    length: int
    rank_of_length: int
    number: float
    rank_of_number: int
    mentions: int
    """How often the words repeat the answer's text."""
    last_mention: int
    """Lines between the last one that repeats it and the end."""
    shared: float
    """The largest part of the words in a line that mentions it which another line has too."""
    words_of_mentions: int
    """Words in the lines that mention it."""

    def values(self) -> tuple[float, ...]:
        return tuple(vars(self).values())


def traits(words: Words) -> dict[str, Traits]:
    """The traits of every answer."""
    answers = list(words.answers)
    texts = {answer: words.texts.get(answer, answer) for answer in answers}
    by_length = _ranks(answers, lambda answer: len(texts[answer]))
    numbers = {
        answer: float(hit.group()) if (hit := _NUMBER.search(text)) else 0.0 for answer, text in texts.items()
    }
    by_number = _ranks(answers, lambda answer: numbers[answer])
    lines = [line.lower() for line in words.lines]
    split = [frozenset(_WORD.findall(line)) for line in lines]
    traits_of = {}
    for place, answer in enumerate(answers):
        name = texts[answer].lower()
        mentions = [number for number, line in enumerate(lines) if name and name in line]
        traits_of[answer] = Traits(
            place,
            len(answers) - place,
            len(answers),
            len(texts[answer]),
            by_length[answer],
            numbers[answer],
            by_number[answer],
            len(mentions),
            len(lines) - mentions[-1] if mentions else 0,
            max((_shared(number, split) for number in mentions[-4:]), default=0.0),
            sum(len(split[number]) for number in mentions),
        )
    return traits_of


def _ranks(answers: Sequence[str], size: Callable[[str], float]) -> dict[str, int]:
    return {answer: place for place, answer in enumerate(sorted(answers, key=size))}


def _shared(line: int, split: Sequence[frozenset[str]]) -> float:
    """The largest part of the words of a line that another line near it has too."""
    own = split[line]
    near = range(max(0, line - 12), min(len(split), line + 13))
    shares = (len(own & split[number]) / max(len(own), 1) for number in near if number != line)
    return max(shares, default=0.0)


def frequent_pieces(examples: Sequence[Example], most: int) -> list[str]:
    """Lines, words and pairs of words that are neither in nearly every question nor in very few."""
    counts = Counter(piece for example in examples for piece in example.words.pieces)
    useful = [(n, piece) for piece, n in counts.items() if RARE <= n <= COMMON * len(examples)]
    return [piece for _, piece in sorted(useful, key=lambda item: (-item[0], item[1]))[:most]]


def _numbers_of(words: Words, most: int = 12) -> list[float]:
    """The last numbers of the prompt, the last first."""
    hits = _NUMBER.findall(words.text)[-most:]
    return [float(hit) for hit in reversed(hits)] + [0.0] * (most - len(hits))


Feature = tuple[Hashable, ...]


@dataclass
class Linear:
    """Weights of features of words and answers: of their probability (logistic) or reward (ridge)."""

    name: str
    pieces: frozenset[str] = frozenset()
    weights: dict[Feature, float] = field(default_factory=dict)

    def fit(self, examples: Sequence[Example]) -> Linear:
        from scipy.sparse import csr_matrix

        answers = sum(len(example.rewards) for example in examples)
        self.pieces = frozenset(frequent_pieces(examples, min(400, MOST_VALUES // max(answers, 1))))
        numbers: dict[Feature, int] = {}
        columns, sizes, rewards = list[int](), [0], list[float]()
        for example in examples:
            for answer, features in self._features(example.words):
                columns += [numbers.setdefault(feature, len(numbers)) for feature in features]
                sizes.append(len(columns))
                rewards.append(example.rewards[answer])
        design = csr_matrix((np.ones(len(columns)), columns, sizes), shape=(len(rewards), len(numbers)))
        starts = np.cumsum([0, *(len(example.rewards) for example in examples)])
        weights_of = _ridge if self.name == "ridge regression" else _logistic
        self.weights = dict(zip(numbers, weights_of(design, np.array(rewards), starts).tolist(), strict=True))
        return self

    def answer(self, words: Words) -> str:
        weights = self.weights
        scores = {
            answer: sum(weights.get(feature, 0.0) for feature in features)
            for answer, features in self._features(words)
        }
        return max(scores, key=lambda answer: scores[answer])

    def _features(self, words: Words) -> Iterator[tuple[str, list[Feature]]]:
        pieces, question = sorted(words.pieces & self.pieces), words.question
        for answer, trait in traits(words).items():
            text = words.texts.get(answer, answer)
            own: list[Feature] = [("answer", answer), ("text", text), ("question", question, text)]
            if words.listed:
                own += [("place", trait.place), ("end", trait.from_end), ("of", trait.count, trait.place)]
            own += [
                ("length", trait.count, trait.rank_of_length),
                ("number", question, trait.count, trait.rank_of_number),
                ("mentions", min(trait.mentions, 6)),
                ("last", min(trait.last_mention, 12)),
                ("shared", round(trait.shared * 8)),
            ]
            own += [(piece, text) for piece in pieces]
            if text != answer:
                own += [(piece, "answer", answer) for piece in pieces]
            yield answer, own


def _ridge(design: Any, rewards: Array, starts: Array) -> Array:
    from scipy.sparse.linalg import lsqr

    return np.asarray(lsqr(design, rewards - rewards.mean(), damp=3.0, iter_lim=80)[0])


def _logistic(design: Any, rewards: Array, starts: Array) -> Array:
    """Multinomial: the probabilities of the answers to one question sum to 1."""
    from scipy.optimize import minimize

    sizes, firsts = np.diff(starts), starts[:-1]
    totals = np.repeat(np.add.reduceat(rewards, firsts), sizes)
    targets = np.divide(rewards, totals, out=np.zeros_like(rewards), where=totals > 0)
    has_reward = np.repeat(np.add.reduceat(rewards, firsts) > 0, sizes)

    def loss(weights: Array) -> tuple[float, Array]:
        scores = design @ weights
        scores -= np.repeat(np.maximum.reduceat(scores, firsts), sizes)
        powers = np.exp(scores)
        sums = np.repeat(np.add.reduceat(powers, firsts), sizes)
        value = -(targets * (scores - np.log(sums))).sum() + 0.25 * (weights @ weights)
        return value, design.T @ (has_reward * (powers / sums) - targets) + 0.5 * weights

    optimum = minimize(loss, np.zeros(design.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    return np.asarray(optimum.x)


@dataclass
class Boosted:
    """Small regression trees over numbers and words, each fitted to what the earlier ones leave."""

    name: str = "boosted trees"
    pieces: Sequence[str] = ()
    texts: Sequence[str] = ()
    trees: list[_Tree] = field(default_factory=list)

    def fit(self, examples: Sequence[Example]) -> Boosted:
        counts = Counter(
            example.words.texts.get(answer, answer) for example in examples for answer in example.rewards
        )
        self.texts = [text for text, _ in counts.most_common(24)]
        self.pieces = frequent_pieces(examples, 64)
        rows = np.concatenate([self._rows(example.words) for example in examples])
        rewards = np.array([reward for example in examples for reward in example.rewards.values()])
        edges = [np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)[1:-1])) for column in rows.T]
        binned = np.stack(
            [np.searchsorted(edge, column, "left") for edge, column in zip(edges, rows.T, strict=True)]
        )
        residual, self.trees = rewards - rewards.mean(), []
        for _ in range(ROUNDS):
            tree, leaves = _grown(binned, edges, residual)
            if tree is None:
                break
            self.trees.append(tree)
            residual = residual - RATE * tree.values[leaves]
        return self

    def answer(self, words: Words) -> str:
        if not self.trees:
            return words.answers[0]
        rows = self._rows(words)
        return words.answers[int(_predicted(self.trees, rows).argmax())]

    def _rows(self, words: Words) -> Array:
        general = [*_numbers_of(words), *(float(piece in words.pieces) for piece in self.pieces)]
        rows = []
        for answer, trait in traits(words).items():
            text = words.texts.get(answer, answer)
            is_text = [float(text == other_text) for other_text in self.texts]
            rows.append([*trait.values(), *is_text, *general])
        return np.array(rows)


@dataclass(frozen=True)
class _Tree:
    """A complete tree: node k has the children 2k + 1 and 2k + 2; a feature of -1 sends all to the left."""

    features: tuple[int, ...]
    thresholds: tuple[float, ...]
    values: Array
    """Of the leaves."""


def _predicted(trees: Sequence[_Tree], rows: Array) -> Array:
    """The sum of the trees for each row."""
    features = np.array([tree.features for tree in trees])
    thresholds = np.array([tree.thresholds for tree in trees])
    values = np.array([tree.values for tree in trees])
    tree, row = np.arange(len(trees))[:, None], np.arange(len(rows))
    node = np.zeros((len(trees), len(rows)), dtype=np.int64)
    for _ in range(DEPTH):
        feature = features[tree, node]
        node = 2 * node + 1 + ((feature >= 0) & (rows[row, feature] > thresholds[tree, node]))
    return np.asarray(values[tree, node - (2**DEPTH - 1)].sum(axis=0))


def _grown(binned: Array, edges: Sequence[Array], residual: Array) -> tuple[_Tree | None, Array]:
    """The tree whose splits reduce the squared residual most, level by level, and the leaf of each row; no
    tree if no split does."""
    inner = 2**DEPTH - 1
    features, bins, thresholds = [-1] * inner, [0] * inner, [0.0] * inner
    node = np.zeros(len(residual), dtype=np.int64)
    for level in range(DEPTH):
        first, width = 2**level - 1, 2**level
        cell = ((np.arange(len(edges))[:, None] * width + (node - first)) * BINS + binned).ravel()
        shape = (len(edges), width, BINS)
        sums = np.bincount(cell, np.tile(residual, len(edges)), np.prod(shape))
        left_sum = sums.reshape(shape).cumsum(axis=2)
        number = np.bincount(cell, minlength=np.prod(shape)).reshape(shape).cumsum(axis=2)
        total, whole = left_sum[..., -1:], number[..., -1:]
        right_number = whole - number
        gain = left_sum**2 / np.maximum(number, 1) + (total - left_sum) ** 2 / np.maximum(right_number, 1)
        gain -= total**2 / np.maximum(whole, 1)
        gain[(number < LEAST_ROWS) | (right_number < LEAST_ROWS)] = 0
        cuts, gains = gain.argmax(axis=2).T, gain.max(axis=2).T
        for place in range(width):
            feature = int(gains[place].argmax())
            if gains[place, feature] > 1e-9:
                cut = int(cuts[place, feature])
                features[first + place], bins[first + place] = feature, cut
                thresholds[first + place] = float(edges[feature][min(cut, len(edges[feature]) - 1)])
        feature_of, bin_of = np.array(features)[node], np.array(bins)[node]
        node = 2 * node + 1 + ((feature_of >= 0) & (binned[feature_of, np.arange(len(node))] > bin_of))
    leaf = node - inner
    if features[0] < 0:
        return None, leaf
    sums, counts = np.bincount(leaf, residual, 2**DEPTH), np.bincount(leaf, minlength=2**DEPTH)
    return _Tree(tuple(features), tuple(thresholds), sums / (counts + 2.0)), leaf


def fit(name: str, examples: Sequence[Example]) -> Answerer:
    """A model of this name, fitted to the examples."""
    if name not in MODELS:
        raise ValueError(f"unknown model {name!r}")
    return Boosted().fit(examples) if name == "boosted trees" else Linear(name).fit(examples)


def validated(name: str, examples: Sequence[Example], folds: int = FOLDS) -> float:
    """The mean reward of answers to questions that a model did not see: those of some of the folds."""
    if len(examples) < 2 * FOLDS:
        return 0.0
    rewards = list[float]()
    for fold in range(folds):
        model = fit(name, [example for number, example in enumerate(examples) if number % FOLDS != fold])
        rewards += _rewards(model, examples[fold::FOLDS])
    return fmean(rewards)


def _rewards(model: Answerer, examples: Iterable[Example]) -> Iterator[float]:
    return (example.rewards[model.answer(example.words)] for example in examples)


def rewarded(training: Questions, task: Task) -> list[Example]:
    """The questions with the reward of every answer by the first metric that tells answers apart, if one
    does."""
    for metric in task.metrics:
        rewards = rewards_of(metric, training.results) if metric.paired else None
        if rewards is not None:
            return training.examples(rewards)
    return []


@dataclass
class ByModel(Fitted):
    """Answers by a model over the words."""

    model_name: str = ""
    count: int = 0
    memory = False
    kind = "model over words"

    @property
    def definition(self) -> Definition:
        return {
            "kind": self.kind,
            "model": self.model_name,
            "questions": self.count,
            "first_seed": OTHER_SEEDS,
        }


def question_players(game: Game, task: Task, count: int) -> Iterator[tuple[str, ByModel, float]]:
    """Name, player and mean reward on questions it was not fitted to, of each kind of model."""
    training = questions(game, task, count)
    examples = rewarded(training, task)
    if len(examples) < 8:
        return
    for name in (TABLE, *MODELS):
        if name == TABLE:
            table = best_table(examples)
            yield f"table: {table.name}", _player(training, table, name, task), table.validated(examples)
        else:
            model = fit(name, examples)
            yield name, _player(training, model, name, task), validated(name, examples)


def _player(training: Questions, model: Answerer, name: str, task: Task) -> ByModel:
    return ByModel(model, training.vocabulary, task.config, name, len(training.words))


def rebuilt_model(game: Game, task: Task, definition: Definition) -> ByModel:
    """The player of a definition: its model is fitted again, to the same questions."""
    training = questions(game, task, int(definition["questions"]))
    examples, name = rewarded(training, task), str(definition["model"])
    model: Answerer = best_table(examples) if name == TABLE else fit(name, examples)
    return _player(training, model, name, task)
