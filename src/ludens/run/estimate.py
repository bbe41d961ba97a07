"""Cost estimate of a run before it starts: one quick episode of each task among random players.

Only one prompt per seat is rendered. Retries and the length of answers are not known in advance, so it is a
lower bound of the right order of magnitude.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ludens.agents.bots import Random
from ludens.agents.vlm import prompt
from ludens.core.ask import Ask, build_ask
from ludens.core.episode import Usage
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.spec import parse_spec
from ludens.core.sync import run_sync
from ludens.core.view import view_of
from ludens.loop import Observer, play
from ludens.models.chat import CHARACTERS_PER_TOKEN, PIXELS_PER_TOKEN
from ludens.models.ledger import price_of
from ludens.models.settings import ModelSpec, is_model
from ludens.run.plan import Job, Plan

TOKENS_OF_AN_ANSWER = {"direct": 30, "cot": 400, "explain": 100}
LARGE_CALLS, LARGE_COST = 5_000, 5.0


@dataclass
class CostEstimate:
    """Sums over all episodes still to be played."""

    episodes: int = 0
    usage: Usage = field(default_factory=lambda: Usage(calls=0, cost=0.0))
    """The cost is None when some model's price is not known."""
    picture_tokens: float = 0.0
    each: dict[tuple[str, str], Usage] = field(default_factory=dict)
    """Entrant and task to what one episode is expected to take, on average."""

    @property
    def large(self) -> bool:
        """Whether the user should confirm first."""
        return self.usage.calls > LARGE_CALLS or (self.usage.cost or 0.0) > LARGE_COST

    def sentence(self) -> str:
        usage = self.usage
        cost = "price not known" if usage.cost is None else f"about ${usage.cost:,.2f} or more"
        return (
            f"{self.episodes:,} episodes: about {_round(usage.calls)} calls with {_round(usage.images)} "
            f"pictures, {_round(self.picture_tokens)} tokens of pictures, {_round(usage.tokens)} in all; "
            f"{cost}."
        )


@dataclass(frozen=True, slots=True)
class _Seat:
    """How often a seat is asked in an episode, and how large each ask is."""

    asks: int
    images: float
    pixels: float
    letters: float


def estimate(plan: Plan, jobs: Iterable[Job]) -> CostEstimate:
    total, sizes = CostEstimate(), _SeatSizes(plan)
    sums: dict[tuple[str, str], Usage] = defaultdict(lambda: Usage(calls=0))
    alike: dict[tuple[str, str, int], list[Job]] = defaultdict(list)
    for job in jobs:
        alike[job.entrant, job.task, job.seating].append(job)
    counts: Counter[tuple[str, str]] = Counter()
    priced = True
    for (entrant, task, _), group in alike.items():
        total.episodes += len(group)
        counts[entrant, task] += len(group)
        for seat, spec in plan.specs(group[0]).items():
            if costs(spec):
                size = sizes.seat(group[0], seat, spec)
                usage = _usage(spec, size, size.asks * len(group))
                priced = priced and usage.cost is not None
                sums[entrant, task] += usage
                total.usage += usage
                total.picture_tokens += usage.calls * size.pixels / PIXELS_PER_TOKEN
    total.usage.cost = total.usage.cost if priced else None
    total.each = {cell: usage / counts[cell] for cell, usage in sums.items()}
    return total


def costs(spec: str) -> bool:
    """Whether it is a model whose calls take money or long: all but `nano`, which runs in this process."""
    return is_model(spec) and parse_spec(spec).kind != "nano"


def _usage(spec: str, seat: _Seat, asks: int) -> Usage:
    """What a model uses for so many asks in a seat; the cost is None if its price is not known."""
    parsed = parse_spec(spec)
    input_tokens = asks * (seat.pixels / PIXELS_PER_TOKEN + seat.letters / CHARACTERS_PER_TOKEN)
    output_tokens = asks * TOKENS_OF_AN_ANSWER[ModelSpec.parse(parsed).prompt.style]
    usage = Usage(round(input_tokens), output_tokens, images=round(asks * seat.images), calls=asks)
    price = price_of(parsed.name)
    usage.cost = None if price is None else price.cost(usage)
    return usage


class _SeatSizes:
    """Plays each task once in each seating, and makes each kind of prompt once."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._games: dict[str, Game] = {}
        self._ask_counts: dict[tuple[str, int], Counter[str]] = {}
        self._seats: dict[tuple[str, int, str, str], _Seat] = {}

    def seat(self, job: Job, seat: str, spec: str) -> _Seat:
        key = (job.task, job.seating, seat, spec)
        if key not in self._seats:
            self._seats[key] = self._size_of(job, seat, spec)
        return self._seats[key]

    def _size_of(self, job: Job, seat: str, spec: str) -> _Seat:
        asks = self._asks(job)[seat]
        if not asks:
            return _Seat(0, 0, 0, 0)
        options = ModelSpec.parse(spec).prompt
        game, config = self._games[job.task], self._plan.tasks_by_name[job.task].config
        view = view_of(game, self._plan.render, job.seed)
        ask = build_ask(view, game.start(job.seed), seat, options.sees, config, tools=options.act == "tools")
        observation = ask.observation
        letters = sum(len(part) for m in prompt(ask, options) for part in m.parts if isinstance(part, str))
        images = len(observation.images)
        pixels = sum(picture.width * picture.height for picture in observation.images)
        # How many pictures a prompt has on average that shows the latest ones.
        frames = sum(min(options.frames, number + 1) for number in range(asks)) / asks
        exchanges = {"none": 0.0, "last": 1.0, "all": asks / 2}[options.memory]
        earlier = exchanges * len(observation.text + observation.notes)
        return _Seat(asks, images * frames, pixels * frames, letters + earlier)

    def _asks(self, job: Job) -> Counter[str]:
        key = (job.task, job.seating)
        if key not in self._ask_counts:
            game = self._games.setdefault(job.task, make(self._plan.tasks_by_name[job.task].game))
            counter, config = _AskCounter(), self._plan.tasks_by_name[job.task].config
            players = dict.fromkeys(game.seats, Random())
            run_sync(play(game, players, job.seed, config=config, observer=counter, void_on_error=True))
            self._ask_counts[key] = counter.asks
        return self._ask_counts[key]


class _AskCounter(Observer):
    def __init__(self) -> None:
        self.asks: Counter[str] = Counter()

    def asked(self, ask: Ask) -> None:
        self.asks[ask.seat] += 1


def unpriced_models(plan: Plan) -> list[str]:
    """Models without a known price, whose provider does not report costs either."""
    return without_price({*plan.entrants.values(), *plan.opponents})


def without_price(specs: Iterable[str]) -> list[str]:
    """The models among specs whose price is unknown, and whose provider does not report costs either."""
    names = {parse_spec(spec).name for spec in specs if costs(spec)}
    return sorted(name for name in names if price_of(name) is None and not name.startswith("openrouter/"))


def _round(number: float) -> str:
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits) if digits > 0 else round(number):,.0f}"
