"""The parts of a puzzle: a panel only the Solver sees and a manual only the Expert reads.

A puzzle defines these two classes. Everything else (turns, mistakes, the conversation, who may see what, the
header of pictures, oracles) is shared and uses only this interface.
"""

from __future__ import annotations

import copy
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from ludens.core.random import Stream
from ludens.games.comma.pages import Block

Outcome = Literal["done", "nothing", "mistake", "solved"]
"""The result of an action. `nothing`: it was allowed and had no effect (a wall, a dead key)."""

_RIGHT: frozenset[Outcome] = frozenset(("done", "solved"))

Facts = dict[str, str]
"""The facts in one message of the small language (see `dialogue`)."""


def read_tables(module: str) -> dict[str, Any]:
    """The tables in the TOML file beside the file of a module."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def button_actions(places: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"press_{place.replace(' ', '_')}_button" for place in places)


class Unclear(Exception):
    """The facts given are not sufficient or contradictory; the message says what is needed."""


class Manual(ABC):
    """The data of the rules, as a frozen dataclass; the panel uses the same data."""

    @abstractmethod
    def blocks(self) -> tuple[Block, ...]:
        """The manual as the Expert reads it, made from the data (`pages.read_blocks`); drawn and written."""

    @abstractmethod
    def advise(self, messages: Sequence[Facts]) -> Facts:
        """The answer of an Expert that knows only this manual, to the facts it was told, message by message.

        Raises:
            Unclear: What it was told does not suffice.
        """


M = TypeVar("M", bound=Manual)


class Puzzle(ABC, Generic[M]):
    """A panel: its state, its actions and their results.

    Keep state in immutable values (tuples, strings, numbers), so that the shallow copy of `clone` suffices.

    Args:
        random: The panel's own stream: all random draws, later stages included, come from it.
        released: Whether the released code's rules and partial scores apply where they differ from the
            paper's.
    """

    hidden: ClassVar[frozenset[str]] = frozenset()
    """Actions the Expert must not read in the Solver's messages: keys that type something private."""
    asks: ClassVar[str]
    """The facts the oracle Solver asks for, in the small language: `cut = <number of the wire>`."""

    redraws: ClassVar[bool] = False
    """Whether the panel changes at random after each right action, so that only the next one can be known."""

    actions: tuple[str, ...]

    def __init__(self, manual: M, random: Stream, serial: str, released: bool = False) -> None:
        self.manual, self.random, self.serial, self.released = manual, random, serial, released
        self.set_up()

    @abstractmethod
    def set_up(self) -> None:
        """Make a new panel: draw from `random`, and set all further attributes."""

    @abstractmethod
    def act(self, action: str) -> Outcome:
        """Execute one of `actions`. Not called after it has returned `solved`."""

    @property
    def progress(self) -> float:
        """The Solver's progress, 0 to 1; a mistake may reduce it.

        The partial score is the highest progress so far, 1 when solved. Under the released rules it is the
        progress at the end: return the released code's score there. Document the formula in the game's
        docstring.
        """
        return 0.0

    @abstractmethod
    def describe(self) -> str:
        """The panel in words: the same information as its picture."""

    @property
    def briefing(self) -> Mapping[str, str]:
        """What only the Solver is told in addition to the picture (a PIN, a patient's profile)."""
        return {}

    def briefed_as(self, other: Self) -> Self:
        """A copy whose briefing agrees with that of another panel, where actions depend on it."""
        return self.clone()

    @property
    def private(self) -> Mapping[str, str]:
        """What the Solver must not disclose, whether it was told or reads it from the panel; for metrics."""
        return {}

    @abstractmethod
    def tell(self) -> Facts:
        """What the oracle Solver tells about this panel: nothing private."""

    @abstractmethod
    def follow(self, advice: Facts) -> Sequence[str]:
        """The actions the oracle Solver takes on the Expert's latest advice; none when it is not sufficient.

        Called on a copy of the panel, so it may act on itself to see what comes next.
        """

    def decide(self) -> None:
        """Go to where the picture decides what is right, where that is not so at the start."""

    def right(self, actions: Sequence[str]) -> bool:
        """Whether these actions solve the panel without a mistake; of a panel that redraws, the next one."""
        panel = self.clone()
        outcomes = [panel.act(action) for action in actions[:1]]
        for action in actions[1:]:
            if outcomes[-1] in ("mistake", "solved"):
                return False  # nothing may follow
            outcomes.append(panel.act(action))
        if self.redraws:
            return outcomes in (["done"], ["solved"])
        return "mistake" not in outcomes and outcomes[-1:] == ["solved"]

    def solution(self) -> Sequence[str]:
        """Right actions, for one who knows panel and manual."""
        actions = self.clone().follow(self.manual.advise([self.tell()]))
        return actions[:1] if self.redraws else actions

    def working(self) -> Sequence[str]:
        """How the manual leads from what is seen to the right actions, in lines; none where one step does."""
        return ()

    def apart(self, other: Self) -> bool:
        """Whether no actions are right on both panels."""
        first, second = ({a for a in p.actions if p.clone().act(a) in _RIGHT} for p in (self, other))
        return first.isdisjoint(second)

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.random = self.random.clone()
        return twin
