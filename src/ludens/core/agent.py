"""Who plays: an agent is asked and replies. Bots, models and people share this interface."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.ask import Ask, History
from ludens.core.game import Game
from ludens.core.options import check_options, option, options_of
from ludens.core.random import Stream
from ludens.core.spec import Spec
from ludens.core.templates import Sections
from ludens.core.view import Sees

if TYPE_CHECKING:
    from ludens.core.episode import Usage

__all__ = ["Agent", "Ask", "Bot", "ReasoningBot", "Reply"]


@dataclass(slots=True)
class Reply:
    """The answer to an ask. Bots and people give the action itself, models a text that the format reads."""

    text: str = ""
    """The action by default, where one is given."""
    action: str | None = None
    usage: Usage | None = None
    finish: str = ""
    """Why the text ended, where it matters: `length`, `filtered`, `refused`."""
    reasoning: str = ""
    """What the model thought before answering, where the provider shows it."""
    tokens: Any = field(default=None, repr=False, compare=False)
    """The tokens fed and sampled (`ludens.models.Tokens`), where the model runs in this process."""

    def __post_init__(self) -> None:
        self.text = self.text or self.action or ""


@dataclass
class Agent(ABC):
    """A player. One agent can play many seats at once: `sit` returns the copy for one seat of one episode.

    Subclasses are dataclasses; fields made with `option` can be set in a spec (`bot/mcts?simulations=50`).
    """

    sees: Sees = field(default="offered", init=False, repr=False)
    waits: bool = field(default=False, init=False, repr=False)
    """Whether `act` waits for something (a network, a person): such seats are asked at the same time."""
    computes: ClassVar[bool] = False
    """Whether `act` computes for long without waiting: it then runs in a thread, so that other episodes on
    the same event loop go on."""
    fills_forms: ClassVar[bool] = False
    """Whether it is a person who answers with the form of the view."""
    unlimited_retries: bool = field(default=False, init=False, repr=False)
    """Whether it may try again after every refused reply, whatever `PlayConfig.retries` says."""
    tools: bool = field(default=False, init=False, repr=False)
    """Whether it replies through tool calls; its spec then has `act=tools`."""
    kind: ClassVar[str] = ""
    """The name of this agent in specs: `bot/random`. The class name in lower case by default."""

    game: Game = field(init=False, repr=False, compare=False)
    seat: str = field(init=False, repr=False, compare=False)
    random: Stream = field(init=False, repr=False, compare=False)

    def __init_subclass__(cls) -> None:
        if "kind" not in vars(cls):
            cls.kind = cls.__name__.lower()

    def __post_init__(self) -> None:
        """Check the options; subclasses that check more call this first."""
        check_options(self, self.kind)

    def sit(self, game: Game, seat: str, random: Stream) -> Self:
        """A copy of this agent for one seat of one episode, with its own random stream."""
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
        """What a report must say about this player, such as options that its model does not accept."""
        return ()

    @property
    def templates(self) -> Sections:
        """The user's own prompt templates that it uses, which episodes record."""
        return {}

    def history(self) -> History:
        """Which earlier exchanges its asks hold; none by default."""
        return History()

    def begin(self) -> None:
        """Prepare for an episode; raise a `UsageError` when this agent cannot play this game."""

    @abstractmethod
    async def act(self, ask: Ask) -> Reply:
        """Answer. Raise `AgentFailure` when no answer can be had."""

    async def close(self) -> None:
        """Release connections; called once, on the agent that was made, not on seated copies."""


class Bot(Agent):
    """A program that reads the state and replies with its action."""

    sees = "state"

    @abstractmethod
    def choose(self, state: Any) -> str:
        """The action of its seat in this state."""

    async def act(self, ask: Ask) -> Reply:
        return Reply(action=self.choose(ask.state))


@dataclass
class ReasoningBot(Bot):
    """A bot that can say what it sees before its move: a small model that imitates it learns to look."""

    reason: bool = option(False, help="say first what it sees, for imitation")

    @abstractmethod
    def reasons(self, state: Any, move: str) -> list[str]:
        """What it says before this move, line by line."""

    async def act(self, ask: Ask) -> Reply:
        move = self.choose(ask.state)
        if not self.reason:
            return Reply(action=move)
        return Reply("\n".join([*self.reasons(ask.state, move), ask.format.write(move)]), move)
