"""Predict, a one-move question: seen from one seat of another game, what will the other seat do next?

Datasets of these questions are built from the recipes, or cut from a recorded run. Before they are written,
shares of targets, matches and kinds of action are checked, and the number of samples that look alike. Seed 0
gives the samples of the suite's tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Preset
from ludens.core.options import configure, option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.reply import ActionFormat
from ludens.core.spec import parse_spec
from ludens.core.state import Question
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View, view_of
from ludens.run.dataset import ColumnType, Dataset, DatasetOrder, Share, count_shares
from ludens.suites.vs_bench.recipes import RECIPES, RULES, recipe_of
from ludens.suites.vs_bench.samples import (
    PredictionSample,
    content,
    game_of,
    options_of,
    recorded,
    sample,
    slots,
)

SEAT = "observer"
_ATTEMPTS = 200
_FAR = 2**31
STRIDE = 3_628_800
"""Sample numbers per seed; 10! is a multiple of every recipe's cycle, so that each seed starts one."""
ROUNDING = 2.0
"""Samples by which a share may miss its target: a match has two targets, and each is rounded."""

_TYPES: dict[str, ColumnType] = {"images": "pictures", "options": "texts", "answers": "texts"}
_TYPES["step"] = "number"
_COLUMNS = "id game observer target images text rules notes options answer answers kind match step"
COLUMNS: dict[str, ColumnType] = {name: _TYPES.get(name, "text") for name in _COLUMNS.split()}


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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.twins and self.rule != "single":
            raise BadOption(
                "twins of vs-bench/predict need rule=single: by rule=paper luck may decide what is right."
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
            twin = self.world(number)
            differ = twin.sample.truth.isdisjoint(first.sample.truth)
            pictures = [[p.hash for p in view.images(each, SEAT)] for each in (first, twin)]
            if differ and view.words(twin) == view.words(first) and pictures[0] != pictures[1]:
                return first, twin
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
        action = random.choice(options)
        question = replace(question, state=other, options=options, done=action, likeliest=action, kind="")
        return type(self)(replace(question, truth=frozenset({action})), self.answer)


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


def build(order: DatasetOrder) -> Dataset:
    spec = parse_spec(order.spec)
    name = {"kuhn": "kuhn_poker"}.get(spec.name, spec.name)
    if name not in RECIPES:
        raise UnknownName("game of vs-bench", spec.name, RECIPES)
    # Recorded players may do anything, as often as in the paper's data.
    usual = RULES[0] if order.run is None else "paper"
    rule = configure(Predict, {"rule": usual, **spec.options, "game": name}, f"vs-bench/{name}").rule
    if not 0 <= order.seed < 2**40 or order.n > STRIDE:
        raise BadOption(f"a dataset has at most {STRIDE:,} samples and a seed from 0 to 2**40 - 1.")
    if order.run is None:
        start = order.seed * STRIDE
        numbers: Sequence[int] = range(start, start + order.n)
        samples = [sample(name, number, rule) for number in numbers]
        source: dict[str, Any] = {
            "rule": rule,
            "recipe": [[m.share, str(m), list(m.targets)] for m in recipe_of(name, rule).matches],
        }
    else:
        numbers = range(order.n)
        samples, source = recorded(name, order.run, order.n, order.seed)
    shares = distribution(name, samples, rule, from_recipe=order.run is None)
    check_shares(name, samples, shares)
    game = game_of(name)
    return Dataset(
        f"vs-bench/{name}",
        f"Strategic reasoning in {name}: what does the other do next? VS-Bench's task, made by Ludens.",
        COLUMNS,
        _rows(name, rule, numbers, samples, order),
        shares,
        {
            "game": game.name,
            "version": game.version,
            "options": game.options,
            "seed": order.seed,
            "theme": order.render.theme,
            "size": order.render.size,
            **source,
        },
    )


def _rows(
    name: str, rule: str, numbers: Sequence[int], samples: Sequence[PredictionSample], order: DatasetOrder
) -> Iterator[dict[str, Any]]:
    game = Predict(game=name, rule=rule)
    for number, question in zip(numbers, samples, strict=True):
        view, state = view_of(game, order.render, number), Prediction(question)
        yield {
            "id": f"{name}-{'recorded-' if order.run else ''}{order.seed}-{number % STRIDE}",
            "game": name,
            **{name: getattr(question, name) for name in ("observer", "target", "kind", "match", "step")},
            "images": view.images(state, SEAT),
            "text": view.text(state, SEAT),
            "rules": view.rules(SEAT),
            "notes": view.notes(state, SEAT),
            "options": list(question.options),
            "answer": question.done,
            "answers": sorted(question.truth),
        }


def distribution(
    name: str, samples: Sequence[PredictionSample], rule: str = RULES[0], from_recipe: bool = True
) -> list[Share]:
    """Shares of targets, matches and kinds of action, with the recipe's shares where it has some."""
    recipe, n = recipe_of(name, rule), len(samples)
    targets = sorted({recipe.seat_names.get(seat, seat) for seat in game_of(name).seats})
    targets_wanted = {target: n / len(targets) for target in targets}
    shares = count_shares("target", (question.target for question in samples), targets_wanted)
    total = sum(match.share for match in recipe.matches)
    matches = {str(match): n * match.share / total for match in recipe.matches} if from_recipe else None
    shares += count_shares("match", (question.match for question in samples), matches)
    weight = sum(recipe.classes.values())
    kinds = {kind: n * share / weight for kind, share in recipe.classes.items()}
    if kinds:
        shares += count_shares("kind", (question.kind for question in samples), kinds)
    shares += count_shares("answer", (question.done for question in samples))
    return shares


def check_shares(name: str, samples: Sequence[PredictionSample], shares: Sequence[Share]) -> None:
    """Reject a dataset that misses its targets."""
    for share in shares:
        if share.wanted is not None and abs(share.count - share.wanted) > ROUNDING:
            raise BadOption(
                f"the dataset misses its target: {share.count} of {len(samples)} samples have the {share.of} "
                f"{share.value!r}, and {share.wanted:.1f} are wanted."
            )
    alike = repeats(name, samples)
    most = max(1, RECIPES[name].repeats * len(samples))
    if alike > most:
        raise BadOption(
            f"{alike} of {len(samples)} samples look like an earlier one; at most {most:.0f} are allowed."
        )


def repeats(name: str, samples: Sequence[PredictionSample]) -> int:
    """The number of samples that show the same observer the same as an earlier one, step numbers aside."""
    return len(samples) - len({content(question.state, question.observer) for question in samples})
