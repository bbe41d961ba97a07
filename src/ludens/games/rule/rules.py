"""Rule, a one-move question: name a valid move in a position reached by random play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.state import Legal, State
from ludens.games.open_spiel.adapter import SpielState

SEAT = "player"


@dataclass(frozen=True)
class RuleQuestion(Game):
    """Name one valid move; the game itself decides whether it is one.

    Seats: `player`, alone, for one move.
    Observation: a position of the board game named by the option `board`, reached by random legal play.
    Actions: one move, spelt as in that game.
    Rewards: 1 for a valid move, 0 for anything else.
    """

    name = "rule"
    seats = (SEAT,)
    version = 2
    view_class = "ludens.games.rule.view:RuleView"
    best = "bot/oracle"
    question = True

    board: str = option("tic_tac_toe", help="the board game whose rules are to be followed, options included")
    moves: int = option(40, low=0, high=400, help="random moves before the question, at most")

    def __post_init__(self) -> None:
        super().__post_init__()
        board_game(self.board)

    def start(self, seed: int) -> Question:
        position = reached(board_game(self.board), seed, self.moves)
        if isinstance(position, SpielState):
            position.last = {}  # the question shows a position, not a game
        return Question(position)


@lru_cache(maxsize=64)
def board_game(board: str) -> Game:
    """The game whose rules are asked about: one seat at a time, named moves."""
    if board.split("?")[0] in ("rule", "perceive", "qa"):
        raise BadOption(f"rule needs a board game to ask about, not the question {board.split('?')[0]}.")
    game = make(board)
    state = game.start(0)
    if len(state.to_act) != 1 or state.legal(state.to_act[0]).is_text:
        raise BadOption(f"rule needs a game of turns with named moves; {board} is not one.")
    return game


def reached(game: Game, seed: int, moves: int) -> State:
    """A position that is not over, after a random number of random moves (at most `moves`)."""
    choose = stream(seed, "position")
    state, passed = game.start(seed), list[State]()
    for _ in range(choose.between(0, moves)):
        passed.append(state.clone())
        state.apply({state.to_act[0]: valid_moves(state).sample(choose)})
        if state.over:
            # A game that ended early gives any of the positions it went through.
            return choose.choice(passed)
    return state


def valid_moves(position: State) -> Legal:
    """The moves of the seat to act."""
    return position.legal(position.to_act[0])


class Question(State):
    """A position, and the move that was named."""

    def __init__(self, position: State, answer: str | None = None) -> None:
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
        return {
            "valid": bool(self.returns[SEAT]),
            "readable": bool(self.answer),
            "mover": self.position.to_act[0],
            "choices": len(valid_moves(self.position)),
        }

    def clone(self) -> Self:
        return type(self)(self.position, self.answer)

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return type(self)(self.position.resample_hidden(self.position.to_act[0], random), self.answer)
