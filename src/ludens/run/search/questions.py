"""Questions: tables, linear models and boosted trees over the words, fitted on other seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ludens.core.game import Game
from ludens.run.baselines.questions import (
    OTHER_SEEDS,
    Fitted,
    Questions,
    best_table,
    questions,
    rewards_of,
)
from ludens.run.baselines.words import Answerer, Example
from ludens.run.search.models import MODELS, fit, validated
from ludens.run.search.players import Definition
from ludens.run.task import Task

TABLE = "table"


def rewarded(asked: Questions, task: Task) -> list[Example]:
    """The questions with the reward of every answer by the first metric that tells answers apart, if one
    does."""
    for metric in task.metrics:
        rewards = rewards_of(metric, asked.results) if metric.paired else None
        if rewards is not None:
            return asked.examples(rewards)
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
    asked = questions(game, task, count)
    examples = rewarded(asked, task)
    if len(examples) < 8:
        return
    for name in (TABLE, *MODELS):
        if name == TABLE:
            table = best_table(examples)
            yield f"table: {table.name}", _player(asked, table, name, task), table.validated(examples)
        else:
            model = fit(name, examples)
            yield name, _player(asked, model, name, task), validated(name, examples)


def _player(asked: Questions, model: Answerer, name: str, task: Task) -> ByModel:
    return ByModel(model, asked.vocabulary, task.config, name, len(asked.words))


def rebuilt_model(game: Game, task: Task, definition: Definition) -> ByModel:
    """The player of a definition: its model is fitted again, to the same questions."""
    asked = questions(game, task, int(definition["questions"]))
    examples, name = rewarded(asked, task), str(definition["model"])
    model: Answerer = best_table(examples) if name == TABLE else fit(name, examples)
    return _player(asked, model, name, task)
