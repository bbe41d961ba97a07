"""Who names moves of a board without knowing the rules: the baseline of papers that draw from all answers."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.view import RenderOptions
from ludens.games.boards import BoardView


@dataclass
class Guess(Agent):
    """Any move that could be named on this board, legal now or not, each as likely."""

    kind = "bot/guess"
    sees = "nothing"

    def begin(self) -> None:
        view = self.game.view(RenderOptions())
        if not isinstance(view, BoardView):
            raise BadOption(f"{self.kind} needs a game on a board of cells; {self.game.name} is not one.")
        self._answers = view.answers()

    async def act(self, ask: Ask) -> Reply:
        action = self.random.choice(self._answers)
        return Reply(action, action)
