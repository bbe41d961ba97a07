"""Players that never look, and what they know: words, legal actions where they are listed, own earlier
replies and the reasons why some were refused.

Every player can be rebuilt from its definition, plain JSON (`rebuilt`).
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar, Literal

from ludens.agents import agent
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.state import State
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, View, view_of

Definition = dict[str, Any]
"""Plain JSON: `kind`, and what a player of this kind is made from."""
Key = Literal["stage", "move", "refusals", "words"]
"""What a table of moves branches on: the stage of the game; the number of the move; also own moves and which
were refused; also every word received."""


def received_words(view: View, state: State, seat: str, config: PlayConfig) -> str:
    """What a seat with blank pictures receives: the same in two states that it cannot tell apart."""
    legal = state.legal(seat)
    text = view.text(state, seat) if view.offers(seat) == "text" else ""
    listed = ", ".join(legal) if config.listed else ""
    return "\n".join((text, view.notes(state, seat), listed, view.format(state, seat).ask(legal)))


@dataclass(frozen=True, slots=True)
class SeatKnowledge:
    """What a player that never looks knows when it is asked."""

    seat: str
    stage: str
    move: int
    """Own moves before this one."""
    words: str
    legal: tuple[str, ...]
    """The legal actions; empty where they are not listed or the action is a text."""
    refused: tuple[tuple[str, str], ...]
    """Own replies to this question that were refused, and why."""
    trail: str
    """Stands for all own actions and refusals so far."""
    history: str
    """Stands for all that and every word received."""
    role: str = ""

    def key(self, by: Key) -> str:
        """Where a table of moves looks for an action."""
        if by == "stage":
            return f"{self.seat}/{self.role}/{self.stage}/{len(self.refused)}"
        if by == "move":
            return f"{self.seat}/{self.move}/{len(self.refused)}"
        return digest(self.seat, self.trail if by == "refusals" else self.history)

    def allows(self, action: str) -> bool:
        """Whether nothing is known that speaks against an action."""
        if self.legal and action not in self.legal:
            return False
        return all(action != reply for reply, _ in self.refused)


def digest(*parts: object) -> str:
    return blake2b(repr(parts).encode(), digest_size=6).hexdigest()


@dataclass
class WordPlayer(Agent):
    """A player that uses nothing of the state but the words that its seat receives."""

    config: PlayConfig = field(default_factory=PlayConfig)
    sees = "state"
    parameters: ClassVar[tuple[str, ...]] = ()
    """The fields from which it is rebuilt, with the config of its task."""

    @property
    def definition(self) -> Definition:
        """What it can be rebuilt from."""
        return {"kind": self.kind, **{name: _as_json(getattr(self, name)) for name in self.parameters}}

    @property
    def memory(self) -> bool:
        """Whether it uses what happened earlier in the episode, besides the number of its move."""
        return True

    def begin(self) -> None:
        self._moves, self._trail, self._history, self._step = 0, "", "", -1
        self._last: tuple[str, ...] = ()
        self._before: tuple[str, ...] = ()
        """The replies to the question before."""

    @abstractmethod
    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        """The action. Players in training may use the whole ask; all others use `knowledge` alone."""

    async def act(self, ask: Ask) -> Reply:
        action = self.choose(self.knowledge(ask), ask)
        self._last = (*(reply for reply, _ in ask.refused), action)
        return Reply(action, action)

    def knowledge(self, ask: Ask) -> SeatKnowledge:
        """What is known now; called once for every ask."""
        assert ask.state is not None
        words = received_words(view_of(self.game, RenderOptions(), 0), ask.state, ask.seat, self.config)
        if ask.step != self._step:
            if self._step >= 0:
                self._moves += 1
                self._trail = digest(self._trail, self._last)
                self._history = digest(self._history, self._last)
            self._step, self._before, self._last = ask.step, self._last, ()
            self._history = digest(self._history, words)
        legal = tuple(ask.legal) if self.config.listed else ()
        refused = tuple(ask.refused)
        return SeatKnowledge(
            ask.seat,
            ask.stage,
            self._moves,
            words,
            legal,
            refused,
            digest(self._trail, [reply for reply, _ in refused]),
            digest(self._history, refused),
            ask.role,
        )


def _as_json(value: Any) -> Any:
    if isinstance(value, WordPlayer):
        return value.definition
    if isinstance(value, Mapping):
        return {name: _as_json(part) for name, part in value.items()}
    return [_as_json(part) for part in value] if isinstance(value, list | tuple) else value


def action_of(bot: Agent, ask: Ask) -> str:
    """What a bot plays."""
    reply = run_sync(bot.act(ask))
    return reply.action or ask.format.read(reply.text, ask.legal)


def first_allowed(knowledge: SeatKnowledge, candidates: Sequence[str]) -> str:
    """The first of some actions that may be legal; else the first legal one, or the first of all."""
    for action in candidates:
        if knowledge.allows(action):
            return action
    rest = (action for action in knowledge.legal if knowledge.allows(action))
    return next(rest, candidates[0] if candidates else next(iter(knowledge.legal), ""))


@dataclass
class Based(WordPlayer):
    """A player that plays as another one where it has no move of its own."""

    base: WordPlayer | None = field(default=None, kw_only=True)

    @property
    def memory(self) -> bool:
        return self.base is not None and self.base.memory

    def begin(self) -> None:
        super().begin()
        if self.base is not None:
            self.base = self.base.sit(self.game, self.seat, self.random)

    def as_base(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        """What the other player plays; the first legal action if there is none."""
        return first_allowed(knowledge, ()) if self.base is None else self.base.choose(knowledge, ask)


@dataclass
class Script(WordPlayer):
    """Plays a fixed list of actions in each seat, whatever happens."""

    actions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reserve: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What is tried when the action of the list is refused or not listed, or the list has ended."""
    kind = "script"
    parameters = ("actions", "reserve")

    @property
    def memory(self) -> bool:
        return False

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        own, move = self.actions.get(knowledge.seat, ()), knowledge.move
        reserve = self.reserve.get(knowledge.seat, ())
        return first_allowed(knowledge, [*own[move : move + 1], *reserve, *own[move + 1 :]])


@dataclass
class MoveTable(Based):
    """Looks up what it knows in a table of actions; where there is no entry, it plays as another player."""

    by: Key = "words"
    actions: Mapping[str, str] = field(default_factory=dict)
    kind = "tree"
    parameters = ("by", "actions", "base")

    @property
    def memory(self) -> bool:
        return self.by in ("refusals", "words") or super().memory

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        action = self.actions.get(knowledge.key(self.by))
        if action is not None and knowledge.allows(action):
            return action
        return self.as_base(knowledge, ask)


@dataclass
class BruteForce(WordPlayer):
    """Tries one action after the other and never one that it has tried before."""

    candidates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By seat, the most promising first."""
    again: bool = False
    """Whether it starts anew when the legal actions or the stage change."""
    kind = "brute force"
    parameters = ("candidates", "again")

    def begin(self) -> None:
        super().begin()
        self._tried: set[str] = set()
        self._about: tuple[object, ...] = ()

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        if self.again and self._about != (knowledge.stage, knowledge.legal):
            self._tried, self._about = set(), (knowledge.stage, knowledge.legal)
        own = self.candidates.get(knowledge.seat, ())
        untried = [action for action in own if action not in self._tried]
        action = first_allowed(knowledge, untried or list(own))
        self._tried.add(action)
        return action


_SAID = re.compile(r'^[\w ,.#-]{1,40}:\s*(?:"(?P<quoted>.+)"|(?P<plain>\S.*))$', re.MULTILINE)
_INDENTED = re.compile(r"^[\w ]{1,40}:\n((?:    .*\n?)+)", re.MULTILINE)

CopyMode = Literal["latest", "first", "two", "reversed"]
COPY_MODES: tuple[CopyMode, ...] = ("latest", "first", "two", "reversed")


def messages_in(words: str) -> list[str]:
    """What was said, in order: the texts after the names of speakers."""
    indented = ["\n".join(map(str.strip, block.splitlines())) for block in _INDENTED.findall(words)]
    return indented or [hit["quoted"] or hit["plain"] for hit in _SAID.finditer(words)]


@dataclass
class Copycat(Based):
    """Repeats what others said: the latest or the first message, two of them, or one in another order.

    Where actions are listed, it plays the one that was mentioned last. Before anybody has spoken, and in
    stages in which it does not copy, it plays as another player.
    """

    mode: CopyMode = "latest"
    stages: Sequence[str] = ()
    """In which it copies."""
    kind = "copy"
    parameters = ("mode", "stages", "base")

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        action = self._copied(knowledge) if knowledge.stage in self.stages else None
        return self.as_base(knowledge, ask) if action is None else action

    def _copied(self, knowledge: SeatKnowledge) -> str | None:
        if knowledge.legal:
            before = knowledge.words.partition(", ".join(knowledge.legal))[0]
            places = {action: before.rfind(action) for action in knowledge.legal if knowledge.allows(action)}
            last = max(places, key=lambda action: places[action], default=None)
            return last if last is not None and places[last] >= 0 else None
        messages = messages_in(knowledge.words)
        if not messages:
            return None
        if self.mode == "first":
            return messages[0]
        if self.mode == "two" and len(messages) > 1:
            return f"{messages[-2].rstrip('.')} and {messages[-1][:1].lower()}{messages[-1][1:]}"
        return " ".join(reversed(messages[-1].split())) if self.mode == "reversed" else messages[-1]


@dataclass
class OwnBlind(WordPlayer):
    """A bot of the game that never looks."""

    bot: str = "bot/blind"
    kind = "bot"
    parameters = ("bot",)

    def begin(self) -> None:
        super().begin()
        self._bot = agent(self.bot, self.game).sit(self.game, self.seat, self.random)

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        return action_of(self._bot, ask)


def part_of(knowledge: SeatKnowledge) -> str:
    """The part of a game that a question belongs to: role and stage."""
    return f"{knowledge.role}/{knowledge.stage}"


@dataclass
class Mixture(Based):
    """Plays each part of a game, a stage in a role, as another player."""

    parts: Mapping[str, WordPlayer] = field(default_factory=dict)
    kind = "mixed"
    parameters = ("parts", "base")

    @property
    def memory(self) -> bool:
        return super().memory or any(one.memory for one in self.parts.values())

    def begin(self) -> None:
        super().begin()
        self.parts = {
            part: one.sit(self.game, self.seat, self.random.fork(part)) for part, one in self.parts.items()
        }

    def choose(self, knowledge: SeatKnowledge, ask: Ask) -> str:
        part = self.parts.get(part_of(knowledge))
        return self.as_base(knowledge, ask) if part is None else part.choose(knowledge, ask)
