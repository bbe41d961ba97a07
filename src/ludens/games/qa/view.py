"""The view of Qa: the board game's own picture; question, options and examples in the notes."""

from __future__ import annotations

from ludens.core.reply import ActionFormat
from ludens.core.state import Legal
from ludens.core.view import Picture, RenderOptions, View
from ludens.games.qa.game import Qa, Question, board_of
from ludens.games.qa.questions import Item


class QaView(View):
    """A question on top of the view of a board game."""

    def __init__(self, game: Qa, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._board = board_of(game.board, render, seed)

    def image(self, state: Question, seat: str) -> Picture:
        return self._board.draw(state.asked.matrix)

    def text(self, state: Question, seat: str) -> str:
        return self._board.transcript(state.asked.matrix)

    def notes(self, state: Question, seat: str) -> str:
        answered = "\n\n".join(f"{each.written()}\nAnswer: {each.answer}" for each in state.examples)
        section = "question" if answered else "question alone"
        return self.templates.fill(section, examples=answered, question=state.asked.written())

    def brief(self, state: Question, seat: str) -> str:
        """The board and the question, without examples. Options stand before their letters: who knows the
        option only has to copy what follows it."""
        asked = state.asked
        options = "".join(f" {named}" for named in asked.lettered)
        return f"{self._board.game.name}\n{asked.text}\n{options}"

    def values(self, seat: str) -> dict[str, object]:
        board = self._board
        about = self.templates.fill(
            f"about {board.game.name}",
            last=board.row_label(board.rows - 1),
            rows=board.rows,
            columns=board.columns,
        )
        return {"about": about}

    def format(self, state: Question, seat: str) -> LetterFormat:
        return LetterFormat("Answer", _spellings(state.asked))


class LetterFormat(ActionFormat):
    """A last line `Answer: B`, or only the letter."""

    def ask(self, legal: Legal) -> str:
        return f"End your reply with one line: {self.label}: <the letter of the right option>"


def _spellings(asked: Item) -> dict[str, str]:
    """Accepted spellings: a letter may be followed by its option."""
    named = zip(asked.letters, asked.options, strict=True)
    return {f"{letter}{mark} {option}": letter for letter, option in named for mark in (".", ")", ":", "")}
