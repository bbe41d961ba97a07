"""Suites that only tests play, reached as `tests.support.suites:NAME`, and the odd players they need."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ludens.agents import AGENTS
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import AgentFailure, BadOption
from ludens.core.options import option
from ludens.run.task import MODEL, WON, Suite, Task

_SWAPPED = ({"x": MODEL, "o": "bot/random"}, {"x": "bot/random", "o": MODEL})

QUICK = Suite(
    "quick",
    "Turns with swapped seats, seats that move together, a question, a conversation.",
    (
        Task("turns", "tic_tac_toe", _SWAPPED, 8, (WON,)),
        Task("together", "coin_dilemma?horizon=3", ({"red": MODEL, "blue": MODEL},), 4),
        Task("question", "perceive", ({"viewer": MODEL},), 4),
        Task("talk", "comma/wire?turns=3", ({"solver": MODEL, "expert": MODEL},), 2, blindable=False),
    ),
)  # fmt: skip

TURNS = Suite("turns", "One task.", QUICK.tasks[:1])
MANY = Suite(
    "many", "Ten thousand.", (Task("turns", "tic_tac_toe", ({"x": MODEL, "o": "bot/random"},), 10_000),)
)
NOT_A_SUITE = 42


def _first(ask: Ask) -> Reply:
    action = ask.legal.first
    return Reply(action, action)


@dataclass
class Flaky(Agent):
    """Fails in the first `times` episodes that it sits in and plays well ever after."""

    times: int = option(1, help="episodes that fail")
    kind = "test/flaky"
    sees = "nothing"
    failed = Counter[str]()

    async def act(self, ask: Ask) -> Reply:
        if self.failed[self.spec] < self.times:
            self.failed[self.spec] += 1
            raise AgentFailure("no answer today.")
        return _first(ask)


@dataclass
class Deadly(Agent):
    """Takes its process with it, unless the file is there; makes the file."""

    mark: str = option("", help="a file")
    kind = "test/deadly"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        if not Path(self.mark).exists():
            Path(self.mark).touch()
            os._exit(1)
        return _first(ask)


@dataclass
class Fussy(Agent):
    """Finds after some moves that it was asked wrongly, as a model does whose key is withdrawn."""

    moves: int = option(10, help="moves before")
    kind = "test/fussy"
    sees = "nothing"
    made = Counter[str]()

    async def act(self, ask: Ask) -> Reply:
        self.made[self.spec] += 1
        if self.made[self.spec] > self.moves:
            raise BadOption("the key is not taken any more.")
        return _first(ask)


@dataclass
class Slow(Agent):
    """Takes a while for every move."""

    seconds: float = option(0.2, help="how long")
    kind = "test/slow"
    sees = "nothing"
    waits = True

    async def act(self, ask: Ask) -> Reply:
        await asyncio.sleep(self.seconds)
        return _first(ask)


for odd in (Flaky, Deadly, Fussy, Slow):
    AGENTS.register(odd.kind, odd)
