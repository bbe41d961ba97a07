"""Games on OpenSpiel: a state of ours around a state of OpenSpiel."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ludens.core.errors import MissingPackage
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State

if TYPE_CHECKING:
    import pyspiel


_TERMINAL, _SIMULTANEOUS, _CHANCE = -4, -2, -1


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
