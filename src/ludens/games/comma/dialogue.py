"""The conversation shared by all puzzles: two seats, turns, mistakes, who hears what, and the score.

The Solver speaks, its action lines are done in order, then the Expert speaks; and so on until the panel is
solved, the mistakes are used up or the Solver has had its last turn.
"""

from __future__ import annotations

import copy
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

from ludens.core.game import DecisionScore, Game, GameStage, Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.reply import fold, labelled
from ludens.core.state import Legal, State
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear

LONGEST_FACT = 400


def write(facts: Mapping[str, str]) -> str:
    return "\n".join(f"{name} = {value}" for name, value in facts.items())


def read(message: str) -> Facts:
    """The facts in a message; of two with one name the later one counts. Names are lower case."""
    facts: Facts = {}
    for line in message.splitlines():
        name, equals, value = line.partition("=")
        name, value = " ".join(name.lower().split()), " ".join(value.split())
        if equals and name and value and not value.startswith("<") and len(line) <= LONGEST_FACT:
            facts[name] = value
    return facts


def need(messages: Sequence[Facts], meanings: Mapping[str, str]) -> list[str]:
    """The values of the facts that `meanings` names, from the latest message; where it lacks one, `Unclear`
    asks for all of them."""
    facts = messages[-1] if messages else {}
    if any(name not in facts for name in meanings):
        lines = "\n".join(f"{name} = <{meaning}>" for name, meaning in meanings.items())
        raise Unclear(f"Tell me, one a line:\n{lines}")
    return [facts[name] for name in meanings]


def solve(puzzle: Puzzle[Manual], advice: str) -> str:
    """The perfect Solver's message: the actions that follow from the latest advice, then what it sees."""
    actions = list(puzzle.clone().follow(read(advice)))
    for action in actions:
        if puzzle.act(action) == "solved":
            return "\n".join(actions)
    return "\n".join([*actions, report(puzzle)])


def report(puzzle: Puzzle[Manual]) -> str:
    return f"{write(puzzle.tell())}\nPlease answer: {puzzle.asks}"


def advise(manual: Manual, messages: Sequence[str]) -> str:
    """The perfect Expert's message, from the manual and what it was told; it does not see the panel."""
    try:
        return write(manual.advise([read(message) for message in messages]))
    except Unclear as gap:
        return str(gap)


LONGEST_COMMAND = 200
WITHHELD = "(a private key)"

_LIST_MARK = re.compile(r"^\s*(?:[-+*•#]+\s+|>\s*|\(?\d{1,2}[.)]\s*)")
"""A bullet, a Markdown quotation mark or a number: what follows is listed or quoted, not done."""
_GAPS = re.compile(r"[\s_-]+")
_WORDS = re.compile(r"\w+")
_BETWEEN = frozenset(("action", "actions", "and", "do", "next", "now", "solver", "then"))
"""Words that do not turn a line with action names into prose."""


class ReadLine(NamedTuple):
    """One line that names an action or attempts to."""

    line: str
    action: str
    """The action named; empty when it does not exist."""
    acts: bool


def read_actions(message: str, actions: Sequence[str], released: bool = False) -> list[ReadLine]:
    """Every line of a message that acts or looks like a failed attempt, in order."""
    lines = message.splitlines()
    if released:
        hits_of = ((line, [name for name in actions if name.lower() in line.lower()]) for line in lines)
        return [ReadLine(line, hits[0], True) for line, hits in hits_of if hits]
    read = (_read_line(line, tuple(actions)) for line in lines)
    return [line for line in read if line is not None]


def withhold(message: str, hidden: frozenset[str]) -> str:
    """The message without the lines that name a hidden action, executed or not."""
    if not hidden:
        return message
    names = tuple(sorted(hidden))
    lines = ((line, _read_line(line, names)) for line in message.splitlines())
    return "\n".join(WITHHELD if read is not None and read.action else line for line, read in lines)


def _read_line(line: str, actions: tuple[str, ...]) -> ReadLine | None:
    if len(line) > LONGEST_COMMAND or not line.strip():
        return None
    exact, loose = _spellings(actions)
    bare = _LIST_MARK.sub("", line)
    if (action := exact.get(fold(bare))) is not None:
        return ReadLine(line, action, bare == line)
    if names := labelled(line, "action"):
        if (action := exact.get(fold(names[0]))) is not None:
            return ReadLine(line, action, True)
        return ReadLine(line, loose.get(_loosen(names[0])) or _listed(names[0], exact) or "", False)
    action = loose.get(_loosen(bare), _listed(bare, exact))
    return None if action is None else ReadLine(line, action, False)


def _listed(line: str, exact: dict[str, str]) -> str | None:
    """The first action in a line that holds only words like action names; None for prose."""
    words = [word.casefold() for word in _WORDS.findall(line)]
    if "?" in line or not any("_" in word.strip("_") for word in words):
        return None
    names = [word for word in words if word not in _BETWEEN]
    if any(word not in exact and "_" not in word for word in names):
        return None
    return next((exact[word] for word in names if word in exact), "")


@lru_cache(maxsize=256)
def _spellings(actions: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    return {fold(name): name for name in actions}, {_loosen(name): name for name in actions}


def _loosen(name: str) -> str:
    return _GAPS.sub("", fold(name))


SEATS = ("solver", "expert")
SOLVER, EXPERT = ("solver",), ("expert",)
RELEASED_SERIAL = "123456"

Skill = Literal["memory", "grounding", "multi-step", "private"]


class ActionResult(NamedTuple):
    """The result of one line of the Solver's message."""

    words: str
    """The action's name, or the line itself where it names none."""
    outcome: Outcome | Literal["unread"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One message: speaker, text, what the other seat hears of it, and its effect on the panel."""

    seat: str
    text: str
    heard: str
    events: tuple[ActionResult, ...] = ()


@dataclass(frozen=True)
class Comma(Game):
    """The base of all COMMA games: a puzzle that two seats solve by talking."""

    turns: int = option(10, low=1, high=100, help="how often the Solver may speak")
    mistakes: int = option(3, low=1, high=100, help="the mistake that ends the game")
    manual: str = option(
        "standard", choices=("standard", "random"), help="the published tables, or new ones for every seed"
    )
    variant: str = option(
        "paper",
        choices=("paper", "released"),
        help="released: any line that holds an action's name acts, one turn more, old scores and prompts",
    )
    history: str = option(
        "full", choices=("full", "last"), help="how much of the conversation the seats are shown"
    )

    version = 3
    imperfect_information = True
    seats = SEATS
    cooperative = True
    bots = {"blind": "ludens.games.comma.bots:BlindBot", "patient": "ludens.games.comma.bots:PatientBot"}
    best = "bot/oracle"
    presets = {
        "easy": Preset({"turns": 20, "mistakes": 6}, others="bot/oracle"),
        "medium": Preset(others="bot/oracle"),
        "hard": Preset({"mistakes": 1, "manual": "random"}, others="bot/oracle"),
        "paper": Preset(others="bot/oracle"),
    }
    stages = (
        GameStage("solve", decision=True, group=("seed", "seat"), seats=SOLVER),
        GameStage("advise", seats=EXPERT),
    )

    skills: ClassVar[tuple[Skill, ...]]
    """The skills the puzzle tests, by the paper's classification."""
    expert_sees: ClassVar[Literal["image", "text", "both"]] = "text"

    published: ClassVar[Manual]
    puzzle_class: ClassVar[type[Puzzle[Any]]]

    @property
    def standard_manual(self) -> Manual:
        return self.published

    @abstractmethod
    def random_manual(self, random: Stream, /) -> Manual:
        """A random manual: solvable and unambiguous on every panel drawn from it."""

    def imagined_manual(self, puzzle: Any, random: Stream) -> Manual:
        """Another manual this panel could have; override where the panel is drawn from the manual's data."""
        return self.random_manual(random)

    @property
    def released(self) -> bool:
        return self.variant == "released"

    @property
    def last_turn(self) -> int:
        """How often the Solver can speak: the released loop allows one turn more."""
        return self.turns + self.released

    def start(self, seed: int) -> Dialogue:
        manual = self.standard_manual
        if self.manual == "random":
            manual = self.random_manual(stream(seed, self.name, "manual"))
        return Dialogue(self, self.panel(manual, stream(seed, self.name, "panel")))

    def decision_score(self, state: State) -> DecisionScore:
        """Whether the panel was solved; the Solver abstains with advice and without an action."""
        assert isinstance(state, Dialogue)
        advised = [message.events for message in state.of("solver")][1:]
        idle = sum(all(event.outcome == "unread" for event in events) for events in advised)
        return DecisionScore(float(state.solved), idle / len(advised) if advised else 0.0)

    def panel(self, manual: Manual, random: Stream) -> Puzzle[Any]:
        """A panel with its serial number. The released runs all had an even one."""
        serial = RELEASED_SERIAL if self.released else str(random.between(100_000, 999_999))
        return self.puzzle_class(manual, random, serial, self.released)


class Dialogue(State):
    """A conversation about one panel."""

    to_act: tuple[str, ...] = SOLVER

    def __init__(self, game: Comma, puzzle: Puzzle[Any]) -> None:
        self.game = game
        self.puzzle = puzzle
        self.messages: list[Utterance] = []
        self.mistakes = 0
        self.solved = False
        self.partial = 0.0
        self.partials: list[float] = []
        self.spoken = 0

    @property
    def manual(self) -> Manual:
        return cast(Manual, self.puzzle.manual)

    def legal(self, seat: str) -> Legal:
        if seat not in self.to_act:
            return Legal()
        # Released runs act on reasoning too, so there the message is the whole reply.
        return Legal.text(100_000) if self.game.released else Legal.text()

    def solution(self, seat: str) -> str | None:
        if seat == "expert":
            return advise(self.manual, [message.heard for message in self.of("solver")])
        return solve(self.puzzle.clone(), self.advice)

    @property
    def advice(self) -> str:
        return message.text if (message := self.latest("expert")) else ""

    def of(self, seat: str) -> list[Utterance]:
        return [message for message in self.messages if message.seat == seat]

    def latest(self, seat: str) -> Utterance | None:
        return next(reversed(self.of(seat)), None)

    def _advance(self, actions: Mapping[str, str]) -> None:
        [(seat, text)] = actions.items()
        if seat == "expert":
            self.messages.append(Utterance(seat, text, text))
            self.to_act = SOLVER
        else:
            self._solver_speaks(text)
            self.to_act = () if self._decided or self.spoken >= self.game.last_turn else EXPERT

    @property
    def _decided(self) -> bool:
        return self.solved or self.mistakes >= self.game.mistakes

    def _replay(self, messages: Sequence[Utterance]) -> bool:
        """Replay messages; returns whether all of them came before the panel was solved or lost."""
        for message in messages:
            if self._decided:
                return False
            if message.seat == "solver":
                self._solver_speaks(message.text)
            else:
                self.messages.append(message)
        return True

    def _solver_speaks(self, text: str) -> None:
        self.spoken += 1
        released = self.game.released
        events = self._do(text)
        heard = text if released else withhold(text, self.puzzle.hidden)
        self.messages.append(Utterance("solver", text, heard, tuple(events)))
        progress = 1.0 if self.solved else self.puzzle.progress
        self.partial = progress if released else max(self.partial, progress)
        self.partials.append(self.partial)

    def _do(self, text: str) -> list[ActionResult]:
        """Execute the action lines in order, until solved or the last mistake."""
        events: list[ActionResult] = []
        game, puzzle = self.game, self.puzzle
        if self.spoken > game.turns:  # the turn that only the released loop allows: it ends after one line
            text = text.partition("\n")[0]
        for line, action, acts in read_actions(text, puzzle.actions, game.released):
            if not acts:
                events.append(ActionResult(line.strip()[:80], "unread"))
                continue
            outcome = puzzle.act(action)
            events.append(ActionResult(action, outcome))
            self.solved = outcome == "solved"
            self.mistakes += outcome == "mistake"
            if self.solved or self.mistakes >= game.mistakes:
                break
        return events

    @property
    def light(self) -> str:
        """The status light: `green` when solved, `red` after a mistake, else `off`."""
        if self.solved:
            return "green"
        for message in reversed(self.messages):
            for event in reversed(message.events):
                if event.outcome != "unread":
                    return "red" if event.outcome == "mistake" else "off"
        return "off"

    @property
    def heard(self) -> list[tuple[str, str]]:
        """Everything the Expert knows apart from the manual: who said what, as heard, in order."""
        return [(message.seat, message.heard) for message in self.messages]

    @property
    def returns(self) -> dict[str, float]:
        return dict.fromkeys(SEATS, self.partial)

    @property
    def facts(self) -> dict[str, Any]:
        log = [
            [turn, event.words, event.outcome]
            for turn, message in enumerate(self.of("solver"), 1)
            for event in message.events
        ]
        turns = self.game.turns if self.over and not self.solved else self.spoken
        if self.game.released:  # which counted pairs of messages
            turns = len(self.messages) // 2
        return {
            "solved": self.solved,
            "partial": self.partial,
            "partials": list(self.partials),
            "mistakes": self.mistakes,
            "turns": turns,
            "messages": {"solver": self.spoken, "expert": len(self.messages) - self.spoken},
            "actions": sum(outcome != "unread" for *_, outcome in log),
            "unread": sum(outcome == "unread" for *_, outcome in log),
            "log": log,
            "skills": list(self.game.skills),
            "private": dict(self.puzzle.private),
        }

    def clone(self) -> Self:
        twin = copy.copy(self)
        twin.puzzle = self.puzzle.clone()
        twin.messages = self.messages.copy()
        twin.partials = self.partials.copy()
        return twin

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        twin = self.clone()
        if seat == "solver":
            twin.puzzle.random = random.fork("future")
            if self.game.manual == "random":
                twin.puzzle.manual = self.game.imagined_manual(twin.puzzle, random.fork("manual"))
        else:
            twin._change_panel(random)
        return twin

    def _change_panel(self, random: Stream) -> None:
        """Replace the panel by another on which the same messages might have been said."""
        game = self.game
        for attempt in range(20):
            other = Dialogue(game, game.panel(self.puzzle.manual, random.fork("panel", attempt)))
            if other._replay(self.messages) and (self.over or not other._decided):
                break
        else:
            other = Dialogue(game, game.panel(self.puzzle.manual, random.fork("panel")))
            other.messages = [replace(message, events=()) for message in self.messages]
            other.spoken, other.partials = self.spoken, [0.0] * self.spoken
        other.to_act = self.to_act
        vars(self).update(vars(other))
