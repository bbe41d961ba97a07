"""Kuhn poker as the paper asks it: twelve information sets in turn, and what the policy they give loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.view import Look, Picture, View
from ludens.games.kuhn_poker.bots import equilibrium
from ludens.games.kuhn_poker.exploitability import exploitability
from ludens.games.kuhn_poker.rules import INFOSETS, KuhnPoker
from ludens.run.stats import Estimate
from ludens.run.task import Metric, Played

SEAT = "player"
RESAMPLES = 1000


@dataclass(frozen=True)
class KuhnQuestions(Game):
    """One decision of Kuhn poker; the seeds run through all twelve there are.

    Seats: `player`, alone, for one move.
    Observation: as in `kuhn_poker`, from the seat that is to act.
    Actions: `PASS` or `BET`.
    Rewards: none; the answers to all twelve questions make a policy, and its exploitability is the score.
    """

    name = "vs-bench/kuhn"
    bots: ClassVar[Mapping[str, str]] = {"equilibrium": "ludens.suites.vs_bench.kuhn:Mixed"}

    @property
    def seats(self) -> tuple[str, ...]:
        return (SEAT,)

    def start(self, seed: int) -> Question:
        infoset = INFOSETS[seed % len(INFOSETS)]
        return Question(infoset, KuhnPoker(infoset=infoset).start(seed))

    def view(self, look: Look, seed: int = 0) -> View:
        return QuestionView(self, look, seed)


class Question(State):
    """One information set, asked once."""

    def __init__(self, infoset: str, asked: State) -> None:
        self.infoset = infoset
        self.asked = asked
        self.seat = KuhnPoker(infoset=infoset).seats[0]

    @property
    def turn(self) -> tuple[str, ...]:
        return (SEAT,) if self.asked.turn else ()

    def legal(self, seat: str) -> Legal:
        return self.asked.legal(self.seat) if seat in self.turn else ()

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

    def reimagined(self, seat: str, random: Stream) -> Self:
        return type(self)(self.infoset, self.asked.reimagined(self.seat, random))


class QuestionView(View):
    """Kuhn poker's own view."""

    def __init__(self, game: KuhnQuestions, look: Look, seed: int = 0) -> None:
        super().__init__(game, look, seed)
        self._views = {infoset: KuhnPoker(infoset=infoset).view(look, seed) for infoset in INFOSETS}

    def image(self, state: Question, seat: str) -> Picture:
        return self._views[state.infoset].image(state.asked, state.seat)

    def text(self, state: Question, seat: str) -> str:
        return self._views[state.infoset].text(state.asked, state.seat)

    def notes(self, state: Question, seat: str) -> str:
        own = self._views[state.infoset]
        return "\n\n".join(filter(None, (own.rules(state.seat), own.notes(state.asked, state.seat))))

    def rules(self, seat: str) -> str:
        return self.words.say("kuhn", seat=seat)


@dataclass
class Mixed(Agent):
    """An equilibrium of the family with this alpha."""

    alpha: float = option(0.0, low=0, high=1 / 3, help="how often a jack is bet at the start")
    kind = "bot/equilibrium"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        action = "BET" if self.random.random() < equilibrium(self.alpha)[ask.state.infoset] else "PASS"
        return Reply(action, action)


def policy_of(played: Sequence[Played]) -> dict[str, float] | None:
    """How often BET was answered at each information set; None until all twelve have been asked."""
    answers: dict[str, list[bool]] = {infoset: [] for infoset in INFOSETS}
    for one in played:
        answers[one.episode.facts["infoset"]].append(one.episode.facts["action"] == "BET")
    if not all(answers.values()):
        return None
    return {infoset: sum(bets) / len(bets) for infoset, bets in answers.items()}


def _loss(played: Sequence[Played]) -> Estimate:
    """Minus the exploitability of the policy, with a bootstrap interval over the answers at each set."""
    policy = policy_of(played)
    if policy is None:
        return Estimate(float("nan"), float("nan"), float("nan"), len(played), float("nan"))
    asked = len(played) // len(INFOSETS)
    random = stream(0, "kuhn", "bootstrap")
    draws = sorted(
        -exploitability({s: _redrawn(p, max(1, asked), random) for s, p in policy.items()})
        for _ in range(RESAMPLES)
    )
    mean = sum(draws) / len(draws)
    spread = (sum((x - mean) ** 2 for x in draws) / (len(draws) - 1)) ** 0.5
    low, high = draws[int(0.025 * RESAMPLES)], draws[int(0.975 * RESAMPLES) - 1]
    score = -exploitability(policy)
    return Estimate(score, min(low, score), max(high, score), len(played), spread)


def _redrawn(share: float, n: int, random: Stream) -> float:
    return sum(random.random() < share for _ in range(n)) / n


EXPLOITABILITY = Metric(
    "-exploitability",
    _loss,
    about="minus what a best response wins a hand against the policy the answers make",
)
