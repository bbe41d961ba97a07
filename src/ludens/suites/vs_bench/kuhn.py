"""Kuhn poker as in the paper: twelve information sets, and the exploitability of the resulting policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.game import DIFFICULTIES, Game, Preset
from ludens.core.options import option
from ludens.core.random import Stream
from ludens.core.state import Question
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.kuhn_poker import INFOSETS, KuhnPoker, KuhnState, equilibrium
from ludens.run.stats import Estimate, Z
from ludens.run.task import EpisodeResult, Metric, Observation

Array = NDArray[np.float64]

DRAWS = 300
STEPS = 24
FURTHEST = 1.5
"""The end of the line, where 0 is the equilibrium and 1 the answers."""
_HIGHER = np.sign(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
"""1 where the first card beats the second, -1 where it loses, 0 for the same card, which is never dealt."""
_DEALT = np.abs(_HIGHER)


def exploitabilities(policies: Array) -> Array:
    """The exploitability of many policies: the last axis is the probability of BET, as `INFOSETS` orders."""
    opens, after_pass, after_bet, calls = np.split(policies, 4, axis=-1)
    second = _most((2 * opens) @ _HIGHER.T, -opens @ _DEALT)
    passes, calling = 1 - opens, (1 - opens) * calls
    second += _most(passes @ _HIGHER.T, (2 * calling) @ _HIGHER.T + (passes - calling) @ _DEALT)
    bets = (2 * after_bet) @ _HIGHER.T + (1 - after_bet) @ _DEALT
    answers = np.maximum((2 * after_pass) @ _HIGHER.T, -after_pass @ _DEALT)
    first = _most(bets, (1 - after_pass) @ _HIGHER.T + answers)
    return np.asarray((first + second) / 12)


def _most(action: Array, other: Array) -> Array:
    """The better of two actions at each card, added up."""
    return np.asarray(np.maximum(action, other).sum(axis=-1))


def interval(answers: Sequence[Sequence[bool]], seed: int = 0) -> Estimate:
    """The exploitability of answers: for each of `INFOSETS` at least one, and whether each was BET."""
    counts, bets = np.array([*map(len, answers)]), np.array([*map(sum, answers)])
    observed = float(exploitabilities(bets / counts))
    # Answers that never differ may come from a policy that sometimes does.
    likely = (bets + 0.5) / (counts + 1)
    dice = np.random.default_rng(seed)
    error = float(_draw_exploitabilities(likely, counts, dice).std(ddof=1))
    policies = _line(likely)
    truth = exploitabilities(policies)
    draws = _draw_exploitabilities(policies[:, None, :], counts, dice)
    p_values = np.minimum(_share(draws <= observed + 1e-9), _share(draws >= observed - 1e-9))
    inside = np.flatnonzero(p_values > 0.025)
    # Up to the first policy on each side that is outside: the line is tried at few points.
    sides = (max(0, inside[0] - 1), min(STEPS - 1, inside[-1] + 1)) if len(inside) else ()
    ends = [float(truth[side]) for side in sides] or [observed]
    low = max(0.0, min(*ends, observed - Z * error))
    return Estimate(observed, low, max(*ends, observed + Z * error), int(counts.sum()), error)


def _draw_exploitabilities(policies: Array, counts: NDArray[np.int64], dice: np.random.Generator) -> Array:
    shape = (*policies.shape[:-2], DRAWS, len(counts))
    return exploitabilities(dice.binomial(counts, policies, shape) / counts)


def _share(extreme: NDArray[np.bool_]) -> Array:
    return np.asarray((extreme.sum(axis=1) + 1) / (DRAWS + 1))


def _line(policy: Array) -> Array:
    """Policies from the closest equilibrium through the policy and beyond."""
    equilibria = np.array([[equilibrium(alpha / 30)[name] for name in INFOSETS] for alpha in range(11)])
    start = equilibria[np.argmin(((equilibria - policy) ** 2).sum(axis=1))]
    return np.asarray(np.clip(start + np.linspace(0, FURTHEST, STEPS)[:, None] * (policy - start), 0, 1))


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
    seats = (SEAT,)
    version = 2
    view_class = "ludens.suites.vs_bench.kuhn:QuestionView"
    best = "bot/equilibrium"
    presets = dict.fromkeys(DIFFICULTIES, Preset())  # it has no options
    bots: ClassVar[Mapping[str, str]] = {"equilibrium": "ludens.suites.vs_bench.kuhn:EquilibriumAnswers"}

    def actions(self, seat: str) -> tuple[str, ...]:
        return KuhnPoker().actions("first")

    def start(self, seed: int) -> InfosetQuestion:
        infoset = INFOSETS[seed % len(INFOSETS)]
        return InfosetQuestion(infoset, KuhnPoker(infoset=infoset).start(seed).hand)


class InfosetQuestion(Question):
    """One information set, asked once, as `mover` sees the hand."""

    def __init__(self, infoset: str, hand: KuhnState) -> None:
        [self.mover] = hand.to_act
        super().__init__(SEAT, hand.legal(self.mover))
        self.infoset, self.hand = infoset, hand

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        return {"infoset": self.infoset, "action": self.answer or ""}

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        copy = self.clone()
        copy.hand = self.hand.resample_hidden(self.mover, random)
        return copy


class QuestionView(View):
    """The view of Kuhn poker."""

    @property
    def smallest(self) -> int:
        """The view of the game that is shown decides."""
        return 64

    def __init__(self, game: KuhnQuestions, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._views = {infoset: KuhnPoker(infoset=infoset).view(render, seed) for infoset in INFOSETS}

    def image(self, state: InfosetQuestion, seat: str) -> Picture:
        return self._views[state.infoset].image(state.hand, state.mover)

    def text(self, state: InfosetQuestion, seat: str) -> str:
        return self._views[state.infoset].text(state.hand, state.mover)

    def notes(self, state: InfosetQuestion, seat: str) -> str:
        own = self._views[state.infoset]
        return "\n\n".join(filter(None, (own.rules(state.mover), own.notes(state.hand, state.mover))))

    def rules(self, seat: str) -> str:
        return self.templates.fill("kuhn", seat=seat)


@dataclass
class EquilibriumAnswers(Agent):
    """The equilibrium with this alpha."""

    alpha: float = option(1 / 6, low=0, high=1 / 3, help="how often to open with a bet on a jack")
    kind = "bot/equilibrium"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, InfosetQuestion)
        action = "BET" if self.random.random() < equilibrium(self.alpha)[ask.state.infoset] else "PASS"
        return Reply(action, action)


def _answer(result: EpisodeResult) -> tuple[str, str]:
    return result.episode.facts["infoset"], result.episode.facts["action"]


def answers_of(observations: Sequence[Observation]) -> dict[str, list[bool]]:
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
    e = interval(list(answers.values()))
    return Estimate(-e.mean, -e.high, -e.low, len(observations), e.standard_error)


EXPLOITABILITY = Metric(
    "-exploitability",
    _answer,
    _loss,
    paired=False,
    bounds=(-inf, 0.0),
    about="minus what a best response wins a hand against the policy the answers make",
)
