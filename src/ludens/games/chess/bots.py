"""Chess players: alpha-beta with piece-square tables, and any engine that speaks UCI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.games.chess.search import best_actions
from ludens.games.open_spiel.adapter import SpielState


@dataclass
class Search(Agent):
    """Looks `depth` moves ahead, and on through captures; the seat's stream decides between equals."""

    depth: int = option(2, low=1, high=5, help="moves looked ahead, captures beyond not counted")
    kind = "bot/search"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        spiel: Any = state.spiel
        action = state.name_of(self.random.choice(best_actions(spiel, self.depth)))
        return Reply(action, action)
