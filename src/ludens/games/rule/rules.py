"""Rule, a one-move question: name a valid move in a position reached by random play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import Stream
from ludens.core.state import Legal, State
from ludens.games.open_spiel.adapter import SpielState
from ludens.games.rule.positions import (
    after_moves,
    answers,
    board_game,
    bounds,
    valid_moves,
    with_filled_cells,
)

SEAT = "player"


@dataclass(frozen=True)
class RuleQuestion(Game):
    """Name one valid move; the game itself decides whether it is one.

    Seats: `player`, alone, for one move.
    Observation: a position of the board game named by the option `board`, reached by random legal play.
    Actions: one move, spelt as in that game.
    Rewards: 1 for a valid move, 0 for anything else.
    Facts: `choices` counts the valid moves, `chance` is their share of all moves that can be named.
    """

    name = "rule"
    seats = (SEAT,)
    version = 3
    view_class = "ludens.games.rule.view:RuleView"
    best = "bot/oracle"
    bots: ClassVar[Mapping[str, str]] = {"valid": "ludens.games.rule.bots:Valid"}
    question = True

    board: str = option(
        "tic_tac_toe",
        help="the board game whose rules are to be followed, options included",
        touches=Touch.GAME,
    )
    moves: str = option("0-40", help="how many random moves lead to the position, as in 80-120")
    filled: str = option("", help="how many cells of the board are filled, as in 67-157; not used when empty")

    def __post_init__(self) -> None:
        super().__post_init__()
        board_game(self.board)
        bounds("moves", self.moves)
        if self.filled:
            bounds("filled", self.filled)

    def start(self, seed: int) -> Question:
        if self.filled:
            position = with_filled_cells(self.board, seed, self.filled)
        else:
            position = after_moves(self.board, seed, self.moves)
        if isinstance(position, SpielState):
            position.last = {}  # the question shows a position, not a game
        return Question(self.board, position)


class Question(State):
    """A position, and the move that was named."""

    def __init__(self, board: str, position: State, answer: str | None = None) -> None:
        self.board = board
        self.position = position
        self.answer = answer

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.answer is not None else (SEAT,)

    def legal(self, seat: str) -> Legal:
        return Legal.text(200) if seat in self.to_act else Legal()

    def solution(self, seat: str) -> str | None:
        return valid_moves(self.position).first

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answer = actions[SEAT]

    @property
    def returns(self) -> dict[str, float]:
        return {SEAT: float(self.answer in valid_moves(self.position)) if self.answer else 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        valid, named = valid_moves(self.position), answers(self.board)
        return {
            "valid": bool(self.returns[SEAT]),
            "readable": bool(self.answer),
            "mover": self.position.to_act[0],
            "choices": len(valid),
            "chance": len(named.intersection(valid)) / len(named) if named else 0.0,
        }

    def clone(self) -> Self:
        return type(self)(self.board, self.position, self.answer)

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        position = self.position.resample_hidden(self.position.to_act[0], random)
        return type(self)(self.board, position, self.answer)
