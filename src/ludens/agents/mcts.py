"""Monte Carlo tree search for OpenSpiel games, by OpenSpiel's C++ bot with a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.errors import BadOption
from ludens.core.options import option
from ludens.games.open_spiel.adapter import SpielGame, SpielState

if TYPE_CHECKING:
    import pyspiel


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
