"""Episodes on seeds outside every suite, in which players are fitted and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isnan
from statistics import fmean, stdev
from typing import TypeVar

from ludens.agents import BEST, agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import UsageError
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, view_of
from ludens.loop import play
from ludens.run.baselines.questions import OTHER_SEEDS
from ludens.run.task import MODEL, EpisodeResult, Metric, Task, entrant_seats, own_return

VALIDATION, PARTICLES = 2**32, 2**33
"""Where the seeds of validation and of imagined states begin, after `OTHER_SEEDS`."""
SAMPLES = 8
"""Replies of a slow bot to one position that are computed; later ones are drawn from these."""

P = TypeVar("P", bound=Agent)
Memo = dict[tuple[str, str], list[str]]


@dataclass
class Remembering(Agent):
    """A slow bot whose replies are kept by position, so that a position seldom costs a search again."""

    bot: Agent
    memo: Memo
    samples: int = SAMPLES
    kind = "remembering"
    sees = "state"

    def begin(self) -> None:
        self.bot = self.bot.sit(self.game, self.seat, self.random.fork("bot"))

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        view = view_of(self.game, RenderOptions(), 0)
        replies = self.memo.setdefault((ask.seat, view.text(ask.state, ask.seat)), [])
        if len(replies) < self.samples:
            reply = await self.bot.act(ask)
            replies.append(reply.action or reply.text)
        else:
            self.random.bits()
            replies = [self.random.choice(replies)]
        return Reply(replies[-1], replies[-1])


def remembering(bot: Agent, game: Game, memo: Memo, samples: int = SAMPLES) -> Agent:
    """A bot that remembers what it computed, if it computes for long and positions have a text."""
    has_text = view_of(game, RenderOptions(), 0).has_text
    return Remembering(bot, memo, samples) if bot.computes and has_text else bot


@dataclass
class Training:
    """Plays a task on other seeds."""

    task: Task
    budget: int
    """Episodes that a search may play."""
    _memo: Memo = field(default_factory=dict)
    _guesses: Memo = field(default_factory=dict)

    @cached_property
    def game(self) -> Game:
        return make(self.task.game)

    @cached_property
    def metric(self) -> Metric:
        """The metric of the search: the first that has a number for each episode, if there is one."""
        numbers = (metric for metric in self.task.metrics if metric.paired and not metric.twins)
        return next(numbers, self.task.metrics[0])

    @cached_property
    def opponents(self) -> list[Mapping[str, Agent]]:
        """For every seating, the agents of the seats that are not measured."""
        return [
            {
                seat: remembering(agent(player, self.game), self.game, self._memo)
                for seat, player in seating.items()
                if player != MODEL
            }
            for seating in self.task.seatings
        ]

    @cached_property
    def slow(self) -> bool:
        """Whether a bot in it searches."""
        players = {*self.task.opponents, *self.guides[:1]}
        return any(agent(player, self.game).computes for player in players)

    @cached_property
    def guides(self) -> tuple[str, ...]:
        """Bots that propose moves while a player is fitted: the best one, and opponents that search."""
        searching = [player for player in self.task.opponents if agent(player, self.game).computes]
        try:
            agent(BEST, self.game).sit(self.game, self.game.seats[0], stream(0, "guide"))
        except UsageError:
            return tuple(searching)
        return BEST, *searching

    def guide(self, spec: str, seat: str, random: Stream) -> Agent:
        """A bot in a seat that says what it would do."""
        memo, samples = (self._guesses, 1) if spec == BEST else (self._memo, SAMPLES)
        return remembering(agent(spec, self.game), self.game, memo, samples).sit(self.game, seat, random)

    def play(self, player: Agent, number: int, exact: bool = False) -> EpisodeResult:
        """The episode with this number: a seed after `OTHER_SEEDS`, and one of the seatings.

        Slow bots remember what they computed, unless the episode must be exact.
        """
        seed, seating = OTHER_SEEDS + number // len(self.task.seatings), number % len(self.task.seatings)
        seats = self.task.seatings[seating]
        own, rest = entrant_seats(self.task, seating), self.opponents[seating]
        if exact:
            rest = {seat: agent(seats[seat], self.game) for seat in rest}
        agents = {seat: rest.get(seat, player) for seat in seats}
        episode = run_sync(play(self.game, agents, seed, config=self.task.config))
        return EpisodeResult("", episode, own)

    def value(self, result: EpisodeResult) -> float:
        """What an episode is worth: the metric, higher is better; returns break ties."""
        value = self.metric.value(result) if self.metric.paired else None
        own = own_return(result)
        if not isinstance(value, int | float) or isnan(value):
            return own
        return (float(value) if self.metric.higher_is_better else -float(value)) + 1e-3 * own

    def values(self, player: Agent, numbers: Iterable[int]) -> list[float]:
        return [self.value(self.play(player, number)) for number in numbers]

    def best_of(self, players: Sequence[P], numbers: Sequence[int]) -> P:
        """The player with the highest sum over some episodes; the first of those that are equal."""
        sums = [sum(self.values(player, numbers)) for player in players]
        return players[sums.index(max(sums))]

    def validate(self, player: Agent, count: int) -> Validated:
        """The score of a player on seeds that no player was fitted to."""
        first = VALIDATION * len(self.task.seatings)
        results = [self.play(player, first + number, exact=True) for number in range(count)]
        mean = self.metric.estimate(results).mean
        values = [self.value(result) for result in results]
        spread = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
        if self.metric.paired:
            return Validated(mean, fmean(values), spread)
        worth = mean if self.metric.higher_is_better else -mean
        return Validated(mean, -inf if isnan(worth) else worth, 0.0)

    def share_of_budget(self, share: float) -> int:
        """A share of the whole budget, as a number of episodes."""
        return max(1, round(self.budget * share))


@dataclass(frozen=True)
class Validated:
    """What a player reached on other seeds than it was fitted to."""

    mean: float
    """The metric."""
    value: float
    """The same with higher values better."""
    error: float
    """The standard error of `value`."""


def ordered(counts: Mapping[str, float]) -> Sequence[str]:
    """Names by weight, the largest first."""
    return sorted(counts, key=lambda name: (-counts[name], name))
