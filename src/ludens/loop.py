"""The loop: plays one episode.

Ask every seat that must act, read the replies, retry as the config allows, else apply the fallback; record
everything; tell the observer; return an `Episode`. Nothing here knows which game is played or who plays it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from logging import getLogger
from math import isfinite
from time import perf_counter

import orjson

from ludens.attempts import SeatFailed, attempt
from ludens.core.activity import current_activity
from ludens.core.agent import Agent
from ludens.core.ask import Ask, Exchange, build_ask
from ludens.core.clock import Clock
from ludens.core.config import PlayConfig, check_seats, episode_stream, fallback_action, forfeits
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import AgentFailure, UsageError
from ludens.core.game import Game
from ludens.core.plain import storable
from ludens.core.random import Stream
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of

log = getLogger("ludens.loop")


@dataclass(frozen=True, slots=True)
class StepEvent:
    """The moves of one step and the state they led to."""

    step: int
    state: State
    moves: tuple[Move, ...]


class Observer:
    """Receives the events of an episode; override what you need. Its exceptions are raised by `play`."""

    def asked(self, ask: Ask) -> None:
        """A seat is about to be asked."""

    def replied(self, ask: Ask, attempt: Try) -> None:
        """A seat has replied, and its reply was read."""

    def stepped(self, event: StepEvent) -> None:
        """All moves of a step were applied."""


class OnStep(Observer):
    """Calls a function after every step."""

    def __init__(self, call: Callable[[StepEvent], None]) -> None:
        self._call = call

    def stepped(self, event: StepEvent) -> None:
        self._call(event)


class ObserverFailed(Exception):
    """Wraps an exception of an observer, to distinguish it from those of agents and games."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


def notify(observer: Observer, event: str, *args: object) -> None:
    """Call the method of the observer that is named like the event."""
    try:
        getattr(observer, event)(*args)
    except Exception as error:
        raise ObserverFailed(error) from error


async def play(
    game: Game,
    agents: Mapping[str, Agent],
    seed: int,
    *,
    sample: int = 0,
    state: State | None = None,
    first: State | None = None,
    opening: Sequence[Mapping[str, str]] = (),
    render: RenderOptions | None = None,
    config: PlayConfig | None = None,
    observer: Observer | None = None,
    void_on_error: bool = False,
    clock: Clock | None = None,
) -> Episode:
    """Play one episode. An `AgentFailure` or an exception of the game voids it; a bug in an agent is raised.

    Args:
        game: The game.
        agents: Seat to agent; one agent may play several seats.
        seed: Determines everything random: deals, bots, fallbacks.
        sample: Distinguishes several episodes of one seed: bots and fallbacks draw other numbers.
        state: Where to begin, instead of the start; it is not changed.
        first: What `game.start(seed)` returned, if it was called already; afterwards it is the last state.
        opening: The joint actions that lead there, recorded so that the episode can be replayed.
        render: Theme, size and templates.
        config: Retries, fallback and limits.
        observer: Receives the events of the episode.
        void_on_error: Whether bugs in agents void the episode and are logged, instead of being raised.
        clock: Ends the steps of a game in real time; by default one of the event loop.
    """
    check_seats(game, agents)
    render, config = render or RenderOptions(), config or PlayConfig()
    episode = Episode(
        game=game.name,
        version=game.version,
        options=game.options,
        seed=seed,
        seats={seat: agents[seat].spec for seat in game.seats},
        sample=sample,
        theme=render.theme,
        size=render.size,
        config=config.as_dict(),
        templates=render.templates.as_dict() if render.templates else {},
        prompt_templates={seat: own for seat in game.seats if (own := agents[seat].templates)},
        opening=[dict(actions) for actions in opening],
        branched=state is not None and not opening,
    )
    table, failure = _Table(game, episode, agents, config, observer, clock), None
    try:
        with current_activity().running():
            table.start(render, state, first)
            while table.state.to_act and table.step < config.horizon:
                if not table.apply(await table.ask(table.state.to_act)):
                    break
            table.finish()
    except Exception as error:
        failure = error
    if failure is not None:
        table.void(failure, void_on_error)
    episode.remarks = sorted({remark for agent in table.agents.values() for remark in agent.remarks})
    return episode


class _Table:
    state: State

    def __init__(
        self,
        game: Game,
        episode: Episode,
        agents: Mapping[str, Agent],
        config: PlayConfig,
        observer: Observer | None,
        clock: Clock | None,
    ) -> None:
        self.game, self.episode, self.config, self.observer = game, episode, config, observer
        self.step, self.begun = 0, list[Move]()

        def random(seat: str) -> Stream:
            return episode_stream(episode.seed, episode.sample, "agent", seat)

        self.agents = {seat: agents[seat].sit(game, seat, random(seat)) for seat in game.seats}
        self.histories = {seat: agent.history() for seat, agent in self.agents.items()}
        episode.sees = {seat: agent.sees for seat, agent in self.agents.items()}
        episode.unlimited_retries = [seat for seat, agent in self.agents.items() if agent.unlimited_retries]
        self.clock: Clock | None = None
        if game.step_seconds is not None and any(agent.waits for agent in self.agents.values()):
            self.clock = clock or Clock(game.step_seconds)

    def start(self, render: RenderOptions, state: State | None, first: State | None) -> None:
        """Set up the first state: the given one, or the start with the opening applied."""
        self.view = view_of(self.game, render, self.episode.seed)
        if state is not None:
            self.state = state.clone()
        else:
            self.state = self.game.start(self.episode.seed) if first is None else first
        for actions in () if state else self.episode.opening:
            self.state.apply(actions)

    async def ask(self, seats: tuple[str, ...]) -> tuple[Move, ...]:
        """One move of every seat, asked at the same time when there is something to wait for."""
        over = self.clock.start_step() if self.clock is not None else None
        if over is not None:
            moves = await self._ask_together(seats, over)
            with current_activity().waiting():
                await over
            return moves
        if len(seats) == 1:
            return (await self._move(seats[0]),)
        if sum(self.agents[seat].waits for seat in seats) < 2:
            return tuple([await self._move(seat) for seat in seats])
        return await self._ask_together(seats)

    async def _ask_together(
        self, seats: tuple[str, ...], over: asyncio.Future[None] | None = None
    ) -> tuple[Move, ...]:
        results = await current_activity().gather(*(self._move(seat, over) for seat in seats))
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return tuple(result for result in results if isinstance(result, Move))

    def apply(self, moves: tuple[Move, ...]) -> bool:
        """Record the moves and apply them unless a seat forfeits; returns whether the game goes on."""
        episode, state = self.episode, self.state
        episode.moves += moves
        lost = [m.seat for m in moves if m.verdict == "fallback" and forfeits(state, m.seat, self.config)]
        if lost:
            episode.status, episode.culprit = "forfeit", lost[0]
            return False
        state.apply({move.seat: move.action for move in moves})
        if self.observer is not None:
            notify(self.observer, "stepped", StepEvent(self.step, state, moves))
        self.step += 1
        return True

    def finish(self) -> None:
        episode, state = self.episode, self.state
        forfeit = episode.status == "forfeit"
        returns = state.forfeited(episode.culprit) if forfeit else state.returns
        if not all(map(isfinite, returns.values())):
            raise ValueError(f"the returns are not finite: {returns}")
        orjson.dumps(facts := state.facts)  # what cannot be stored is a fault of the game
        episode.status = "forfeit" if forfeit else "horizon" if state.to_act else "done"
        episode.returns, episode.facts = returns, facts

    def void(self, error: Exception, void_on_error: bool) -> None:
        """Record why the episode cannot go on and the replies in the unfinished step, or raise the error."""
        episode, cause = self.episode, error
        if isinstance(error, SeatFailed | ObserverFailed):
            cause = error.cause
        if not isinstance(cause, AgentFailure):
            of_agent = isinstance(error, SeatFailed)
            if isinstance(error, UsageError | ObserverFailed) or (of_agent and not void_on_error):
                raise cause
            log.error("%s with seed %d is void", episode.game, episode.seed, exc_info=cause)
        episode.status, episode.error = "void", f"{self.game.name} raised {type(error).__name__}: {error}"
        episode.unfinished = [move for move in self.begun[len(episode.moves) :] if move.tries]
        if isinstance(error, SeatFailed):
            episode.culprit, episode.error = error.seat, str(error)
            episode.returns, episode.facts = self.state.returns, self.state.facts
        episode.error = storable(episode.error)

    async def _move(self, seat: str, over: asyncio.Future[None] | None = None) -> Move:
        """Ask a seat until its reply is a legal action, its retries are used up, or the step is over."""
        agent, history, state = self.agents[seat], self.histories[seat], self.state
        ask = build_ask(
            self.view,
            state,
            seat,
            agent.sees,
            self.config,
            history,
            self.step,
            self.episode.sample,
            agent.tools,
        )
        if agent.fills_forms:
            ask.form, ask.rules = self.view.form(state, seat), self.view.rules_for_person(seat)
            notes = self.view.notes_for_person(state, seat)
            ask.observation = replace(ask.observation, notes=notes)
        move = Move(self.step, seat, "", "void", [picture.hash for picture in ask.observation.images])
        self.begun.append(move)
        if self.observer is not None:
            notify(self.observer, "asked", ask)
        start = perf_counter()
        while not move.tries or self._may_retry(agent, move, over):
            tried, action = await attempt(agent, ask, state, self.config, over)
            if self.observer is not None:
                notify(self.observer, "replied", ask, tried)
            if action is not None:
                move.action, move.verdict = action, "retried" if move.tries else "ok"
                if move.tries or tried.usage is not None or tried.text != action or tried.reasoning:
                    move.tries.append(tried)
                break
            move.tries.append(tried)
            ask = ask.again(tried.text, tried.reason)
        else:
            seed, sample = self.episode.seed, self.episode.sample
            move.action = fallback_action(state, seat, self.config, seed, sample, self.step)
            move.verdict = "fallback"
        move.ms = round((perf_counter() - start) * 1000, 3)
        if history.empty:
            history.moves += 1
        else:
            history.add(Exchange(self.step, ask.observation, move.said, bool(move.pictures)))
        return move

    def _may_retry(self, agent: Agent, move: Move, over: asyncio.Future[None] | None) -> bool:
        if self.clock is not None and (
            move.tries[-1].verdict == "late" or (over is not None and over.done())
        ):
            return False
        return agent.unlimited_retries or len(move.tries) <= self.config.retries
