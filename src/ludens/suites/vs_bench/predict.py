"""Predict, a one-move question: seen from one seat of another game, what will the other seat do next?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from ludens.core.errors import BadOption
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import ActionFormat
from ludens.core.state import Question
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View, view_of
from ludens.suites.vs_bench.recipes import RECIPES, RULES, recipe_of
from ludens.suites.vs_bench.samples import PredictionSample, game_of, options_of, sample, slots

SEAT = "observer"
_ATTEMPTS = 200
_FAR = 2**31


@dataclass(frozen=True)
class Predict(TwinGame["Prediction"]):
    """Predict the other player's next action.

    Seats: `observer`, alone, for one move.
    Observation: a state of a match between scripted players of the game named by the option `game`, as
    another seat sees it.
    Actions: one of the actions the other might take.
    Rewards: 1 for what it did, or what has the same outcome on a grid; 0 otherwise.
    The rule `single` asks only where the other's strategy has one best action, and for all kinds of action
    equally often; the rule `paper` asks for any action.
    """

    name = "vs-bench/predict"
    seats = (SEAT,)
    version = 3
    view_class = "ludens.suites.vs_bench.predict:PredictView"
    imperfect_information = True
    best = "bot/oracle"
    presets = {
        "easy": Preset(),
        "medium": Preset({"game": "hanabi"}),
        "hard": Preset({"game": "breakthrough", "rule": "paper"}),
        "paper": Preset({"rule": "paper"}),
    }
    question = True

    game: str = option("coin_dilemma", choices=tuple(RECIPES), help="the game that is watched")
    rule: str = option(
        "single",
        choices=RULES,
        help="ask only for actions that can be predicted, or for any action with the paper's frequencies",
    )

    @property
    def actions_told(self) -> bool:
        return recipe_of(self.game, self.rule).listed

    def actions(self, seat: str) -> tuple[str, ...]:
        """Those of all seats that may be watched."""
        watched = game_of(self.game)
        return tuple(dict.fromkeys(a for other in watched.seats for a in watched.actions(other) or ()))

    def world(self, seed: int) -> Prediction:
        return Prediction(sample(self.game, seed, self.rule))

    def pair(self, seed: int) -> tuple[Prediction, Prediction]:
        """Two decisions of the same seat about which the observer reads the same words."""
        first, view = self.world(seed), view_of(self, RenderOptions(), 0)
        assert isinstance(view, PredictView)
        for attempt in range(_ATTEMPTS):
            # Numbers of the same remainder ask for the same seat in the same match.
            number = seed + len(slots(self.game, self.rule)) * stream(seed, "twin", attempt).between(1, _FAR)
            other = self.world(number)
            differ = other.sample.truth.isdisjoint(first.sample.truth)
            pictures = [[p.hash for p in view.images(each, SEAT)] for each in (first, other)]
            if differ and view.words(other) == view.words(first) and pictures[0] != pictures[1]:
                return first, other
        raise BadOption(f"no twin of question {seed} about {self.game} was found: its words tell the answer.")


class Prediction(Question):
    """A sample, and what was predicted."""

    def __init__(self, question: PredictionSample, answer: str | None = None) -> None:
        super().__init__(SEAT, question.options)
        self.sample, self.answer = question, answer

    def refusal(self, seat: str, action: str) -> str | None:
        reason = super().refusal(seat, action)
        if reason is None or self.sample.listed:
            return reason
        return f"{self.sample.target} cannot do {action[:60]!r} now."

    def solution(self, seat: str) -> str | None:
        """The likeliest action by the target's strategy: the upper bound of a prediction."""
        return self.sample.likeliest

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.answer in self.sample.truth)}

    def forfeited(self, seat: str) -> dict[str, float]:
        return {SEAT: 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        question = self.sample
        same = ("observer", "target", "match", "step")
        return {
            "truth": sorted(question.truth),
            "done": question.done,
            "kind": question.kind,
            "predicted": self.answer,
            "options": len(question.options),
            **{name: getattr(question, name) for name in same},
        }

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        """A state the observer cannot tell from this one, and a random next action."""
        question = self.sample
        other = question.state.resample_hidden(question.observer, random)
        options = options_of(game_of(question.name), other, question.seat)
        done = random.choice(options)
        question = replace(question, state=other, options=options, done=done, likeliest=done, kind="")
        return type(self)(replace(question, truth=frozenset({done})), self.answer)


class PredictView(View):
    """The watched game's view, from the observer's seat."""

    @property
    def smallest(self) -> int:
        """The view of the game that is shown decides."""
        return 64

    def __init__(self, game: Predict, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._recipe = recipe = recipe_of(game.game, game.rule)
        self._watched = make(recipe.view_game or recipe.game).view(render, seed)

    def image(self, state: Prediction, seat: str) -> Picture:
        return self._watched.image(state.sample.state, state.sample.observer)

    def images(self, state: Prediction, seat: str) -> tuple[Picture, ...]:
        return self._watched.images(state.sample.state, state.sample.observer)

    def text(self, state: Prediction, seat: str) -> str:
        return self._watched.text(state.sample.state, state.sample.observer)

    def notes(self, state: Prediction, seat: str) -> str:
        question = state.sample
        notes = self._watched.notes(question.state, question.observer) if self._recipe.notes else ""
        section = "question" if self._recipe.listed else "question unlisted"
        request = self.templates.fill(section, target=question.target, observer=question.observer)
        return "\n\n".join(filter(None, (self._watched.rules(question.observer), notes, request)))

    def words(self, state: Prediction) -> tuple[str, ...]:
        """What the observer reads."""
        return (self.notes(state, SEAT), *(state.sample.options if self._recipe.listed else ()))

    def guess(self, state: Prediction, seat: str, random: Stream) -> str:
        """Where the actions are not listed, one that can be named."""
        if self._recipe.listed:
            return super().guess(state, seat, random)
        return self._watched.guess(state.sample.state, state.sample.observer, random)

    def format(self, state: Prediction, seat: str) -> ActionFormat:
        return ActionFormat("Prediction")

    def values(self, seat: str) -> dict[str, object]:
        return {"game": self._watched.game.name}
