"""Bots of COMMA: a patient Solver that tells only what it sees, and players that never look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.random import stream
from ludens.games.comma.dialogue import Comma, Dialogue, advise, read, report, write
from ludens.games.comma.puzzle import Manual, Outcome, Puzzle

Panel = Puzzle[Any]
Step = tuple[str, Outcome]


@dataclass
class PatientBot(Agent):
    """Acts or tells what it sees, never both in one message. As Expert it answers like `bot/oracle`."""

    kind = "bot/patient"
    sees = "state"
    steps: bool = option(False, help="as Expert, say first how the manual leads to the answer, for imitation")

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Dialogue)
        words = _solve(state) if ask.seat == "solver" else state.solution(ask.seat)
        assert words is not None
        working = state.puzzle.working() if self.steps and ask.seat == "expert" else ()
        if words in working[-1:]:
            thoughts = "\n".join(working[:-1])
            return Reply(f"<think>{thoughts}</think>\n{words}", words)
        return Reply(words, words)


def _solve(state: Dialogue) -> str:
    """The actions that the latest advice asks for; after acting, or without any, a report of the panel."""
    latest = state.latest("solver")
    actions = [] if latest and latest.events else state.puzzle.clone().follow(read(state.advice))
    return "\n".join(actions) or report(state.puzzle)


PANELS, FEWEST = 300, 10
"""How many panels are imagined, and the number of consistent ones below which more are."""


@dataclass
class BlindBot(Agent):
    """Plays without looking, by what is right on most panels; better players that do not look may exist."""

    kind = "bot/blind"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, Dialogue)
        if ask.seat == "solver":
            words = self._solve(state)
        else:
            advice = advice_by_frequency(state.game, state.manual)
            words = advice[(state.spoken - 1) % len(advice)]
        return Reply(words, words)

    def begin(self) -> None:
        self._steps: dict[int, list[Step]] = {}
        """The results that the latest message would have had on each imagined panel."""
        self._panels: list[Panel] = []

    def _solve(self, state: Dialogue) -> str:
        """The steps that are right on most panels, up to one that would be a mistake on more than half."""
        self._panels = self._consistent(state)
        self._steps = {id(panel): [] for panel in self._panels}
        actions: list[str] = []
        for action in _plan(self._panels):
            mistakes = sum(panel.clone().act(action) == "mistake" for panel in self._panels)
            if actions and mistakes > len(self._panels) / 2:
                break
            actions.append(action)
            for panel in self._panels:
                self._steps[id(panel)].append((action, panel.act(action)))
            if all(steps[-1][1] in ("mistake", "solved") for steps in self._steps.values()):
                break
        return "\n".join(actions)

    def _consistent(self, state: Dialogue) -> list[Panel]:
        """The panels on which the actions so far would have had the results that the Solver was told."""
        log: list[tuple[int, str, Any]] = state.facts["log"]
        latest = [(words, outcome) for turn, words, outcome in log if turn == state.spoken]
        panels = [panel for panel in self._panels if self._steps[id(panel)] == latest]
        if len(panels) >= FEWEST:
            return panels
        # New panels are compared with the steps since the last mistake only: most puzzles start again there.
        steps = [(words, outcome) for _, words, outcome in log]
        mistakes = [number for number, (_, outcome) in enumerate(steps, 1) if outcome == "mistake"]
        since = steps[max(mistakes, default=0) :]
        new = [p for p in imagined(state) if all(p.act(action) == outcome for action, outcome in since)]
        return [*panels, *new] or imagined(state)


def imagined(state: Dialogue) -> list[Panel]:
    """Panels as this one may be, given its list of actions and what the Solver was told in words."""
    alike = [panel for panel in _panels(state.game, state.manual) if panel.actions == state.puzzle.actions]
    return [panel.briefed_as(state.puzzle) for panel in alike]


@lru_cache(maxsize=16)
def _panels(game: Comma, manual: Manual) -> tuple[Panel, ...]:
    return tuple(game.panel(manual, stream(number, game.name, "imagined")) for number in range(PANELS))


def _plan(panels: Sequence[Panel]) -> Sequence[str]:
    """The longest plan for a panel among those that begin with the most frequent first action."""
    plans: list[Sequence[str]] = []
    for panel in panels:
        # What the oracles would do; where that depends on earlier steps, every action that is no mistake.
        steps = panel.clone().follow(read(advise(panel.manual, [write(panel.tell())])))
        right = (action for action in panel.actions if panel.clone().act(action) in ("done", "solved"))
        plans += [steps] if steps else [(action,) for action in right]
    first = Counter(plan[0] for plan in plans).most_common(1)[0][0]
    return max((plan for plan in plans if plan[0] == first), key=len)


@lru_cache(maxsize=16)
def advice_by_frequency(game: Comma, manual: Manual) -> tuple[str, ...]:
    """What the oracle Expert says at the start of each imagined panel, the most frequent first."""
    panels = _panels(game, manual)
    counts = Counter(advise(manual, [write(panel.tell())]) for panel in panels)
    return tuple(advice for advice, _ in counts.most_common())
