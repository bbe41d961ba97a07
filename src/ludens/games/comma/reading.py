"""Reading, a one-move question of COMMA: what is on the panel, field by field?

Whether a panel is solved says little about sight: half of all wires are right whatever the serial number is.
Here every field counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption, Unreadable
from ludens.core.forms import Fill, readable
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.reply import without_reasoning
from ludens.core.state import Legal, Question
from ludens.core.twins import MARKS, TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.comma.dialogue import Comma, Dialogue, advise, read, write
from ludens.games.comma.panel import SEAT, LinesFormat, PanelState, puzzle_game
from ludens.games.comma.puzzle import Facts, Puzzle
from ludens.games.comma.view import CommaView

READ = ("wire", "telehealth", "who", "led", "memory", "keypad", "password", "color", "maze")
"""Puzzles whose panels can be told in fields; what an ATM shows is private."""
_ATTEMPTS = 1000
_UNSEEN = frozenset(("pressed",))
"""What a Solver knows from its own moves."""
KINDS: Mapping[str, str] = {
    "serial": "serial",
    "wires": "colours",
    "light": "colours",
    "torus": "colours",
    **{f"row {row}": "colours" for row in range(4)},
    "place": "positions",
    "stage": "digits",
    "display": "digits",
    "labels": "digits",
    "widest": "digits",
    "letters": "letters",
    "symbols": "symbols",
    "looks": "symbols",
}
"""The kind of value in each field; `words` for fields that are not in the list."""


def kind_of(puzzle: str, name: str) -> str:
    if puzzle == "who" and name == "display":
        return "words"
    return "letters" if puzzle == "led" and name not in KINDS else KINDS.get(name, "words")


def fields_of(panel: Puzzle[Any]) -> Facts:
    """The serial number, and what an oracle Solver would tell of the panel."""
    facts = {name: value for name, value in panel.tell().items() if name not in _UNSEEN}
    return {"serial": panel.serial, **facts}


def kinds_of(puzzle: str) -> tuple[str, ...]:
    """What is read on panels of a puzzle, in the order of their fields."""
    game = puzzle_game(puzzle)
    fields = fields_of(game.panel(game.standard_manual, stream(0, "comma/read", puzzle)))
    return tuple(dict.fromkeys(kind_of(puzzle, name) for name in fields))


@dataclass(frozen=True)
class Reading(TwinGame["ReadingState"]):
    """Write down what a panel shows, field by field.

    Seats: `solver`, alone, for one move.
    Observation: the panel of the puzzle named by the option `puzzle`, and the names of its fields.
    Actions: a line for each field, such as `serial = 123456`; several values are separated by commas.
    Rewards: the share of values that are right.
    Facts: `fields` has for each kind of field (serial, colours, digits, letters, words, symbols, positions)
        how many of its values are right and how many there are.
    Twins: two panels with the same fields; those that differ are compared.
    """

    name = "comma/read"
    seats = (SEAT,)
    view_class = "ludens.games.comma.reading:ReadingView"
    best = "bot/oracle"
    question = True
    presets = {
        "easy": Preset({"puzzle": "password"}),
        "medium": Preset(),
        "hard": Preset({"puzzle": "keypad"}),
        "paper": Preset(),
    }

    puzzle: str = option("wire", choices=READ, help="the puzzle whose panels are shown")

    def world(self, seed: int) -> ReadingState:
        return self._question(stream(seed, "comma/read", self.puzzle))

    def pair(self, seed: int) -> tuple[ReadingState, ReadingState]:
        first, random = self.world(seed), stream(seed, "twin")
        for _ in range(_ATTEMPTS):
            second = self._question(random)
            alike = list(second.fields) == list(first.fields)
            compared = [name for name in first.fields if first.fields[name] != second.fields.get(name)]
            if alike and compared:
                first.compared = second.compared = tuple(compared)
                return first, second
        raise BadOption(f"no twin of panel {seed} of {self.puzzle} was found.")

    def _question(self, random: Stream) -> ReadingState:
        game = puzzle_game(self.puzzle)
        return ReadingState(game, game.panel(game.standard_manual, Stream(random.bits())))


class ReadingState(Question):
    """A panel, and the fields that were answered."""

    def __init__(self, game: Comma, panel: Puzzle[Any]) -> None:
        super().__init__(SEAT, Legal.text(4000))
        self.game, self.panel = game, panel
        self.fields = fields_of(panel)
        self.compared: tuple[str, ...] = ()
        """The fields that differ from those of the twin."""

    def solution(self, seat: str) -> str | None:
        return write(self.fields)

    def _right(self) -> dict[str, list[bool]]:
        """Of each field, which of its values are right; one that is too much is wrong."""
        answered = read(self.answer or "")
        right = {}
        for name, value in self.fields.items():
            truth, reply = _values(value), _values(answered.get(name, ""))
            right[name] = [a == b for a, b in zip_longest(truth, reply)]
        return right

    @property
    def returns(self) -> dict[str, float]:
        marks = [mark for marks in self._right().values() for mark in marks]
        return {SEAT: sum(marks) / len(marks)}

    @property
    def facts(self) -> dict[str, Any]:
        right, puzzle = self._right(), self.game.name.removeprefix("comma/")
        kinds: dict[str, list[int]] = {}
        for name, marks in right.items():
            counts = kinds.setdefault(kind_of(puzzle, name), [0, 0])
            counts[0], counts[1] = counts[0] + sum(marks), counts[1] + len(marks)
        marked = "".join("01"[all(right[name])] for name in self.compared)
        return {
            "fields": kinds,
            "exact": all(all(marks) for marks in right.values()),
            "readable": bool(self.answer),
            **({MARKS: marked} if self.compared else {}),
        }


def _values(text: str) -> list[str]:
    return [value.strip().lower() for value in text.split(",")] if text else []


class FieldLines(LinesFormat):
    """A line `name = value` for each field."""

    def read(self, text: str, legal: Legal) -> str:
        facts = read(without_reasoning(text))
        fields = {name: facts[name] for name in self.names if name in facts}
        if not fields:
            raise Unreadable(f"the reply has no line such as {self.names[0]} = <value>.")
        return write(fields)


class ReadingView(View):
    """The panel as the Solver sees it."""

    templates_file = "reading.md"

    def __init__(self, game: Reading, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        view = puzzle_game(game.puzzle).view(render, seed)
        assert isinstance(view, CommaView)
        self._view = view

    def image(self, state: ReadingState, seat: str) -> Picture:
        return self._view.image(Dialogue(state.game, state.panel), seat)

    def text(self, state: ReadingState, seat: str) -> str:
        return self._view.text(Dialogue(state.game, state.panel), seat)

    def notes(self, state: ReadingState, seat: str) -> str:
        return self.templates.fill("fields", fields="\n".join(state.fields))

    def brief(self, state: ReadingState, seat: str) -> str:
        return str(self.game.options["puzzle"])

    def form(self, state: ReadingState, seat: str) -> Fill:
        labels = {name: readable(name) for name in state.fields}
        return Fill(labels, write, self.templates.fill("person"))

    def notes_for_person(self, state: ReadingState, seat: str) -> str:
        """Nothing: the form has the fields."""
        return ""

    def label(self, action: str) -> str:
        return ", ".join(f"{readable(name)}: {value}" for name, value in read(action).items())

    def format(self, state: ReadingState, seat: str) -> FieldLines:
        return FieldLines(tuple(state.fields), self.templates.fill("reply"))

    def guess(self, state: ReadingState, seat: str, random: Stream) -> str:
        game = state.game
        return write(fields_of(game.panel(game.standard_manual, Stream(random.bits()))))


@dataclass
class PanelReader(Agent):
    """Solves a panel after it has said what it sees and what the manual says about that, for imitation."""

    kind = "bot/reader"
    sees = "state"
    steps: bool = option(False, help="say step by step how the manual leads to the actions")

    def begin(self) -> None:
        if not self.game.question:
            raise BadOption("bot/reader gives all actions at once: it needs comma/panel?moves=all.")

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, PanelState)
        panel, action = state.panel, state.solution(ask.seat) or ""
        report = write(panel.tell())
        working = panel.working() if self.steps else ()
        thoughts = "\n".join([report, *(working or [advise(panel.manual, [report])])])
        return Reply(f"<think>{thoughts}</think>\n{action}", action)
