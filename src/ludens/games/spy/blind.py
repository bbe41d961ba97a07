"""`bot/blind`: the baseline of players that never look, but sit in several seats and agree beforehand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.games.spy.rules import CLUE, SPY, SpyState
from ludens.games.spy.stock import STOCK_CLUES

AGREED = STOCK_CLUES[0]


@dataclass
class Blind(Agent):
    """Civilians all say one agreed sentence and vote for the player who does not.

    The spy repeats what was said most often, which is true of most pictures.
    """

    kind = "bot/blind"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpyState)
        action = self._clue(state, ask.seat) if state.stage == CLUE else self._vote(state)
        return Reply(action, action)

    def _clue(self, state: SpyState, seat: str) -> str:
        said = Counter(filter(None, state.clues))
        return said.most_common(1)[0][0] if said and seat == SPY else AGREED

    def _vote(self, state: SpyState) -> str:
        players = range(len(state.table))
        other = [sum(clue != AGREED for clue in state.clues[place :: len(players)]) for place in players]
        return str(max(players, key=other.__getitem__) + 1)
