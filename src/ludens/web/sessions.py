"""A game that people play in their browsers, alone or with bots, models and friends.

A session has a token for every person's seat, and plays one game after the other: `again` begins the next.
The browser of a seat is sent the whole of what its person may know whenever that changes, so that reloading
the page, losing the connection and skipping messages make no difference.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any, Protocol

from aiohttp import web
from aiohttp.web import HTTPServiceUnavailable

from ludens.agents.human import form_reply, left_message
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Move
from ludens.core.errors import AgentFailure, Late, MoveError, UsageError
from ludens.core.forms import Choose, Form
from ludens.core.game import Game
from ludens.core.observer import Observer, StepEvent
from ludens.core.registry import make
from ludens.core.spec import Spec
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.loop import play
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store
from ludens.web.ending import outcome_of
from ludens.web.pages import aside


@dataclass
class Person(Agent):
    """Every person of one game. Seated copies share the session."""

    session: Session | None = field(default=None, repr=False)
    kind = "human"
    sees = "both"
    waits = True
    unlimited_retries = True

    async def act(self, ask: Ask) -> Reply:
        assert self.session is not None
        if not ask.refused:
            self.unlimited_retries = True
        if not self.unlimited_retries:  # time was up a moment ago; the remaining tries are not waited for
            raise Late("no reply within the time limit.")
        try:
            async with asyncio.timeout_at(self.session.deadline):
                return self.session.reply_of(self.seat, await self.session.seat_asked(self.seat, ask), ask)
        except TimeoutError:
            self.unlimited_retries = False
            raise Late("the time for this game is up.") from None
        except asyncio.CancelledError:  # the limit of one reply
            self.unlimited_retries = False
            raise


LOG_LINES = 400
"""The moves that a browser is told; of longer games the last ones."""


def form_for(view: View, state: State, seat: str, ask: Ask) -> Form:
    """The form of a question; one that lists no actions where they may not be known."""
    form = view.form(state, seat)
    return form if ask.listed or not isinstance(form, Choose) else replace(form, listed=False)


def observation_fields(
    view: View, state: State, seat: str, ask: Ask | None, form: Form | None = None
) -> dict[str, Any]:
    """What a seat sees, and what it may do if it is asked."""
    own_side = bool(view.render.side)  # the question shows the board as everybody sees it
    observation = ask.observation if ask and not own_side else view.observe(state, seat, "both")
    # Which seats act at the same time can reveal roles.
    others = [each for each in state.to_act if each != seat]
    waiting_for = view.public_name(state, others[0]) if others else ""
    fields: dict[str, Any] = {
        "name": view.public_name(state, seat),
        "layout": view.layout(seat),
        "waiting": "the others" if len(state.to_act) > 1 else waiting_for,
        "images": [{"src": p.data_uri(), "width": p.width, "height": p.height} for p in observation.images],
        "text": observation.text,
        "notes": view.notes_for_person(state, seat),
    }
    if ask is not None:
        fields |= {
            "legal": list(ask.legal) if ask.listed else [],
            "form": (form or form_for(view, state, seat, ask)).describe(),
            "refused": as_sentence(ask.refused[-1][1]) if ask.refused else "",
        }
    return fields


def as_sentence(reason: str) -> str:
    """A reason as a person reads it: with a capital letter, and without the list that the form shows."""
    sentence, listed, _ = reason.partition("; legal: ")
    return sentence[:1].upper() + sentence[1:] + ("." if listed else "")


class MoveLog:
    """The moves of a game, as each seat may know them."""

    def __init__(self, seats: Sequence[str]) -> None:
        self._lines: dict[str, list[dict[str, Any]]] = {seat: [] for seat in seats}

    def add(self, view: View, state: State, moves: Sequence[Move]) -> None:
        named = {view.public_name(state, move.seat): move for move in moves}
        for name, move in sorted(named.items()):  # the order of seats can reveal roles
            public = view.public_action(state, move.seat, move.action)
            for seat, lines in self._lines.items():
                own = seat == move.seat
                action = view.label(move.action if own else public)
                lines.append({"name": name, "own": own, "action": action})
                del lines[:-LOG_LINES]

    def of(self, seat: str) -> list[dict[str, Any]]:
        return self._lines[seat]


LOG = logging.getLogger(__name__)
HUMAN = "human"

FAILED = "another player could not answer."


class Listener(Protocol):
    def notify(self) -> None:
        """What the seat is shown has changed."""

    def replace(self) -> None:
        """Another browser has taken the seat."""


@dataclass(eq=False)
class PersonSeat:
    seat: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    listener: Listener | None = None
    """The browser that shows the seat: the last one that connected."""
    seen: float = field(default_factory=monotonic)
    joined: bool = False
    """Whether a browser has ever shown the seat."""
    number: int = 0
    """The number of the question; a move names the question it answers, so that none counts twice."""
    received: int = 0
    """The number of the last question that was answered."""
    ask: Ask | None = None
    form: Form | None = None
    """How the person answers the question."""
    reply: asyncio.Future[str] | None = None

    def admits(self, token: str) -> bool:
        return compare_digest(token.encode(), self.token.encode())

    def connect(self, listener: Listener) -> None:
        """Show the seat in this browser, and no longer in another one."""
        if self.listener is not None:
            self.listener.replace()
        self.listener, self.joined, self.seen = listener, True, monotonic()
        listener.notify()

    def disconnect(self, listener: Listener) -> None:
        if self.listener is listener:
            self.listener, self.seen = None, monotonic()

    def away(self) -> float:
        """For how many seconds no browser has shown the seat."""
        return 0.0 if self.listener is not None else monotonic() - self.seen

    def move(self, number: int, typed: str) -> str:
        """Answer the question with this number; returns a remark where that is not possible."""
        if self.reply is None or self.reply.done() or number != self.number:
            return "This move was already made." if number <= self.number else "It is not your turn."
        try:
            if self.form is not None:
                self.form.read(typed)
        except MoveError as error:
            return str(error)
        self.received = number
        self.reply.set_result(typed)
        return ""


@dataclass(frozen=True)
class Setup:
    game: Game
    specs: Mapping[str, str]
    """Seat to spec; `human` for people."""
    seed: int = 0
    sample: int = 0
    config: PlayConfig = field(default_factory=PlayConfig)
    render: RenderOptions = field(default_factory=RenderOptions)
    seconds: float | None = None

    @property
    def view(self) -> View:
        return view_of(self.game, self.render, self.seed)

    def view_for(self, seat: str) -> View:
        """The view of the person in a seat, who sees a board from their own side."""
        side = seat if self.view.turns else ""
        return view_of(self.game, replace(self.render, side=side), self.seed)

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(seat for seat, spec in self.specs.items() if spec == HUMAN)


class Session(Observer):
    """The games of some people at one table.

    Args:
        setup: The first game.
        agents: Makes the agents of the other seats of a game, anew for every one.
        save: Stores an episode; returns what people are told about it.
        explain: Whether people are told why another player failed, which may tell what kind of player it is.
        start: Called before anybody sees a game; it does not begin if this raises a `UsageError`.
    """

    def __init__(
        self,
        setup: Setup,
        agents: Callable[[Setup], Mapping[str, Agent]],
        save: Callable[[Setup, Episode], str] | None = None,
        explain: bool = True,
        start: Callable[[], None] | None = None,
    ) -> None:
        self.id = secrets.token_urlsafe(9)
        self.owner = ""
        """The seat of the person who began the session."""
        self.setup, self._make_agents, self._save, self._explain = setup, agents, save, explain
        self._start = start
        self.seats = {seat: PersonSeat(seat) for seat in setup.people}
        self.state: State | None = None
        self._first: State | None = None
        self.deadline: float | None = None
        """The time of the event loop at which the game must be over."""
        self.episode: Episode | None = None
        self.ended = ""
        """Why the game is over, told to everybody; empty while it is played."""
        self.saved = ""
        self.replay = ""
        """The address of the page of the saved episode."""
        self.game_number = 0
        self.void_games = 0
        self.log = MoveLog(())
        self._task: asyncio.Task[None] | None = None
        self._notifies = False
        self._left = ""

    @property
    def playing(self) -> bool:
        return self._task is not None and not self.ended

    def begin(self) -> None:
        """Begin the game, once all people are there."""
        if self._task is None and not self.ended and all(seat.joined for seat in self.seats.values()):
            try:
                if self._start is not None:
                    self._start()
            except UsageError as error:
                LOG.error("a game of %s cannot begin: %s", self.setup.game.name, error)
                self.ended = "The game cannot begin: the server cannot save it."
                self.changed()
                return
            loop = asyncio.get_running_loop()
            limit = self.setup.seconds
            self.game_number += 1
            self.deadline = None if limit is None else loop.time() + limit
            self.log = MoveLog(tuple(self.seats))
            self.state = None
            self._task = loop.create_task(self._play(self.setup))
            self.changed()

    def again(self, setup: Setup) -> None:
        """Play another game with the same people."""
        if not self.ended or (self._task is not None and not self._task.done()):
            return
        self.setup, self._task, self.episode, self.ended, self.saved = setup, None, None, "", ""
        self.replay = ""
        self.begin()

    async def _play(self, setup: Setup) -> None:
        try:
            self.state = state = await aside(setup.game.start, setup.seed)
            self._first = state.clone()
            self.changed()
            agents = {**self._make_agents(setup), **dict.fromkeys(setup.people, Person(session=self))}
            self.episode = episode = await play(
                setup.game,
                agents,
                setup.seed,
                sample=setup.sample,
                first=state,
                render=setup.render,
                config=setup.config,
                observer=self,
                void_on_error=True,
            )
            self.ended = self.ended or _ending(episode, self._explain)
            self.saved = self._saved(setup, episode)
        except HTTPServiceUnavailable as busy:
            self.ended = f"The game is void: {busy.text}"
        except UsageError as error:
            LOG.error("a game of %s cannot go on: %s", setup.game.name, error)
            self.ended = f"The game is void: {error if self._explain else FAILED}"
        except Exception:
            LOG.exception("a game of %s failed", setup.game.name)
            self.ended = "The game is void because of an error in Ludens; the terminal shows it."
        finally:
            self.void_games += self.episode is None or self.episode.status == "void"
            self.changed()

    def _saved(self, setup: Setup, episode: Episode) -> str:
        """Save an episode; returns what people are told about it."""
        if self._save is None:
            return ""
        try:
            return self._save(setup, episode)
        except UsageError as error:
            LOG.error("a game of %s was not saved: %s", setup.game.name, error)
            self.ended = f"{self.ended} It could not be saved and does not count."
            return str(error) if self._explain else ""

    def leave(self, seat: str) -> None:
        """Void the game because a person leaves, and notify everybody at once."""
        if self._task is None:
            self.ended = "The game did not begin: somebody did not come."
            self.changed()
        elif self.playing:
            name = "somebody" if self.state is None else self.setup.view.public_name(self.state, seat)
            self.ended = f"The game is void: {left_message(name)}"
            for each in self.seats.values():
                if each.reply is not None and not each.reply.done():
                    each.reply.set_exception(AgentFailure(left_message(seat)))
            self._left = seat
            self.changed()

    async def close(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    # What the loop calls

    def seat_asked(self, seat: str, ask: Ask) -> asyncio.Future[str]:
        here = self.seats[seat]
        here.reply = asyncio.get_running_loop().create_future()
        if self.ended:
            here.reply.set_exception(AgentFailure(left_message(self._left)))
            return here.reply
        here.number += 1
        assert self.state is not None
        here.ask, here.form = ask, form_for(self.setup.view_for(seat), self.state, seat, ask)
        here.reply.add_done_callback(lambda _: self._answered(here))
        self.changed()
        return here.reply

    def reply_of(self, seat: str, sent: str, ask: Ask) -> Reply:
        """What the browser of a seat sent, as a reply to a question about the present state."""
        assert self.state is not None
        return form_reply(sent, form_for(self.setup.view_for(seat), self.state, seat, ask))

    def _answered(self, here: PersonSeat) -> None:
        here.ask = None
        self.changed()

    def stepped(self, event: StepEvent) -> None:
        self.state = event.state
        self.log.add(self.setup.view, event.state, event.moves)
        self.changed()

    # What browsers are sent

    def changed(self) -> None:
        """Notify every browser, once for all changes in one turn of the event loop."""
        if not self._notifies:
            self._notifies = True
            asyncio.get_running_loop().call_soon(self._notify)

    def _notify(self) -> None:
        self._notifies = False
        for seat in self.seats.values():
            if seat.listener is not None:
                seat.listener.notify()

    def snapshot(self, seat: str) -> dict[str, Any]:
        """Everything that the browser of a seat shows."""
        here, view = self.seats[seat], self.setup.view_for(seat)
        fields: dict[str, Any] = {
            "type": "view",
            "game": self.game_number,
            "seat": seat,
            "rules": view.rules_for_person(seat),
            "missing": sum(not each.joined for each in self.seats.values()),
            "turn": here.number if here.ask else None,
            "received": here.received,
            "log": self.log.of(seat) if self.game_number else [],
            "ended": self.ended,
            "saved": self.saved,
        }
        if self.state is not None:
            ask = here.ask if not self.ended else None
            fields |= observation_fields(view, self.state, seat, ask, here.form)
        if self.deadline is not None:
            fields["seconds"] = round(max(0.0, self.deadline - asyncio.get_running_loop().time()), 1)
        if self.episode is not None and self.episode.status != "void":
            specs = self.setup.specs if self._explain else {}
            fields |= {
                "outcome": outcome_of(self.setup.game, self.episode, seat, specs),
                "returns": self.episode.returns,
                "answer": self._answer(self.episode),
                "replay": self.replay,
            }
        return fields

    def _answer(self, episode: Episode) -> str:
        """The right answer of a question: a game of one seat and one move that knows it."""
        seats = self.setup.game.seats
        if len(seats) > 1 or len(episode.moves) != 1 or self._first is None:
            return ""
        return self.setup.view.label(self._first.solution(seats[0]) or "")


def _ending(episode: Episode, explain: bool) -> str:
    return {
        "done": "The game is over.",
        "horizon": "The game has reached its last step.",
        "forfeit": f"{episode.culprit} has lost: out of time, or without a legal move.",
        "void": f"The game is void: {episode.error if explain else FAILED}",
    }[episode.status]


def plan_of(setup: Setup) -> Plan:
    suite = Spec("play", None, {"game": spec_of(setup.game)})
    return make_plan(
        str(suite),
        {HUMAN: HUMAN},
        {seat: spec for seat, spec in setup.specs.items() if spec != HUMAN},
        seed=setup.seed,
        theme=setup.render.theme,
        size=setup.render.size,
    )


def spec_of(game: Game) -> str:
    usual = make(game.name).options
    changed = {name: str(value) for name, value in game.options.items() if value != usual[name]}
    return str(Spec(game.name, None, changed))


def save_game(runs: Path, setup: Setup, episode: Episode) -> Path:
    """Write the episode into a new run folder next to the others; returns the folder."""
    parent = runs.parent if (runs / "run.json").exists() else runs
    name = re.sub(r"[^a-z0-9]+", "-", setup.game.name.lower())
    folder = parent / f"play-{datetime.now():%Y%m%d-%H%M%S}-{name}-{token_hex(3)}"
    plan = plan_of(setup)
    [job] = plan.jobs
    with Store.create(folder, plan) as store:
        store.save(job, episode)
    return folder


MOST = 2_000
KEPT_SECONDS = 3_600.0
"""How long a session waits for people to come back."""
_SWEEP_SECONDS = 10.0


class Tables:
    def __init__(self, most: int = MOST) -> None:
        self.sessions: dict[str, Session] = {}
        self._most = most

    def add(self, session: Session) -> None:
        """Keep a session; refuse it when there are too many."""
        if len(self.sessions) >= self._most:
            self.forget(0.0)
        if len(self.sessions) >= self._most:
            raise web.HTTPServiceUnavailable(text="Too many games are being played; try again later.")
        self.sessions[session.id] = session

    def forget(self, seconds: float) -> None:
        """End games that nobody has looked at for this many seconds, and forget sessions without a game."""
        for name, session in list(self.sessions.items()):
            if min(seat.away() for seat in session.seats.values()) <= seconds:
                continue
            if not session.playing:
                del self.sessions[name]
            elif seconds:
                session.leave(next(iter(session.seats)))

    async def sweep(self) -> None:
        """Forget old sessions at intervals, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.forget(KEPT_SECONDS)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self.sessions.values()))
