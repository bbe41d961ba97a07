"""Kuhn poker as in the paper: twelve information sets, and the exploitability of the resulting policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, ClassVar, Self

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.state import Legal, State
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.kuhn_poker.bots import equilibrium
from ludens.games.kuhn_poker.rules import INFOSETS, KuhnPoker
from ludens.run.stats import Estimate
from ludens.run.task import EpisodeResult, Metric, Observation
from ludens.suites.vs_bench.kuhn_interval import interval

SEAT = "player"


@dataclass(frozen=True)
class KuhnQuestions(Game):
    """One decision of Kuhn poker; the seeds cycle through all twelve.

    Seats: `player`, alone, for one move.
    Observation: as in `kuhn_poker`, from the seat that is to act.
    Actions: `PASS` or `BET`.
    Rewards: none; the answers to all twelve questions make a policy, and its exploitability is the score.
    """

    name = "vs-bench/kuhn"
    version = 2
    view_class = "ludens.suites.vs_bench.kuhn:QuestionView"
    best = "bot/equilibrium"
    bots: ClassVar[Mapping[str, str]] = {"equilibrium": "ludens.suites.vs_bench.kuhn:Mixed"}

    @property
    def seats(self) -> tuple[str, ...]:
        return (SEAT,)

    def start(self, seed: int) -> Question:
        infoset = INFOSETS[seed % len(INFOSETS)]
        return Question(infoset, KuhnPoker(infoset=infoset).start(seed))


class Question(State):
    """One information set, asked once."""

    def __init__(self, infoset: str, asked: State) -> None:
        self.infoset = infoset
        self.asked = asked
        self.seat = KuhnPoker(infoset=infoset).seats[0]

    @property
    def to_act(self) -> tuple[str, ...]:
        return (SEAT,) if self.asked.to_act else ()

    def legal(self, seat: str) -> Legal:
        return self.asked.legal(self.seat) if seat in self.to_act else Legal()

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.asked.apply({self.seat: actions[SEAT]})

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        return {"infoset": self.infoset, "action": self.asked.facts.get("action")}

    def clone(self) -> Self:
        return type(self)(self.infoset, self.asked.clone())

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return type(self)(self.infoset, self.asked.resample_hidden(self.seat, random))


class QuestionView(View):
    """The view of Kuhn poker."""

    def __init__(self, game: KuhnQuestions, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._views = {infoset: KuhnPoker(infoset=infoset).view(render, seed) for infoset in INFOSETS}

    def image(self, state: Question, seat: str) -> Picture:
        return self._views[state.infoset].image(state.asked, state.seat)

    def text(self, state: Question, seat: str) -> str:
        return self._views[state.infoset].text(state.asked, state.seat)

    def notes(self, state: Question, seat: str) -> str:
        own = self._views[state.infoset]
        return "\n\n".join(filter(None, (own.rules(state.seat), own.notes(state.asked, state.seat))))

    def rules(self, seat: str) -> str:
        return self.templates.fill("kuhn", seat=seat)


@dataclass
class Mixed(Agent):
    """The equilibrium with this alpha."""

    alpha: float = option(1 / 6, low=0, high=1 / 3, help="how often to open with a bet on a jack")
    kind = "bot/equilibrium"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        action = "BET" if self.random.random() < equilibrium(self.alpha)[ask.state.infoset] else "PASS"
        return Reply(action, action)


def _answer(played: EpisodeResult) -> tuple[str, str]:
    return played.episode.facts["infoset"], played.episode.facts["action"]


def answers_of(observations: Sequence[Observation]) -> dict[str, list[bool]]:
    """At each information set, whether each answer was BET."""
    answers: dict[str, list[bool]] = {infoset: [] for infoset in INFOSETS}
    for _, (infoset, action) in observations:
        if action:
            answers[infoset].append(action == "BET")
    return answers


def _loss(observations: Sequence[Observation]) -> Estimate:
    """Minus the exploitability of the policy the answers make; unknown until all twelve were asked."""
    answers = answers_of(observations)
    if not all(answers.values()):
        return Estimate(nan, nan, nan, len(observations), nan)
    found = interval(list(answers.values()))
    return Estimate(-found.mean, -found.high, -found.low, len(observations), found.standard_error)


EXPLOITABILITY = Metric(
    "-exploitability",
    _answer,
    _loss,
    paired=False,
    bounds=(-inf, 0.0),
    about="minus what a best response wins a hand against the policy the answers make",
)
