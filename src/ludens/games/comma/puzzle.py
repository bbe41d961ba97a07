"""What one puzzle is: a panel only the Solver sees and a manual only the Expert reads.

A puzzle brings these two classes. Everything else (turns, mistakes, the conversation, who may see what,
pictures' frame, bots) is shared and knows them only by what stands here.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, Literal, Self, TypeVar

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block

Outcome = Literal["done", "nothing", "mistake", "solved"]
"""What an action led to. `nothing`: it was allowed and changed nothing (a wall, a dead key)."""

Facts = dict[str, str]
"""What one message of the small language says (see `language`)."""


class Unclear(Exception):
    """The facts told do not suffice or cannot be: the message says in a sentence what to tell instead."""


class Manual(ABC):
    """The data the rules go by, as a frozen dataclass. The panel asks the same data what is right."""

    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The manual as the Expert reads it, made from the data; drawn as pages and written as text."""

    @abstractmethod
    def advise(self, told: Sequence[Facts]) -> Facts:
        """What an Expert who knows nothing but this manual answers to what it was told, message by message.

        Raises:
            Unclear: What it was told does not suffice.
        """


M = TypeVar("M", bound=Manual)


@dataclass(frozen=True)
class Setting:
    """What a panel is drawn from."""

    random: Stream
    """The panel's own: keep it, and draw everything from it, redraws in later stages included."""
    serial: str
    """The number on the panel's plate."""
    released: bool = False
    """Whether the released code's rules and partial scores hold where they differ from the paper's."""


class Puzzle(ABC, Generic[M]):
    """A panel: what is on it, what may be done to it, what is right.

    Keep state in immutable values (tuples, strings, numbers), so that the shallow copy of `clone` suffices.
    """

    hidden: ClassVar[frozenset[str]] = frozenset()
    """Actions the Expert must not read in the Solver's messages: keys that type something private."""
    asks: ClassVar[str]
    """What the oracle Solver wants to hear, in the small language: `cut = <number of the wire>`."""

    actions: tuple[str, ...]
    """What can be done, the same from the first turn to the last."""

    def __init__(self, manual: M, setting: Setting) -> None:
        self.manual = manual
        self.random = setting.random
        self.serial = setting.serial
        self.released = setting.released

    @abstractmethod
    def act(self, action: str) -> Outcome:
        """Do one of `actions`. Not called any more once it returned `solved`."""

    @property
    def progress(self) -> float:
        """How far the Solver is, 0 to 1, short of solved; a mistake may set it back.

        The partial score is the highest progress so far, 1 when solved. Under the released rules it is the
        progress at the end: return the released code's score there. Document the formula in the game's
        docstring.
        """
        return 0.0

    @abstractmethod
    def describe(self) -> str:
        """The panel in words: all that its picture shows, and no more."""

    @property
    def briefing(self) -> Mapping[str, str]:
        """What the Solver alone is told in words beside the picture (a PIN, a patient's profile)."""
        return {}

    @property
    def private(self) -> Mapping[str, str]:
        """What the Solver must not pass on, whether it was told or reads it off the panel; for metrics."""
        return {}

    @abstractmethod
    def tell(self, advice: Facts) -> Facts:
        """What the oracle Solver tells about this panel after the Expert's latest advice: nothing private."""

    @abstractmethod
    def follow(self, advice: Facts) -> Sequence[str]:
        """The actions the oracle Solver takes on the Expert's latest advice: none when it says too little.

        Called on a copy of the panel, so it may act on itself to see what comes next.
        """

    def clone(self) -> Self:
        """An independent copy, random stream included."""
        twin = copy.copy(self)
        twin.random = self.random.clone()
        return twin
