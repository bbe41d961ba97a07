"""The view of Rule: the board game's own picture and rules, without the list of legal moves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ludens.core.errors import Illegal
from ludens.core.places import Places
from ludens.core.random import Stream
from ludens.core.reply import ReplyFormat, labelled, without_reasoning
from ludens.core.state import Legal
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.boards import BoardView
from ludens.games.rule.positions import board_game
from ludens.games.rule.rules import Question, RuleQuestion


@dataclass(frozen=True)
class MoveFormat(ReplyFormat):
    """The board game's own format; an invalid move is still an answer, and a wrong one."""

    own: ReplyFormat
    moves: Legal

    def ask(self, legal: Legal) -> str:
        return "End your reply with one line: Action: <your move>"

    def write(self, action: str) -> str:
        return self.own.write(action)

    def read(self, text: str, legal: Legal) -> str:
        try:
            return self.own.read(text, self.moves)
        except Illegal:
            said = without_reasoning(text)
            named = [name for name in labelled(said, "Action") if name]
            return (named or [said.strip()])[-1][: legal.text_limit]


class RuleView(View):
    """A question on top of the view of a board game."""

    def __init__(self, game: RuleQuestion, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_game(game.board).view(render, seed)

    def image(self, state: Question, seat: str) -> Picture:
        return self._board.image(state.position, state.position.to_act[0])

    def images(self, state: Question, seat: str) -> tuple[Picture, ...]:
        return self._board.images(state.position, state.position.to_act[0])

    def text(self, state: Question, seat: str) -> str:
        return self._board.text(state.position, state.position.to_act[0])

    def places(self, state: Question, seat: str) -> Places:
        return self._clickable if seat in state.to_act else {}

    @cached_property
    def _clickable(self) -> Places:
        """Of every move that can be clicked on the board: which of them are valid is the question."""
        board = self._board
        return board.places_of(board.clickable()) if isinstance(board, BoardView) else {}

    def notes(self, state: Question, seat: str) -> str:
        mover = state.position.to_act[0]
        return "\n\n".join(filter(None, (self._board.rules(mover), self._board.notes(state.position, mover))))

    def brief(self, state: Question, seat: str) -> str:
        """The board, who is to move, and what that seat is told in its game."""
        position, mover = state.position, state.position.to_act[0]
        told = self._board.brief(position, mover)
        notes = self._board.notes(position, mover) if told is None else told
        return f"{self._board.game.name} {mover} {notes}".strip()

    def values(self, seat: str) -> dict[str, object]:
        return {"game": self._board.game.name}

    def guess(self, state: Question, seat: str, random: Stream) -> str:
        return self._board.guess(state.position, state.position.to_act[0], random)

    def format(self, state: Question, seat: str) -> ReplyFormat:
        mover = state.position.to_act[0]
        return MoveFormat(self._board.format(state.position, mover), state.position.legal(mover))
