"""Games on OpenSpiel: a state of ours around a state of OpenSpiel.

Board games can begin with random moves, drawn by seed, and have pairs of such beginnings that are twins.
Without them two players without dice play one and the same game on every seed, and a list of moves that wins
it wins always. The moves are in the picture only.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.errors import BadOption, MissingPackage
from ludens.core.game import Game
from ludens.core.options import option
from ludens.core.plain import plural
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.core.twins import TwinGame
from ludens.core.view import RenderOptions, view_of

if TYPE_CHECKING:
    import pyspiel

_TERMINAL, _SIMULTANEOUS, _CHANCE = -4, -2, -1
OPENING_ATTEMPTS = 2_000
"""Openings tried for one world."""
TWIN_ATTEMPTS = 12
"""Twins tried for one opening, before another opening is."""


class SpielGame(Game):
    """A game with OpenSpiel's rules. Subclasses define the game, its seats and the names of actions."""

    spiel_name: ClassVar[str]
    stable_names: ClassVar[bool] = False
    """Whether an action's name depends only on player and number, so that it can be cached."""

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        return {}

    @property
    def spiel(self) -> pyspiel.Game:
        try:
            return _load(self.spiel_name, tuple(sorted(self.spiel_parameters.items())))
        except ImportError as error:
            raise MissingPackage(self.name, "open_spiel", error) from None

    @property
    def searchable(self) -> bool:
        """Whether tree search applies: perfect information, one seat at a time."""
        kind = self.spiel.get_type()
        import pyspiel

        open_to_all = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        return bool(open_to_all and kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL)

    def action_name(self, spiel: pyspiel.State, player: int, action: int) -> str:
        return str(spiel.action_to_string(player, action))

    def actions(self, seat: str) -> tuple[str, ...]:
        """By default all actions of OpenSpiel in its order, with the names that they have at the start."""
        player = self.seats.index(seat)
        first, count = self.spiel.new_initial_state(), self.spiel.num_distinct_actions()
        return tuple(dict.fromkeys(self.action_name(first, player, action) for action in range(count)))

    def first(self) -> pyspiel.State:
        return self.spiel.new_initial_state()

    def start(self, seed: int) -> SpielState:
        return SpielState(self, self.first(), stream(seed, "deal"))


@lru_cache(maxsize=64)
def _load(name: str, parameters: tuple[tuple[str, Any], ...]) -> pyspiel.Game:
    import pyspiel

    return pyspiel.load_game(name, dict(parameters))


class _ActionNames(dict[int, str]):
    """A cache of a player's action names, by number."""

    def __init__(self, game: SpielGame, player: int) -> None:
        self._game, self._player = game, player

    def __missing__(self, action: int) -> str:
        name = self._game.action_name(self._game.spiel.new_initial_state(), self._player, action)
        return self.setdefault(action, name)


_stable_names = lru_cache(maxsize=256)(_ActionNames)


class SpielState(State):
    """An OpenSpiel state past all chance nodes."""

    def __init__(self, game: SpielGame, spiel: pyspiel.State, random: Stream) -> None:
        self.game = game
        self.spiel = spiel
        self._random = random
        self.last: Mapping[str, str] = {}
        """The last action by the seat that took it (several where they move together); empty at the start."""
        self._settle()

    def _settle(self) -> None:
        """Resolve chance nodes, then determine the seats to act."""
        spiel = self.spiel
        while (player := spiel.current_player()) == _CHANCE:
            outcomes = spiel.chance_outcomes()
            spiel.apply_action(self._random.weighted([o for o, _ in outcomes], [p for _, p in outcomes]))
        seats = self.game.seats
        self._names: dict[str, dict[str, int]] = {}
        if player == _SIMULTANEOUS:
            self._to_act = tuple(seat for index, seat in enumerate(seats) if spiel.legal_actions(index))
        else:
            self._to_act = () if player == _TERMINAL else (seats[player],)

    @property
    def to_act(self) -> tuple[str, ...]:
        return self._to_act

    def legal(self, seat: str) -> Legal:
        return Legal(self._named(seat))

    def _named(self, seat: str) -> dict[str, int]:
        if seat not in self._to_act:
            return {}
        named = self._names.get(seat)
        if named is None:
            player = self.game.seats.index(seat)
            actions = self.spiel.legal_actions(player)
            if self.game.stable_names:
                names = _stable_names(self.game, player)
                named = {names[action]: action for action in actions}
            else:
                named = {self.game.action_name(self.spiel, player, action): action for action in actions}
            self._names[seat] = named
        return named

    def name_of(self, action: int) -> str:
        return next(name for name, number in self._named(self._to_act[0]).items() if number == action)

    def refusal(self, seat: str, action: str) -> str | None:
        return None if action in self._named(seat) else super().refusal(seat, action)

    def _advance(self, actions: Mapping[str, str]) -> None:
        numbers = [self._named(seat)[actions[seat]] for seat in self._to_act]
        if len(self._to_act) == 1:
            self.spiel.apply_action(numbers[0])
        else:
            due = dict(zip(self._to_act, numbers, strict=True))
            self.spiel.apply_actions([due.get(seat, 0) for seat in self.game.seats])
        self.last = dict(actions)
        self._settle()

    def apply_number(self, action: int) -> None:
        """Apply a legal OpenSpiel action of the one seat to act, without its name: `last` is empty."""
        self.spiel.apply_action(action)
        self.last = {}
        self._settle()

    @property
    def returns(self) -> dict[str, float]:
        return dict(zip(self.game.seats, self.spiel.returns(), strict=True))

    @property
    def facts(self) -> dict[str, Any]:
        returns = self.returns
        best = max(returns.values())
        winners = [seat for seat, value in returns.items() if value == best]
        return {"winner": winners[0] if len(winners) == 1 else None, "moves": self.spiel.move_number()}

    def forfeited(self, seat: str) -> dict[str, float]:
        game = self.spiel.get_game()
        return {
            other: game.min_utility() if other == seat else game.max_utility() for other in self.game.seats
        }

    def clone(self) -> Self:
        copy = object.__new__(type(self))
        copy.game, copy.spiel = self.game, self.spiel.clone()
        copy._random, copy._to_act, copy._names = self._random.clone(), self._to_act, self._names
        copy.last = self.last
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        if not self.game.imperfect_information:
            return self.clone()
        player = self.game.seats.index(seat)
        spiel = self.spiel.resample_from_infostate(player, random.random)
        copy = type(self)(self.game, spiel, random.clone())
        copy.last = self.last
        return copy


@dataclass(frozen=True, kw_only=True)
class BoardGame(TwinGame[SpielState], SpielGame):
    """A game for two on a board, with random openings in which neither side is ahead.

    Twins: two openings of equal length with other good moves; a game says which openings are tried.
    """

    opening: int = option(
        0, low=0, high=60, help="random moves before the first turn, drawn by seed, that leave the game level"
    )

    usual_opening: ClassVar[int]
    """The number of random moves of twins where `opening` is 0."""

    @property
    def seeded(self) -> bool:
        return self.opening > 0 or self.twins

    @abstractmethod
    def level(self, state: SpielState) -> bool:
        """Whether neither side is ahead, as far as a short search sees."""

    @abstractmethod
    def good_moves(self, state: SpielState) -> Collection[str]:
        """The moves of which twins have none in common."""

    def opening_moves(self, state: SpielState) -> Sequence[str]:
        """The moves that an opening is made of."""
        return state.legal(state.to_act[0])

    def candidates(self, first: SpielState, random: Stream) -> Iterator[SpielState]:
        """States that may be a twin of this opening: by default other openings."""
        while True:
            other = self._opening(random)
            if other is not None:
                yield other

    def replay(self, actions: Sequence[int]) -> SpielState | None:
        """The state after the actions of an opening; None where it is not possible."""
        state = self._first()
        for action in actions:
            if state.over or action not in state.spiel.legal_actions():
                return None
            state.apply({state.to_act[0]: state.name_of(action)})
        return None if state.over else state

    def world(self, seed: int) -> SpielState:
        return _world(self, seed).clone() if self.opening else self._first(seed)

    def pair(self, seed: int) -> tuple[SpielState, SpielState]:
        first, second = _pair(self, seed)
        return first.clone(), second.clone()

    def _first(self, seed: int = 0) -> SpielState:
        return SpielState(self, self.first(), stream(seed, "deal"))

    def _opening(self, random: Stream) -> SpielState | None:
        """The state after random moves; None where the game is over."""
        state = self._first()
        for _ in range(self.opening or self.usual_opening):
            state.apply({state.to_act[0]: random.choice(self.opening_moves(state))})
            if state.over:
                return None
        return state

    def _level_openings(self, random: Stream, judge: OpeningJudge) -> Iterator[SpielState]:
        for _ in range(OPENING_ATTEMPTS):
            state = self._opening(random)
            if state is not None and judge.level(state):
                yield state

    def _twin(self, first: SpielState, random: Stream, judge: OpeningJudge) -> SpielState | None:
        good, words = judge.good_moves(first), self._words(first)
        for _, other in zip(range(TWIN_ATTEMPTS), self.candidates(first, random), strict=False):
            same = other.to_act == first.to_act and self._words(other) == words
            if same and judge.level(other) and good.isdisjoint(judge.good_moves(other)):
                return other
        return None

    def _words(self, state: SpielState) -> str:
        return view_of(self, RenderOptions(), 0).notes(state, state.to_act[0])

    def _none(self) -> BadOption:
        moves = self.opening or self.usual_opening
        kind = "pair of level openings" if self.twins else "level opening"
        return BadOption(
            f"no {kind} of {plural(moves, 'move')} was found in {self.name}: choose another `opening`."
        )


class OpeningJudge:
    """What the search of a game says about openings; short ones come up again and again."""

    def __init__(self, game: BoardGame) -> None:
        self._game = game
        self._level: dict[tuple[int, ...], bool] = {}
        self._good: dict[tuple[int, ...], frozenset[str]] = {}

    def level(self, state: SpielState) -> bool:
        moves = tuple(state.spiel.history())
        if moves not in self._level:
            self._level[moves] = self._game.level(state)
        return self._level[moves]

    def good_moves(self, state: SpielState) -> frozenset[str]:
        moves = tuple(state.spiel.history())
        if moves not in self._good:
            self._good[moves] = frozenset(self._game.good_moves(state))
        return self._good[moves]


@lru_cache(maxsize=4096)
def _world(game: BoardGame, seed: int) -> SpielState:
    for state in game._level_openings(stream(seed, "opening"), OpeningJudge(game)):
        return state
    raise game._none()


@lru_cache(maxsize=4096)
def _pair(game: BoardGame, seed: int) -> tuple[SpielState, SpielState]:
    random, judge = stream(seed, "opening"), OpeningJudge(game)
    for state in game._level_openings(random, judge):
        twin = game._twin(state, random, judge)
        if twin is not None:
            return state, twin
    raise game._none()


def recolourings(game: BoardGame, first: SpielState, random: Stream) -> Iterator[SpielState]:
    """Positions with stones on the same cells, as many of each colour, in another distribution.

    Where stones are put on empty cells in turn, they have the same legal moves.
    """
    cells = first.spiel.history()
    for _ in range(TWIN_ATTEMPTS * 4):
        order = random.sample(cells, len(cells))
        if set(order[::2]) != set(cells[::2]) and (state := game.replay(order)) is not None:
            yield state
