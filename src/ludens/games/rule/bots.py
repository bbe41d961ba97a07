"""Who names moves without looking: one that guesses among all there could be, one that knows."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.view import RenderOptions
from ludens.games.boards import BoardView
from ludens.games.rule.rules import Question, RuleQuestion, board_game


@dataclass
class Guess(Agent):
    """Any move of the board, valid or not: the baseline is the share of valid ones."""

    kind = "bot/random"
    sees = "nothing"

    def begin(self) -> None:
        assert isinstance(self.game, RuleQuestion)
        view = board_game(self.game.board).view(RenderOptions())
        if not isinstance(view, BoardView):
            raise BadOption(f"{self.game.board} is not on a board of cells: there is nothing to guess from.")
        self._answers = view.answers()

    async def act(self, ask: Ask) -> Reply:
        action = self.random.choice(self._answers)
        return Reply(action, action)


@dataclass
class Oracle(Agent):
    """A valid move."""

    kind = "bot/oracle"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        question = ask.state
        assert isinstance(question, Question)
        legal = question.position.legal(question.position.to_act[0])
        action = self.random.choice(legal)
        return Reply(action, action)
