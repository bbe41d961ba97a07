"""Questions: tables, linear models and boosted trees over the words, fitted on other seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ludens.core.game import Game
from ludens.run.baselines.questions import (
    OTHER_SEEDS,
    Fitted,
    answered,
    best_table,
    candidates,
    rewards_of,
    words_of,
)
from ludens.run.baselines.words import Answerer, Example
from ludens.run.search.models import MODELS, fit, validated
from ludens.run.search.players import Definition
from ludens.run.task import Metric, Task

TABLE = "table"


@dataclass(frozen=True)
class Questions:
    """Questions of other seeds with the reward of every answer."""

    metric: Metric
    vocabulary: tuple[str, ...]
    examples: Sequence[Example]
    count: int
    """How many were made; the metric may count fewer."""


def questions(game: Game, task: Task, count: int) -> Questions | None:
    """As many questions, by the first metric that tells answers apart; None if none does."""
    [seat] = game.seats
    states = [game.start(OTHER_SEEDS + number) for number in range(count)]
    listed = task.config.listed and not states[0].legal(seat).is_text
    vocabulary = () if listed else candidates(game, states, seat)
    asked = [words_of(game, state, seat, task.config, vocabulary) for state in states]
    results = [
        {answer: answered(game, state, seat, answer) for answer in words.answers}
        for state, words in zip(states, asked, strict=True)
    ]
    for metric in task.metrics:
        rewards = rewards_of(metric, results) if metric.paired else None
        if rewards is not None:
            examples = [Example(w, r) for w, r in zip(asked, rewards, strict=True) if r]
            return Questions(metric, vocabulary, examples, count)
    return None


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
    known = questions(game, task, count)
    if known is None or len(known.examples) < 8:
        return
    for name in (TABLE, *MODELS):
        if name == TABLE:
            table = best_table(known.examples)
            yield f"table: {table.name}", _player(known, table, name, task), table.validated(known.examples)
        else:
            model = fit(name, known.examples)
            yield name, _player(known, model, name, task), validated(name, known.examples)


def _player(known: Questions, model: Answerer, name: str, task: Task) -> ByModel:
    return ByModel(model, known.vocabulary, task.config, name, known.count)


def rebuilt_model(game: Game, task: Task, definition: Definition) -> ByModel:
    """The player of a definition: its model is fitted again, to the same questions."""
    known = questions(game, task, int(definition["questions"]))
    assert known is not None
    name = str(definition["model"])
    model: Answerer = best_table(known.examples) if name == TABLE else fit(name, known.examples)
    return _player(known, model, name, task)
