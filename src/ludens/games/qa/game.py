"""Qa, a one-move question: choose the true option about a random position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption, UnknownName
from ludens.core.forms import Choose
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.reply import ActionFormat
from ludens.core.state import Legal, Question
from ludens.core.twins import TwinGame
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.boards import BoardView, board_option
from ludens.games.perceive import board_of
from ludens.games.qa.boards import QUESTIONS, grid_of
from ludens.games.qa.questions import LETTERS, QaItem, TwinStream

SEAT = "viewer"


@dataclass(frozen=True)
class Qa(TwinGame["ChoiceQuestion"]):
    """Answer a question about a position on a board by the letter of the right option.

    Seats: `viewer`, alone, for one move.
    Observation: a random position of the board game named by the option `board`, which play need not lead
    to; a question with its options; some questions about other positions with their answers.
    Actions: the letter of an option, `A` to `D` (two or three options where there are no more).
    Rewards: 1 for the right letter, 0 for another.
    """

    name = "qa"
    seats = (SEAT,)
    version = 2
    view_class = "ludens.games.qa.game:QaView"
    best = "bot/oracle"
    presets = {
        "easy": Preset(),
        "medium": Preset({"board": "reversi"}),
        "hard": Preset({"board": "chess"}),
        "paper": Preset(),
    }
    bots: ClassVar[Mapping[str, str]] = {"working": "ludens.games.qa.game:Working"}
    question = True

    board: str = board_option("the board game whose positions are asked about")
    kind: str = option("", help="the type of question; any when empty")
    examples: int = option(3, low=0, high=6, help="answered questions about other positions in the prompt")

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.board.partition("?")[0]
        if name not in QUESTIONS:
            raise BadOption(f"there are no questions about {name!r}; there are about {', '.join(QUESTIONS)}.")
        board_of(self.board, RenderOptions())
        if self.kind and self.kind not in QUESTIONS[name]:
            raise UnknownName(f"question about {name}", self.kind, QUESTIONS[name])

    def actions(self, seat: str) -> tuple[str, ...]:
        return tuple(LETTERS)

    def world(self, seed: int) -> ChoiceQuestion:
        board = board_of(self.board, RenderOptions())
        kind = self.kind or stream(seed, "kind").choice(list(QUESTIONS[board.game.name]))
        return ChoiceQuestion(self, board, kind, ask(board, kind, seed), seed)

    def pair(self, seed: int) -> tuple[ChoiceQuestion, ChoiceQuestion]:
        """The same question and options about two positions."""
        first = self.world(seed)
        item = ask(first.board, first.kind, seed, turn=stream(seed, "twin"))
        return first, ChoiceQuestion(self, first.board, first.kind, item, seed)


def ask(board: BoardView, kind: str, seed: int, *names: str, turn: Stream | None = None) -> QaItem:
    random = stream(seed, "question", board.game.name, kind, *names)
    grid = grid_of(board, TwinStream(random, turn) if turn else random)
    return QUESTIONS[board.game.name][kind](grid)


@lru_cache(maxsize=512)
def examples(board: BoardView, seed: int, count: int) -> tuple[QaItem, ...]:
    """Answered questions of different types about other positions."""
    kinds = stream(seed, "examples").sample(list(QUESTIONS[board.game.name]), count)
    return tuple(ask(board, kind, seed, "example") for kind in kinds)


class ChoiceQuestion(Question):
    """A question, and the letter that was answered."""

    def __init__(self, game: Qa, board: BoardView, kind: str, item: QaItem, seed: int) -> None:
        super().__init__(SEAT, item.letters)
        self.game, self.board, self.kind, self.item, self.seed = game, board, kind, item, seed

    @property
    def examples(self) -> tuple[QaItem, ...]:
        return examples(self.board, self.seed, self.game.examples)

    def solution(self, seat: str) -> str | None:
        return self.item.answer

    @property
    def right(self) -> bool:
        return self.answer == self.item.answer

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.right)}

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "options": len(self.item.options),
            "correct": self.item.answer,
            "answer": self.answer or None,
            "right": self.right,
            "truth": self.item.options[self.item.right],
            "said": self.item.by_letter.get(self.answer or ""),
        }


@dataclass
class Working(Agent):
    """Says where it looks, counts row by row, says the option with its letter, and answers."""

    kind = "bot/working"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, ChoiceQuestion)
        item = ask.state.item
        lines = [item.work, f"= {item.lettered[item.right]}", ask.format.write(item.answer)]
        return Reply("\n".join(filter(None, lines)), item.answer)


class QaView(View):
    """A question on top of the view of a board game."""

    smallest = 64
    """The view of the game that is shown decides."""

    def __init__(self, game: Qa, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_of(game.board, render, seed)

    def image(self, state: ChoiceQuestion, seat: str) -> Picture:
        return self._board.draw(state.item.matrix)

    def text(self, state: ChoiceQuestion, seat: str) -> str:
        return self._board.transcript(state.item.matrix)

    def notes(self, state: ChoiceQuestion, seat: str) -> str:
        examples = "\n\n".join(f"{each.prompt()}\nAnswer: {each.answer}" for each in state.examples)
        section = "question" if examples else "question alone"
        return self.templates.fill(section, examples=examples, question=state.item.prompt())

    def brief(self, state: ChoiceQuestion, seat: str) -> str:
        """The board and the question, without examples. Options come before their letters, so that a model
        that knows the right option only copies what follows it."""
        item = state.item
        options = "".join(f" {option}" for option in item.lettered)
        return f"{self._board.game.name}\n{item.text}\n{options}"

    def values(self, seat: str) -> dict[str, object]:
        board = self._board
        name, last = f"about {board.game.name}", board.row_label(board.rows - 1)
        return {"about": self.templates.fill(name, last=last, rows=board.rows, columns=board.columns)}

    def format(self, state: ChoiceQuestion, seat: str) -> LetterFormat:
        return LetterFormat("Answer", _spellings(state.item))

    def form(self, state: ChoiceQuestion, seat: str) -> Choose:
        labels = {letter: f"{letter}. {option}" for letter, option in state.item.by_letter.items()}
        return Choose(state.legal(seat), labels, format=self.format(state, seat), prompt=state.item.text)

    def notes_for_person(self, state: ChoiceQuestion, seat: str) -> str:
        """The question alone: its options are in the form, and people need no examples."""
        return state.item.text


class LetterFormat(ActionFormat):
    """A last line `Answer: B`, or only the letter."""

    def ask(self, legal: Legal) -> str:
        return f"End your reply with one line: {self.label}: <the letter of the right option>"


def _spellings(item: QaItem) -> dict[str, str]:
    options = item.by_letter.items()
    return {f"{letter}{mark} {option}": letter for letter, option in options for mark in (".", ")", ":", "")}
