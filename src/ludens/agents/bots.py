"""Bots for any game: random, first, constant, guess (do not look), oracle (knows the answer), alpha-beta
with a game's evaluation, and OpenSpiel's Monte Carlo tree search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from ludens.core.agent import Agent, Ask, Bot, Reply
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of
from ludens.games.negamax import Negamax
from ludens.games.open_spiel import SpielGame, SpielState


@dataclass
class Guess(Agent):
    """A random answer, legal now or not: any that the game's view can name (`View.guess`)."""

    kind = "bot/guess"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = view_of(self.game, RenderOptions(), 0).guess(ask.state, ask.seat, self.random)
        return Reply(action, action)


@dataclass
class Random(Guess):
    """A random legal action, each equally likely; a guess where the action is a text."""

    kind = "bot/random"

    async def act(self, ask: Ask) -> Reply:
        if ask.legal.is_text:
            return await super().act(ask)
        action = ask.legal.sample(self.random)
        return Reply(action, action)


@dataclass
class First(Agent):
    """Always the first legal action; the empty text where the action is a text."""

    kind = "bot/first"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        return Reply(ask.legal.first, ask.legal.first)


@dataclass
class Constant(Agent):
    """The same action whenever it is legal, else the first legal one."""

    action: str = option("", help="the action")
    kind = "bot/constant"
    sees = "nothing"

    async def act(self, ask: Ask) -> Reply:
        allowed = ask.legal.is_text or self.action in ask.legal
        action = self.action if allowed else ask.legal.first
        return Reply(action, action)


@dataclass
class Oracle(Agent):
    """The best action, in games that know it (`State.solution`)."""

    kind = "bot/oracle"
    sees = "state"

    def begin(self) -> None:
        if not _has_solutions(self.game):
            raise BadOption(f"bot/oracle cannot play {self.game.name}: the game does not know a best action.")

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = ask.state.solution(ask.seat)
        if action is None:
            raise BadOption(f"bot/oracle: {self.game.name} does not know a best action in this state.")
        return Reply(action, action)


@lru_cache(maxsize=64)
def _has_solutions(game: Game) -> bool:
    """Whether the states of a game override `State.solution`."""
    return type(game.start(0)).solution is not State.solution


class _StateSearch(Negamax[tuple[State, int], str]):
    """Search on the states of any game, with the values of one seat.

    A position is a state and the sign of its side: 1 for the seat, -1 for the other.
    """

    def __init__(self, game: Game, seat: str) -> None:
        super().__init__()
        self._game, self._seat = game, seat

    def expand(
        self, position: tuple[State, int], depth: int, alpha: float, beta: float
    ) -> tuple[float, Sequence[str]]:
        state, sign = position
        if state.over:
            # Remaining depth breaks ties: an earlier win is better.
            return sign * state.returns[self._seat] * 1e6 * (1 + 1e-6 * depth), ()
        if depth == 0:
            return sign * self._game.evaluate(state, self._seat), ()
        [seat] = state.to_act
        if (seat == self._seat) != (sign > 0):  # the same seat moves twice
            return -self.value((state, -sign), depth, -beta, -alpha), ()
        return -inf, state.legal(seat)

    def make(self, position: tuple[State, int], move: str) -> tuple[State, int]:
        after = position[0].clone()
        after.apply({after.to_act[0]: move})
        return after, -position[1]


@dataclass
class AlphaBeta(Bot):
    """Searches `depth` moves deep; ties between first moves are broken by the seat's random stream."""

    depth: int = option(3, low=1, high=30, help="moves looked ahead")
    kind = "bot/alphabeta"
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

    def choose(self, state: State) -> str:
        moves = list(state.legal(self.seat))
        self.random.shuffle(moves)
        return _StateSearch(self.game, self.seat).first_best((state, 1), self.depth, moves)


@dataclass
class Mcts(Bot):
    """UCT with random rollouts; each move starts a new search, seeded from the seat's random stream."""

    simulations: int = option(100, low=1, high=1_000_000, help="tree searches before a move")
    rollouts: int = option(10, low=1, high=10_000, help="random games played out at each leaf")
    c: float = option(2.0, low=0, high=100, help="weight of exploration")
    kind = "bot/mcts"
    computes = True

    def begin(self) -> None:
        if not isinstance(self.game, SpielGame):
            raise BadOption(f"bot/mcts plays OpenSpiel games only; {self.game.name} is not one.")
        if not self.game.searchable:
            raise BadOption(
                f"bot/mcts needs perfect information and one seat at a time, unlike {self.game.name}."
            )

    def choose(self, state: SpielState) -> str:
        import pyspiel

        seed = self.random.below(2**31 - 1)
        evaluator = pyspiel.RandomRolloutEvaluator(self.rollouts, seed)
        solve, verbose, memory_mb = True, False, 1000
        game = state.spiel.get_game()
        bot = pyspiel.MCTSBot(game, evaluator, self.c, self.simulations, memory_mb, solve, seed, verbose)
        return state.name_of(bot.step(state.spiel))
