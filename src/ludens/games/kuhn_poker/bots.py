"""The equilibria of Kuhn poker: one optimal strategy for each alpha from 0 to 1/3."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.kuhn_poker.rules import KuhnQuestion, KuhnState


def equilibrium(alpha: float) -> dict[str, float]:
    """The probability of BET at each information set, in the equilibrium with this alpha."""
    return {
        "J": alpha, "Q": 0.0, "K": 3 * alpha,
        "Jpb": 0.0, "Qpb": alpha + 1 / 3, "Kpb": 1.0,
        "Jp": 1 / 3, "Qp": 0.0, "Kp": 1.0,
        "Jb": 0.0, "Qb": 1 / 3, "Kb": 1.0,
    }  # fmt: skip


@dataclass
class Equilibrium(Agent):
    """Plays one of the equilibria; `alpha` is the probability of opening with a BET on a jack."""

    kind = "bot/equilibrium"
    sees = "state"

    alpha: float = option(1 / 6, low=0, high=1 / 3, help="how often to open with a bet on a jack")

    def begin(self) -> None:
        self._policy = equilibrium(self.alpha)

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action."""
        hand = state.hand if isinstance(state, KuhnQuestion) else state
        assert isinstance(hand, KuhnState)
        bet = self._policy[hand.infoset(self.seat)]
        return {"PASS": 1 - bet, "BET": bet}

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = "BET" if self.random.random() < self.policy(ask.state)["BET"] else "PASS"
        return Reply(action, action)
