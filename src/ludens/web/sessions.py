"""A game that people play in their browsers, alone or with bots, models and friends.

A session has a token for every person's seat, and plays one game after the other: `again` begins the next.
The browser of a seat is sent the whole of what its person may know whenever that changes, so that reloading
the page, losing the connection and skipping messages make no difference.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hmac import compare_digest
from time import monotonic
from typing import Any, Protocol

from aiohttp.web import HTTPServiceUnavailable

from ludens.agents.human import form_reply, left_message
from ludens.core.agent import Agent, Reply
from ludens.core.ask import Ask
from ludens.core.clock import Clock
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Move, Try
from ludens.core.errors import AgentFailure, BadFile, Late, MoveError, UsageError
from ludens.core.forms import Choose, Form
from ludens.core.game import Game
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.loop import Observer, StepEvent, play
from ludens.run.viewer import outcome_of
from ludens.web.journal import GameEvent, Journal, Journaled, JournalReply, TableRecord
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
        turn = self.session.turn(self.seat)
        if not ask.refused:
            self.unlimited_retries = True
        if not self.unlimited_retries:  # time was up a moment ago; the remaining tries are not waited for
            raise Late("no reply within the time limit.")
        journal = self.session.journal
        if (recorded := journal.reply(self.seat, turn)) is not None:
            await asyncio.sleep(0)  # others go on while a long game is repeated
            self.session.repeat_turn(self.seat)
            self.unlimited_retries = recorded.refused != "late"
            return self.session.reply_of(self.seat, recorded.repeat().text, ask)
        entry = partial(journal.entry, self.seat, turn, journal.now())
        try:
            async with asyncio.timeout_at(self.session.deadline):
                return await self._typed(ask, entry)
        except TimeoutError:
            self.unlimited_retries = False
            late = Late("the time for this game is up.")
            journal.note(entry(Reply(), late))
            raise late from None
        except asyncio.CancelledError:  # the limit of one reply
            self.unlimited_retries = False
            journal.note(entry(Reply(), Late("no reply within the time limit.")))
            raise

    async def _typed(self, ask: Ask, entry: Callable[[Reply], JournalReply]) -> Reply:
        """What the person has typed, once it is in the journal."""
        assert self.session is not None
        while True:
            typed = await self.session.seat_asked(self.seat, ask)
            try:
                await self.session.journal.save(entry(Reply(typed)))
            except BadFile as error:
                LOG.error("a move was not saved: %s", error)
                ask = replace(ask, refused=(*ask.refused, (typed, NOT_SAVED)))
            else:
                self.session.acknowledge(self.seat)
                return self.session.reply_of(self.seat, typed, ask)


LOG = logging.getLogger(__name__)
NOT_SAVED = "The server could not save this move; please send it again in a moment."

LOG_LINES = 400
"""How many of the latest moves a browser is sent."""


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
    acting = [each for each in state.to_act if each != seat]
    waiting_for = view.public_name(state, acting[0]) if acting else ""
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
        moves_by_name = {view.public_name(state, move.seat): move for move in moves}
        for name, move in sorted(moves_by_name.items()):  # the order of seats can reveal roles
            public = view.public_action(state, move.seat, move.action)
            for seat, lines in self._lines.items():
                own = seat == move.seat
                action = view.label(move.action if own else public)
                lines.append({"name": name, "own": own, "action": action})
                del lines[:-LOG_LINES]

    def of(self, seat: str) -> list[dict[str, Any]]:
        return self._lines[seat]


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
    last_seen: float = field(default_factory=monotonic)
    joined: bool = False
    """Whether a browser has ever shown the seat."""
    number: int = 0
    """The number of the question; a move names the question it answers, so that none counts twice."""
    received: int = 0
    """The number of the last question whose answer is saved."""
    ask: Ask | None = None
    form: Form | None = None
    """How the person answers the question."""
    reply: asyncio.Future[str] | None = None
    clocked: bool = False
    """Whether the game has a clock: then a move counts for the step in which it arrives, or for the next."""
    early: str | None = None
    """A move for the next question of a game with a clock."""

    def admits(self, token: str) -> bool:
        return compare_digest(token.encode(), self.token.encode())

    def connect(self, listener: Listener) -> None:
        """Show the seat in this browser, and no longer in another one."""
        if self.listener is not None:
            self.listener.replace()
        self.listener, self.joined, self.last_seen = listener, True, monotonic()
        listener.notify()

    def disconnect(self, listener: Listener) -> None:
        if self.listener is listener:
            self.listener, self.last_seen = None, monotonic()

    def away(self) -> float:
        """For how many seconds no browser has shown the seat."""
        return 0.0 if self.listener is not None else monotonic() - self.last_seen

    def move(self, number: int, typed: str) -> str:
        """Answer the question with this number; returns a remark where that is not possible."""
        if self.clocked and number <= self.number:
            if self.reply is None or self.reply.done():
                self.early = typed
                return ""
            number = self.number
        if self.reply is None or self.reply.done() or number != self.number:
            return "This move was already made." if number <= self.number else "It is not your turn."
        try:
            if self.form is not None:
                self.form.read(typed)
        except MoveError as error:
            return str(error)
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

    @property
    def opponents(self) -> dict[str, str]:
        """The specs of the other seats."""
        return {seat: spec for seat, spec in self.specs.items() if spec != HUMAN}


class Session(Observer):
    """The games of some people at one table.

    Args:
        setup: The first game.
        agents: Makes the agents of the other seats of a game, anew for every one.
        save: Stores an episode; returns what people are told about it.
        explain: Whether people are told why another player failed, which may tell what kind of player it is.
        start: Called before anybody sees a game; it does not begin if this raises a `UsageError`.
        journal: Where what happens is kept, for a server that is started again.
    """

    def __init__(
        self,
        setup: Setup,
        agents: Callable[[Setup], Mapping[str, Agent]],
        save: Callable[[Setup, Episode], str] | None = None,
        explain: bool = True,
        start: Callable[[], None] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self.id = secrets.token_urlsafe(9)
        self.journal = journal or Journal()
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
        self.ending = ""
        """Why the game is over, told to everybody; empty while it is played."""
        self.saved = ""
        self.replay = ""
        """The address of the page of the saved episode."""
        self.game_number = 0
        self.void_games = 0
        self.log = MoveLog(())
        self._task: asyncio.Task[None] | None = None
        self._notifies = False
        self._replies = Counter[str]()
        """How many replies of each seat were read in this game."""
        self._repeated_ms: dict[str, float] = {}
        self.caught_up = asyncio.Event()
        """Set unless the server has just been started again and repeats the game: nobody is shown that."""
        self.caught_up.set()

    def keep(self, about: Mapping[str, Any]) -> None:
        """Begin the journal of the next game; `about` is what is needed to set it up again."""
        tokens = {name: seat.token for name, seat in self.seats.items()}
        turns = {name: seat.number for name, seat in self.seats.items()}
        number = self.game_number + 1
        self.journal.start(
            TableRecord(self.id, self.owner, tokens, number, turns, self.void_games, dict(about))
        )

    def resume(self) -> None:
        """Go on with the game of the journal."""
        record = self.journal.record
        assert record is not None
        if set(record.tokens) != set(self.seats) or set(record.turns) != set(self.seats):
            raise BadFile(f"the journal of {record.session} does not name the seats of people in its game.")
        self.id, self.owner = record.session, record.owner
        self.game_number, self.void_games = record.game_number - 1, record.void_games
        for name, seat in self.seats.items():
            seat.token, seat.joined = record.tokens[name], self.journal.begun
            seat.number = seat.received = record.turns[name]
        if self.journal.begun:
            self.caught_up.clear()
            self._begin()
        elif self.journal.end is not None:
            self.ending = self.journal.end.text

    @property
    def playing(self) -> bool:
        return self._task is not None and not self.ending

    def begin(self) -> None:
        """Begin the game, once all people are there."""
        if self._task is None and not self.ending and all(seat.joined for seat in self.seats.values()):
            try:
                if self._start is not None:
                    self._start()
            except UsageError as error:
                LOG.error("a game of %s cannot begin: %s", self.setup.game.name, error)
                self.ending = "The game cannot begin: the server cannot save it."
                self.changed()
                return
            self.journal.note(GameEvent("begun"))
            self._begin()

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        limit = self.setup.seconds
        self.game_number += 1
        self.journal.start_clock()
        self.deadline = None if limit is None else loop.time() + max(0.0, limit - self.journal.elapsed)
        self.log = MoveLog(tuple(self.seats))
        self.state = None
        self._replies.clear()
        self._repeated_ms.clear()
        for seat in self.seats.values():
            seat.clocked, seat.early = self.setup.game.step_seconds is not None, None
        self._task = loop.create_task(self._play(self.setup))
        self.changed()

    def again(self, setup: Setup, about: Mapping[str, Any]) -> None:
        """Play another game with the same people; `about` is for the journal."""
        if not self.ending or (self._task is not None and not self._task.done()):
            return
        self.keep(about)
        self.setup, self._task, self.episode, self.ending, self.saved = setup, None, None, "", ""
        self.replay = ""
        self.begin()

    async def _play(self, setup: Setup) -> None:
        try:
            self.state = state = await aside(setup.game.start, setup.seed)
            self._first = state.clone()
            self.changed()
            bots = self._make_agents(setup).items()
            agents = {seat: Journaled(agent=bot, journal=self.journal) for seat, bot in bots}
            people = dict.fromkeys(setup.people, Person(session=self))
            self.episode = episode = await play(
                setup.game,
                {**agents, **people},
                setup.seed,
                sample=setup.sample,
                first=state,
                render=setup.render,
                config=setup.config,
                observer=self,
                void_on_error=True,
                clock=SessionClock(self, setup.game.step_seconds) if setup.game.step_seconds else None,
            )
            self.ending = self.ending or _ending(episode, self._explain)
            if (end := self.journal.end) is not None:
                self.ending, self.saved = end.text, end.saved
            else:
                self.saved = self._saved(setup, episode)
        except HTTPServiceUnavailable as busy:
            self.ending = f"The game is void: {busy.text}"
        except UsageError as error:
            LOG.error("a game of %s cannot go on: %s", setup.game.name, error)
            self.ending = f"The game is void: {error if self._explain else FAILED}"
        except Exception:
            LOG.exception("a game of %s failed", setup.game.name)
            self.ending = "The game is void because of an error in Ludens; the terminal shows it."
        finally:
            if self.journal.end is None:
                self.void_games += self.episode is None or self.episode.status == "void"
                if self.ending:
                    self.journal.note(GameEvent("ended", text=self.ending, saved=self.saved))
            self.caught_up.set()
            self.changed()

    def _saved(self, setup: Setup, episode: Episode) -> str:
        """Save an episode; returns what people are told about it."""
        if self._save is None:
            return ""
        try:
            return self._save(setup, episode)
        except UsageError as error:
            LOG.error("a game of %s was not saved: %s", setup.game.name, error)
            self.ending = f"{self.ending} It could not be saved and does not count."
            return str(error) if self._explain else ""

    def leave(self, seat: str) -> None:
        """Void the game because a person leaves, and notify everybody at once."""
        if self._task is None:
            self.ending = "The game did not begin: somebody did not come."
            self.journal.note(GameEvent("ended", text=self.ending))
            self.changed()
        elif self.playing:
            name = "somebody" if self.state is None else self.setup.view.public_name(self.state, seat)
            self.ending = f"The game is void: {left_message(name)}"
            for each in self.seats.values():
                if each.reply is not None and not each.reply.done():
                    each.reply.set_exception(AgentFailure(left_message(seat)))
            self.journal.note(GameEvent("left", seat))
            self.changed()

    async def close(self) -> None:
        self.journal.close()
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    # What the loop calls

    def seat_asked(self, seat: str, ask: Ask) -> asyncio.Future[str]:
        person = self.seats[seat]
        person.reply = asyncio.get_running_loop().create_future()
        if not self.ending and self.journal.leaver:  # the server was killed before the game was void
            self.leave(self.journal.leaver)
        if self.ending or self.journal.end is not None:
            person.reply.set_exception(AgentFailure(left_message(self.journal.leaver)))
            return person.reply
        person.number += 1
        assert self.state is not None
        person.ask, person.form = ask, form_for(self.setup.view_for(seat), self.state, seat, ask)
        person.reply.add_done_callback(partial(self._answered, person))
        if person.early is not None:
            person.reply.set_result(person.early)
            person.early = None
        self.changed()
        return person.reply

    def turn(self, seat: str) -> int:
        """How many times the seat was asked in this game, the present question included."""
        return self._replies[seat] + 1

    def repeats_step(self) -> bool:
        """Whether the journal has what every person did in the next step."""
        return all(self.journal.reply(seat, self.turn(seat)) is not None for seat in self.seats)

    def repeat_turn(self, seat: str) -> None:
        """Count a question that was answered before the server was started again."""
        person = self.seats[seat]
        person.number += 1
        person.received = person.number

    def acknowledge(self, seat: str) -> None:
        """Tell the browser of a seat that its answer is saved."""
        person = self.seats[seat]
        person.received = person.number
        self.changed()

    def reply_of(self, seat: str, text: str, ask: Ask) -> Reply:
        """What the browser of a seat sent, as a reply to a question about the present state."""
        assert self.state is not None
        return form_reply(text, form_for(self.setup.view_for(seat), self.state, seat, ask))

    def _answered(self, person: PersonSeat, reply: asyncio.Future[str]) -> None:
        person.ask = None
        if reply.cancelled() or reply.exception() is not None:
            self.changed()  # else its browser is told when the answer is saved

    def asked(self, ask: Ask) -> None:
        if self.journal.reply(ask.seat, self.turn(ask.seat)) is None:
            self.caught_up.set()

    def replied(self, ask: Ask, attempt: Try) -> None:
        recorded = self.journal.reply(ask.seat, self.turn(ask.seat))
        self._replies[ask.seat] += 1
        if recorded is not None:
            if self._replies.total() >= self.journal.repeated:
                self.caught_up.set()
            attempt.ms = recorded.ms
            self._repeated_ms[ask.seat] = self._repeated_ms.get(ask.seat, 0.0) + recorded.ms

    def stepped(self, event: StepEvent) -> None:
        for move in event.moves:
            move.ms = round(move.ms + self._repeated_ms.pop(move.seat, 0.0), 3)
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
        person, view = self.seats[seat], self.setup.view_for(seat)
        fields: dict[str, Any] = {
            "type": "view",
            "game": self.game_number,
            "seat": seat,
            "rules": view.rules_for_person(seat),
            "missing": sum(not each.joined for each in self.seats.values()),
            "turn": person.number if person.ask else None,
            "received": person.received,
            "log": self.log.of(seat) if self.game_number else [],
            "ended": self.ending,
            "saved": self.saved,
        }
        if self.state is not None:
            ask = person.ask if not self.ending else None
            fields |= observation_fields(view, self.state, seat, ask, person.form)
        if self.setup.game.step_seconds is not None:
            fields["clock"] = self.setup.game.step_seconds
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


class SessionClock(Clock):
    """The clock of a game, which does not run while a server that was started again repeats the game."""

    def __init__(self, session: Session, seconds: float) -> None:
        super().__init__(seconds)
        self._session = session

    def start_step(self) -> asyncio.Future[None] | None:
        return None if self._session.repeats_step() else super().start_step()


def _ending(episode: Episode, explain: bool) -> str:
    return {
        "done": "The game is over.",
        "horizon": "The game has reached its last step.",
        "forfeit": f"{episode.culprit} has lost: out of time, or without a legal move.",
        "void": f"The game is void: {episode.error if explain else FAILED}",
    }[episode.status]
