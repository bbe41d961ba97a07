"""Qa, a one-move question: choose the true option about a random position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.games.boards import BoardView
from ludens.games.qa import chess, gomoku, minesweeper, reversi, sudoku, tic_tac_toe
from ludens.games.qa.questions import Item, QuestionType

QUESTIONS: Mapping[str, Mapping[str, QuestionType]] = {
    "tic_tac_toe": tic_tac_toe.QUESTIONS,
    "reversi": reversi.QUESTIONS,
    "sudoku": sudoku.QUESTIONS,
    "minesweeper": minesweeper.QUESTIONS,
    "gomoku": gomoku.QUESTIONS,
    "chess": chess.QUESTIONS,
}


SEAT = "viewer"


@dataclass(frozen=True)
class Qa(Game):
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
    view_class = "ludens.games.qa.view:QaView"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"working": "ludens.games.qa.game:Working"}
    question = True

    board: str = option(
        "tic_tac_toe",
        help="the board game whose positions are asked about",
        touches=Touch.GAME,
    )
    kind: str = option("", help="the type of question; any when empty")
    examples: int = option(3, low=0, high=6, help="answered questions about other positions in the prompt")

    def __post_init__(self) -> None:
        super().__post_init__()
        board = board_of(self.board, RenderOptions())
        if self.kind and self.kind not in QUESTIONS[board.game.name]:
            raise UnknownName(f"question about {board.game.name}", self.kind, QUESTIONS[board.game.name])

    def start(self, seed: int) -> Question:
        board = board_of(self.board, RenderOptions())
        kind = self.kind or stream(seed, "kind").choice(list(QUESTIONS[board.game.name]))
        return Question(self, board, kind, ask(board, kind, seed), seed)


@lru_cache(maxsize=64)
def board_of(board: str, render: RenderOptions, seed: int = 0) -> BoardView:
    """The view of the board game that is shown."""
    name = board.partition("?")[0]
    if name not in QUESTIONS:
        raise BadOption(f"there are no questions about {name!r}; there are about {', '.join(QUESTIONS)}.")
    view = make(board).view(render, seed)
    assert isinstance(view, BoardView)
    return view


def ask(board: BoardView, kind: str, seed: int, *names: str) -> Item:
    """The question of this type with this seed."""
    return QUESTIONS[board.game.name][kind](board, stream(seed, "question", board.game.name, kind, *names))


@lru_cache(maxsize=512)
def examples(board: BoardView, seed: int, count: int) -> tuple[Item, ...]:
    """Answered questions of different types about other positions."""
    kinds = stream(seed, "examples").sample(list(QUESTIONS[board.game.name]), count)
    return tuple(ask(board, kind, seed, "example") for kind in kinds)


class Question(State):
    """A question, and the letter that was answered."""

    def __init__(
        self, game: Qa, board: BoardView, kind: str, asked: Item, seed: int, answer: str = ""
    ) -> None:
        self.game = game
        self.board = board
        self.kind = kind
        self.asked = asked
        self.seed = seed
        self.answer = answer

    @property
    def examples(self) -> tuple[Item, ...]:
        """The answered questions in the prompt."""
        return examples(self.board, self.seed, self.game.examples)

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.answer else (SEAT,)

    def legal(self, seat: str) -> Legal:
        return self.asked.letters if seat in self.to_act else Legal()

    def solution(self, seat: str) -> str | None:
        return self.asked.answer

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answer = actions[SEAT]

    @property
    def right(self) -> bool:
        """Whether the right letter was answered."""
        return self.answer == self.asked.answer

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.right)}

    @property
    def facts(self) -> dict[str, Any]:
        said = dict(zip(self.asked.letters, self.asked.options, strict=True)).get(self.answer)
        return {
            "kind": self.kind,
            "options": len(self.asked.options),
            "correct": self.asked.answer,
            "answer": self.answer or None,
            "right": self.right,
            "truth": self.asked.options[self.asked.right],
            "said": said,
        }

    def clone(self) -> Self:
        return type(self)(self.game, self.board, self.kind, self.asked, self.seed, self.answer)


@dataclass
class Working(Agent):
    """Says where it looks, counts row by row, says the option with its letter, and answers."""

    kind = "bot/working"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, Question)
        asked = ask.state.asked
        steps = [asked.work] if asked.work else []
        return Reply(
            "\n".join([*steps, f"= {asked.lettered[asked.right]}", ask.format.write(asked.answer)]),
            asked.answer,
        )
