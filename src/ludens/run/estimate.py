"""What a run will roughly take, before it begins: one quick episode of each task, bots in every chair.

Nothing is rendered but one prompt a seat. Replies that must be repeated are not foreseen, nor how long models
answer; so an estimate is a lower bound in the right order of magnitude.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ludens.agents.simple import Random
from ludens.agents.vlm import Vlm, split_options
from ludens.core.agent import Ask, Reply
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.view import view_of
from ludens.loop import play
from ludens.models.chat import Answer, Model, Request
from ludens.models.prices import price_of
from ludens.run.budget import Spend
from ludens.run.entrants import is_model
from ludens.run.plan import Job, Plan

PIXELS_A_TOKEN = 750
LETTERS_A_TOKEN = 4
TOKENS_OF_AN_ANSWER = {"direct": 30, "cot": 400, "explain": 100}
LARGE_CALLS, LARGE_COST = 5_000, 5.0


@dataclass
class CostEstimate:
    """Sums over every episode still to be played."""

    episodes: int = 0
    calls: float = 0.0
    pictures: float = 0.0
    picture_tokens: float = 0.0
    tokens: float = 0.0
    cost: float | None = 0.0
    """None when some model's price is not known."""
    each: dict[tuple[str, str], Spend] = field(default_factory=dict)
    """Entrant and task to what one episode is expected to take, on average."""

    @property
    def large(self) -> bool:
        """Whether somebody should be asked first."""
        return self.calls > LARGE_CALLS or (self.cost or 0.0) > LARGE_COST

    def sentence(self) -> str:
        """The estimate in words."""
        cost = "price not known" if self.cost is None else f"about ${self.cost:,.2f} or more"
        return (
            f"{self.episodes:,} episodes: about {_round(self.calls)} calls with {_round(self.pictures)} "
            f"pictures, {_round(self.picture_tokens)} tokens of pictures, {_round(self.tokens)} in all; "
            f"{cost}."
        )


@dataclass(frozen=True, slots=True)
class _Seat:
    """What a chair will ask of a model: how often in an episode, and with how much in each ask."""

    asks: int
    images: float
    pixels: float
    letters: float


def estimate(plan: Plan, jobs: Iterable[Job]) -> CostEstimate:
    """What these jobs of a plan will take; bots take nothing."""
    found, looked = CostEstimate(), _Looked(plan)
    sums: dict[tuple[str, str], Spend] = defaultdict(Spend)
    alike: dict[tuple[str, str, int], list[Job]] = defaultdict(list)
    for job in jobs:
        alike[job.entrant, job.task, job.seating].append(job)
    played: Counter[tuple[str, str]] = Counter()
    for (entrant, task, _), group in alike.items():
        number = len(group)
        found.episodes += number
        played[entrant, task] += number
        for seat, spec in plan.specs(group[0]).items():
            if is_model(spec):
                sums[entrant, task] += _added(found, spec, looked.seat(group[0], seat, spec), number)
    found.each = {kind: total / played[kind] for kind, total in sums.items()}
    return found


def _added(found: CostEstimate, spec: str, seat: _Seat, episodes: int) -> Spend:
    """Add what a model in this chair takes in so many episodes, and give it back."""
    asks = seat.asks * episodes
    spent = _spend(spec, seat, asks)
    found.calls += asks
    found.pictures += asks * seat.images
    found.picture_tokens += asks * seat.pixels / PIXELS_A_TOKEN
    found.tokens += spent.tokens
    unknown = price_of(parse_spec(spec).name) is None
    found.cost = None if unknown or found.cost is None else found.cost + spent.cost
    return spent


def _spend(spec: str, seat: _Seat, asks: int) -> Spend:
    parsed = parse_spec(spec)
    _, manner = split_options(parsed)
    read = asks * (seat.pixels / PIXELS_A_TOKEN + seat.letters / LETTERS_A_TOKEN)
    written = asks * TOKENS_OF_AN_ANSWER[manner.style]
    price = price_of(parsed.name)
    cost = (read * price.input + written * price.output) / 1_000_000 if price else 0.0
    return Spend(asks, read + written, cost)


class _Looked:
    """Each task played once in each seating, each kind of prompt made once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._games: dict[str, Game] = {}
        self._asks: dict[tuple[str, int], dict[str, list[Ask]]] = {}
        self._seats: dict[tuple[str, int, str, str], _Seat] = {}

    def seat(self, job: Job, seat: str, spec: str) -> _Seat:
        """What this chair asks of a model with this spec."""
        key = (job.task, job.seating, seat, spec)
        if key not in self._seats:
            self._seats[key] = self._measured(job, seat, spec)
        return self._seats[key]

    def _measured(self, job: Job, seat: str, spec: str) -> _Seat:
        asks = self._asked(job).get(seat, [])
        if not asks:
            return _Seat(0, 0, 0, 0)
        _, manner = split_options(parse_spec(spec))
        agent = Vlm(_Nobody("nobody"), manner)
        game, first = self._games[job.task], asks[0]
        state = game.start(job.seed)
        view = view_of(game, self._plan.render, job.seed)
        seen = view.observe(state, seat, agent.sees)
        ask = replace(first, observation=seen, rules=view.rules(seat))
        request = Request(agent.sit(game, seat, stream(job.seed, "estimate")).messages(ask))
        letters = sum(len(part) for m in request.messages for part in m.parts if isinstance(part, str))
        images, pixels = len(seen.images), sum(picture.width * picture.height for picture in seen.images)
        frames = _mean_kept(manner.frames, len(asks))
        kept = {"none": 0.0, "last": 1.0, "all": len(asks) / 2}[manner.memory]
        earlier = kept * len(seen.text + seen.notes)
        return _Seat(len(asks), images * frames, pixels * frames, letters + earlier)

    def _asked(self, job: Job) -> dict[str, list[Ask]]:
        """Every ask of a quick episode, by seat."""
        key = (job.task, job.seating)
        if key not in self._asks:
            game = self._games.setdefault(job.task, make(self._plan.chosen[job.task].game))
            asks: dict[str, list[Ask]] = defaultdict(list)
            agents = {seat: _Counted(asks) for seat in game.seats}
            config = self._plan.chosen[job.task].config
            asyncio.run(play(game, agents, job.seed, render=self._plan.render, config=config))
            self._asks[key] = asks
        return self._asks[key]


def _mean_kept(frames: int, asks: int) -> float:
    """How many moments a prompt shows on average when it shows the latest `frames`."""
    return sum(min(frames, number + 1) for number in range(asks)) / asks


class _Counted(Random):
    """A random player that keeps what it was asked."""

    def __init__(self, asks: dict[str, list[Ask]]) -> None:
        super().__init__()
        self._asks = asks

    async def act(self, ask: Ask) -> Reply:
        self._asks[ask.seat].append(ask)
        return await super().act(ask)


class _Nobody(Model):
    """Stands where a model would, and is never asked."""

    async def answer(self, request: Request) -> Answer:
        raise AssertionError("an estimate asks nobody")


def unpriced(plan: Plan) -> list[str]:
    """Models whose cost nobody will know: no price is given, and their provider tells none."""
    seated = {who for task in plan.chosen.values() for seating in task.seatings for who in seating.values()}
    names = {parse_spec(spec).name for spec in {*plan.entrants.values(), *seated} if is_model(spec)}
    return sorted(name for name in names if price_of(name) is None and not name.startswith("openrouter/"))


def _round(number: float) -> str:
    """Two digits are all an estimate deserves."""
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits) if digits > 0 else round(number):,.0f}"
