"""Search bots: alpha-beta with a game's evaluation, and OpenSpiel's Monte Carlo tree search."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.core.state import State
from ludens.games.open_spiel import SpielGame, SpielState

if TYPE_CHECKING:
    import pyspiel


@dataclass
class AlphaBeta(Agent):
    """Searches `depth` moves deep; ties between first moves are broken by the seat's random stream."""

    depth: int = option(3, low=1, high=30, help="moves looked ahead")
    kind = "bot/alphabeta"
    sees = "state"
    computes = True

    def begin(self) -> None:
        if len(self.game.seats) != 2 or self.game.imperfect_information:
            raise BadOption(
                f"bot/alphabeta needs two seats and perfect information, unlike {self.game.name}."
            )

        first = self.game.start(0)
        if len(first.to_act) != 1 or first.legal(first.to_act[0]).is_text:
            raise BadOption(
                f"bot/alphabeta needs one seat to act at a time with named actions, unlike {self.game.name}."
            )

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert state is not None
        moves = list(ask.legal)
        self.random.shuffle(moves)
        best, best_value = moves[0], -inf
        for action in moves:
            value = self._value(_after(state, action), self.depth - 1, best_value, inf)
            if value > best_value:
                best, best_value = action, value
        return Reply(best, best)

    def _value(self, state: State, depth: int, alpha: float, beta: float) -> float:
        """The value of the state for our seat; so are `alpha` and `beta`."""
        if state.over or depth == 0:
            # Remaining depth breaks ties: an earlier win is better.
            value = state.returns[self.seat] * 1e6 if state.over else self.game.evaluate(state, self.seat)
            return value * (1 + 1e-6 * depth) if state.over else value
        [seat] = state.to_act
        own = seat == self.seat
        for action in state.legal(seat):
            value = self._value(_after(state, action), depth - 1, alpha, beta)
            alpha, beta = (max(alpha, value), beta) if own else (alpha, min(beta, value))
            if alpha >= beta:
                break
        return alpha if own else beta


def _after(state: State, action: str) -> State:
    after = state.clone()
    after.apply({after.to_act[0]: action})
    return after


@dataclass
class Mcts(Agent):
    """UCT with random rollouts; each move starts a new search, seeded from the seat's random stream."""

    simulations: int = option(100, low=1, high=1_000_000, help="tree searches before a move")
    rollouts: int = option(10, low=1, high=10_000, help="random games played out at each leaf")
    c: float = option(2.0, low=0, high=100, help="weight of exploration")
    kind = "bot/mcts"
    sees = "state"
    computes = True

    def begin(self) -> None:
        if not isinstance(self.game, SpielGame):
            raise BadOption(f"bot/mcts plays OpenSpiel games only; {self.game.name} is not one.")
        if not self.game.searchable:
            raise BadOption(
                f"bot/mcts needs perfect information and one seat at a time, unlike {self.game.name}."
            )

    def _bot(self, game: Any) -> pyspiel.MCTSBot:
        import pyspiel

        seed = self.random.below(2**31 - 1)
        evaluator = pyspiel.RandomRolloutEvaluator(self.rollouts, seed)
        solve, verbose, memory_mb = True, False, 1000
        return pyspiel.MCTSBot(game, evaluator, self.c, self.simulations, memory_mb, solve, seed, verbose)

    async def act(self, ask: Ask) -> Reply:
        state = ask.state
        assert isinstance(state, SpielState)
        action = state.name_of(self._bot(state.spiel.get_game()).step(state.spiel))
        return Reply(action, action)
