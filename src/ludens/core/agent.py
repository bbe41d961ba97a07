"""Who plays: an agent is asked and replies. Bots, models and people share this one door."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

from ludens.core.game import Game
from ludens.core.options import options_of
from ludens.core.random import Stream
from ludens.core.reply import ReplyFormat
from ludens.core.spec import Spec
from ludens.core.state import Legal, State
from ludens.core.view import Observation, Sees

if TYPE_CHECKING:
    from ludens.core.episode import Usage


@dataclass(frozen=True, slots=True)
class Ask:
    """One question put to one seat."""

    seat: str
    legal: Legal
    format: ReplyFormat
    observation: Observation = field(default_factory=Observation)
    rules: str = ""
    listed: bool = True
    """Whether the player may be told what is legal; bots and readers know it in any case."""
    move: int = 0
    """How many moves this seat has made before."""
    refused: Sequence[tuple[str, str]] = ()
    """Earlier replies to this very question, each with the reason why it was refused."""
    state: State | None = None
    """Only for agents with `sees = "state"`. Theirs to read, not to change."""


@dataclass(slots=True)
class Reply:
    """What came back. Bots and people give the action itself; models give text that the format reads."""

    text: str
    action: str | None = None
    usage: Usage | None = None
    finish: str = ""
    """Why the text ended, when it is worth recording: `length`, `filtered`, `refused`."""


@dataclass
class Agent(ABC):
    """A player. One agent may sit at many tables at once: `sit` gives the copy for one seat of one episode.

    Subclasses are dataclasses; fields made with `option` can be set in a spec (`bot/mcts?simulations=50`).
    """

    sees: Sees = field(default="offered", init=False, repr=False)
    waits: bool = field(default=False, init=False, repr=False)
    """Whether an answer takes waiting (a network, a person): such seats are asked at the same time."""
    kind: ClassVar[str] = ""
    """How specs call this agent: `bot/random`."""

    game: Game = field(init=False, repr=False, compare=False)
    seat: str = field(init=False, repr=False, compare=False)
    random: Stream = field(init=False, repr=False, compare=False)

    def sit(self, game: Game, seat: str, random: Stream) -> Self:
        """A copy of this agent for one seat of one episode, with its own memory and random stream."""
        seated = copy.copy(self)
        seated.game, seated.seat, seated.random = game, seat, random
        seated.begin()
        return seated

    @property
    def spec(self) -> str:
        """The spec that makes this agent again, without secrets: every option that is not its default."""
        changed = {
            name: str(getattr(self, name))
            for name, declared in options_of(type(self)).items()
            if getattr(self, name) != declared.default
        }
        return str(Spec(self.kind, None, changed))

    @property
    def remarks(self) -> Sequence[str]:
        """What a report must say about this player, such as options that its model does not take."""
        return ()

    def begin(self) -> None:
        """Prepare for an episode, or raise a `UsageError` when this agent cannot play this game."""

    @abstractmethod
    async def act(self, ask: Ask) -> Reply:
        """Answer. Raise `AgentFailure` when no answer can be had."""

    async def close(self) -> None:
        """Let go of connections; called once, on the agent that was made, not on seated copies."""
