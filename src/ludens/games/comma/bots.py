"""COMMA's own players, for either seat: oracles who speak the small language, and the random baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.comma import language
from ludens.games.comma.dialogue import Dialogue
from ludens.games.comma.puzzle import Manual, Puzzle, Unclear


@dataclass
class Oracle(Agent):
    """Plays its part without fault: as Solver it sees the panel, as Expert the manual and what it heard."""

    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Dialogue)
        if self.seat == "solver":
            advice = [said.text for said in state.said if said.seat == "expert"]
            message = solve(state.puzzle.clone(), advice[-1] if advice else "")
        else:
            message = advise(state.manual, [words for seat, words in state.heard if seat == "solver"])
        return Reply(message, message)


def solve(puzzle: Puzzle[Manual], advice: str) -> str:
    """The perfect Solver's message: the actions the latest advice leads to, then what it sees after them."""
    said = language.read(advice)
    actions = list(puzzle.clone().follow(said))
    for action in actions:
        if puzzle.act(action) == "solved":
            return "\n".join(actions)
    facts = language.write(puzzle.tell(said))
    return "\n".join([*actions, facts, f"Please answer: {puzzle.asks}"])


def advise(manual: Manual, messages: Sequence[str]) -> str:
    """The perfect Expert's message: what this manual says to what was told. The panel is out of its reach."""
    try:
        return language.write(manual.advise([language.read(message) for message in messages]))
    except Unclear as gap:
        return str(gap)


@dataclass
class Random(Agent):
    """The paper's baseline: as Solver one action a turn, each as likely; as Expert it says nothing."""

    kind = "bot/random"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Dialogue)
        action = self.random.choice(state.puzzle.actions) if self.seat == "solver" else ""
        return Reply(action, action)
