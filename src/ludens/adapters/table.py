"""A game some of whose seats are played from outside. The loop is `ludens.loop.play`.

At a `GameTable`, several seats are played at their own pace, on an event loop; agents fill the others, models
included:

    table = GameTable(make("hanabi"), ("player_0", "player_1"))
    ask = await table.turn("player_0")          # waits until the seat must act; None when the game is over
    tried = await table.act("player_0", "(Play 0)")
    tried.verdict                               # "ok", or "illegal" or "unreadable" with a reason

With `Turns`, one turn follows the other, and bots fill the other seats. Nothing waits, so no event loop is
needed and one that runs is no obstacle:

    turns = Turns("tic_tac_toe", seats=("x",), others="bot/minimax")
    ask = turns.reset(seed=7)
    while ask is not None:
        ask = turns.reply("A1")      # if this is not legal, the same ask with a reason in `ask.refused`
    turns.episode                    # what `play` records: it can be saved, shown and verified
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig, check_seat
from ludens.core.episode import Episode, Try
from ludens.core.errors import AgentFailure, BadOption, MoveError, UnknownName
from ludens.core.game import Game
from ludens.core.registry import make, preset_of
from ludens.core.reply import read_action
from ludens.core.state import State
from ludens.core.sync import Interview, InterviewQuestion
from ludens.core.view import RenderOptions, Sees, View, view_of
from ludens.loop import Observer, play

RANDOM = "bot/random"


@dataclass
class Chair(Agent):
    """A seat at a table whose replies come from outside; it may try again as often as it likes."""

    kind = "outside"
    unlimited_retries = True
    table: GameTable = field(repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.waits = True

    async def act(self, ask: Ask) -> Reply:
        return await self.table._ask(ask)


def _canonical_action(ask: Ask, action: str) -> str:
    """The canonical action for other spellings of it; what cannot be read is left to be refused."""
    if ask.legal.is_text or action in ask.legal:
        return action
    try:
        return read_action(ask.format, ask.format.typed(action), ask.legal)
    except MoveError:
        return action


class GameTable(Observer):
    """One game at a time; several seats from outside, the others played by agents.

    Args:
        game: The game.
        seats: The seats that are played from outside.
        others: The agents of all other seats.
        sees: What those outside see.
        render: Theme and size of pictures.
        seed: Of the first game; each further one takes the next.
        record: Called with every game that is over.
    """

    def __init__(
        self,
        game: Game,
        seats: tuple[str, ...],
        others: Mapping[str, Agent] | None = None,
        *,
        sees: Sees = "offered",
        render: RenderOptions | None = None,
        seed: int = 0,
        record: Callable[[Episode], None] | None = None,
    ) -> None:
        for seat in seats:
            check_seat(game, seat)
        self.game, self.seats, self.render, self.seed = game, seats, render or RenderOptions(), seed
        self.sees, self._record = sees, record
        chair = Chair(table=self)
        chair.sees = sees
        self._agents: dict[str, Agent] = {**dict.fromkeys(seats, chair), **(others or {})}
        self._task: asyncio.Task[Episode] | None = None
        self._changed = asyncio.Event()
        self._asks: dict[str, Ask] = {}
        self._replies: dict[str, asyncio.Future[Reply]] = {}
        self._verdicts: dict[str, asyncio.Future[Try]] = {}

    state: State

    @property
    def view(self) -> View:
        return view_of(self.game, self.render, self.seed)

    @property
    def over(self) -> bool:
        return self._task is not None and self._task.done()

    @property
    def episode(self) -> Episode | None:
        """The record of the game, once it is over."""
        return self._task.result() if self._task is not None and self._task.done() else None

    def start(self) -> None:
        """Begin the first game, where none has begun."""
        if self._task is None:
            self._begin()

    def again(self) -> None:
        """Begin the next game; the last one must be over."""
        if not self.over:
            raise BadOption("the game is not over yet.")
        self.seed += 1
        self._begin()

    def _begin(self) -> None:
        self.state = self.game.start(self.seed)
        self._task = asyncio.get_running_loop().create_task(
            play(
                self.game,
                self._agents,
                self.seed,
                first=self.state,
                render=self.render,
                config=PlayConfig(),
                observer=self,
            )
        )
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Episode]) -> None:
        self._notify()
        if self._record is not None and not task.cancelled() and task.exception() is None:
            self._record(task.result())

    async def _ask(self, ask: Ask) -> Reply:
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asks[ask.seat], self._replies[ask.seat] = ask, reply
        self._notify()
        return await reply

    def replied(self, ask: Ask, attempt: Try) -> None:
        verdict = self._verdicts.pop(ask.seat, None)
        if verdict is not None and not verdict.done():
            verdict.set_result(attempt)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def turn(self, seat: str, seconds: float | None = None) -> Ask | None:
        """What the seat is asked, as soon as it is; None when the game is over or so many seconds passed."""
        self.start()
        try:
            async with asyncio.timeout(seconds):
                while seat not in self._asks and not self.over:
                    await self._changed.wait()
        except TimeoutError:
            return None
        return self._asks.get(seat)

    async def act(self, seat: str, action: str) -> Try:
        """Take an action by its name, or say a text; returns its verdict. A refused one changes nothing."""
        ask = self._asks.pop(seat, None)
        if ask is None:
            raise BadOption("the game is over." if self.over else f"{seat} is not to act now.")
        verdict: asyncio.Future[Try] = asyncio.get_running_loop().create_future()
        self._verdicts[seat] = verdict
        self._replies.pop(seat).set_result(Reply(action=_canonical_action(ask, action)))
        assert self._task is not None
        events: list[asyncio.Future[Any]] = [verdict, self._task]
        await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
        if not verdict.done():
            raise AgentFailure("the game ended before the action was read.")
        while seat not in self._asks and verdict.result().verdict != "ok" and not self.over:
            await self._changed.wait()  # it is asked again
        return verdict.result()

    async def close(self) -> None:
        """End an unfinished game, and close the connections of agents."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        for player in {id(each): each for each in self._agents.values()}.values():
            await player.close()


@dataclass
class Outside(Agent):
    """A seat whose replies come from outside."""

    kind = "outside"

    async def act(self, ask: Ask) -> Reply:
        reply: Reply = await InterviewQuestion(ask)
        return reply


def others_of(game: Game, seats: tuple[str, ...], specs: str | Mapping[str, str]) -> dict[str, Agent]:
    """The agents of all other seats: one spec for all of them, or seat to spec."""
    free = [seat for seat in game.seats if seat not in seats]
    if isinstance(specs, str):
        specs = dict.fromkeys(free, specs)
    for seat in specs:
        if seat not in free:
            raise UnknownName(f"other seat of {game.name}", seat, free)
    return {seat: agent(specs.get(seat, RANDOM), game) for seat in free}


class Turns:
    """A game in which some seats are played from outside.

    Args:
        game: The game, or its spec.
        seats: Those seats; by default the first one. Seats that act together are asked one after the other.
        others: Who plays the other seats: a spec for all, or seat to spec. By default those of the preset in
            the spec of the game, else `bot/random`. Models are refused: they need an event loop
            (`ludens.rollouts`).
        sees: What the asks show: `image`, `text`, `both`, `offered`, or `nothing`, which is fastest.
        render: Theme and size of pictures.
        config: Horizon and limits.
        patient: Whether a reply may be refused any number of times; else retries and fallback of the config
            apply.
    """

    def __init__(
        self,
        game: Game | str,
        seats: Sequence[str] = (),
        others: str | Mapping[str, str] | None = None,
        *,
        sees: Sees = "offered",
        render: RenderOptions | None = None,
        config: PlayConfig | None = None,
        patient: bool = True,
    ) -> None:
        if others is None:
            preset = preset_of(game) if isinstance(game, str) else None
            others = RANDOM if preset is None else preset.others
        self.game = make(game) if isinstance(game, str) else game
        self.seats = tuple(seats) or self.game.seats[:1]
        for seat in self.seats:
            check_seat(self.game, seat)
        self.render, self._config = render or RenderOptions(), config or PlayConfig()
        self._agents = others_of(self.game, self.seats, others)
        for name, player in self._agents.items():
            if player.waits:
                raise BadOption(f"{name} cannot be played by {player.spec} here: only by bots.")
        outside = Outside()
        outside.sees, outside.unlimited_retries = sees, patient
        self._agents |= dict.fromkeys(self.seats, outside)
        self._interview: Interview[Episode] | None = None

    state: State
    """The current state; after the episode the last one."""
    seed: int
    ask: Ask | None
    """What a seat is asked now; None when the episode is over."""

    @property
    def view(self) -> View:
        return view_of(self.game, self.render, self.seed)

    def reset(self, seed: int) -> Ask | None:
        """Start an episode, and play until a seat must act."""
        self.close()
        self.seed, self.state = seed, self.game.start(seed)
        episode = play(
            self.game, self._agents, seed, first=self.state, render=self.render, config=self._config
        )
        self._interview = Interview(episode)
        self.ask = self._interview.proceed()
        return self.ask

    def act(self, action: str) -> Ask | None:
        """Take an action by its canonical name; returns the next ask, None when the episode is over."""
        return self._answer(Reply(action=action))

    def reply(self, text: str) -> Ask | None:
        """Reply as a model would: the action is read from the text by the format of the ask."""
        return self._answer(Reply(text))

    def _answer(self, reply: Reply) -> Ask | None:
        if self._interview is None or self._interview.over:
            raise BadOption("the episode is over or has not begun: call reset.")
        self.ask = self._interview.proceed(reply)
        return self.ask

    @property
    def episode(self) -> Episode | None:
        """The record of the episode, once it is over."""
        interview = self._interview
        return interview.result if interview is not None and interview.over else None

    def close(self) -> None:
        """End an unfinished episode."""
        if self._interview is not None and not self._interview.over:
            self._interview.close()
        self._interview = None
