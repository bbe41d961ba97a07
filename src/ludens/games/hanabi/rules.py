"""Hanabi and Tiny Hanabi: OpenSpiel's rules, and a table that tracks what each seat may see."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.hanabi.table import HanabiTable, Move, Shape, Sight, guess_hand, read_move
from ludens.games.open_spiel.adapter import SpielGame, SpielState


class HanabiState(SpielState):
    """OpenSpiel's state and the matching `Table`."""

    game: HanabiGame

    def __init__(self, game: HanabiGame, spiel: Any, random: Stream) -> None:
        self.table = HanabiTable.laid(game.shape)
        self._read = 0
        super().__init__(game, spiel, random)

    def _settle(self) -> None:
        super()._settle()
        history = self.spiel.history()
        for action in history[self._read :]:
            if self.table.dealing:
                self.table.deal(action)
            else:
                self.table.make(*_move(self.game, action))
        self._read = len(history)

    def sight(self, seat: str) -> Sight:
        """What this seat may know."""
        return self.table.seen_by(self.game.seats.index(seat))

    @property
    def facts(self) -> dict[str, Any]:
        table = self.table
        kinds = [event.move.kind for event in table.log]
        return {
            "final": sum(table.stacks) if table.life else 0,
            "fireworks": sum(table.stacks),
            "lives": table.life,
            "info": table.info,
            "deck": table.deck,
            "turns": len(kinds),
            "plays": kinds.count("play"),
            "misplays": table.shape.most_life - table.life,
            "discards": kinds.count("discard"),
            "hints": kinds.count("color") + kinds.count("rank"),
        }

    def forfeited(self, seat: str) -> dict[str, float]:
        return dict.fromkeys(self.game.seats, 0.0)

    def clone(self) -> Self:
        copy = super().clone()
        copy.table, copy._read = self.table.copy(), self._read
        return copy

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        new_faces = guess_hand(self.sight(seat), random)
        spiel, drawn, table = self.game.spiel.new_initial_state(), 0, HanabiTable.laid(self.game.shape)
        for action in self.spiel.history():
            if table.dealing:
                action = new_faces.get(drawn, action)
                drawn += 1
                table.deal(action)
            else:
                table.make(*_move(self.game, action))
            spiel.apply_action(action)
        return type(self)(self.game, spiel, random.clone())


@lru_cache(maxsize=1024)
def _move(game: HanabiGame, action: int) -> tuple[str, Move]:
    name = game.spiel.new_initial_state().action_to_string(0, action)
    return name, read_move(name)


class HanabiGame(SpielGame):
    """The base of Hanabi and Tiny Hanabi."""

    best = "bot/strong"
    spiel_name = "hanabi"
    view_class = "ludens.games.hanabi.view:HanabiView"
    stable_names = True
    imperfect_information = True
    bots = {
        "strong": "ludens.games.hanabi.bots:Strong",
        "literal": "ludens.games.hanabi.bots:Literal",
        "visible": "ludens.games.hanabi.visible:Visible",
    }

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The parameters of the game."""

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(f"player_{number}" for number in range(self.shape.players))

    @property
    def spiel_parameters(self) -> Mapping[str, Any]:
        shape = self.shape
        return {
            "players": shape.players,
            "colors": shape.colors,
            "ranks": shape.ranks,
            "hand_size": shape.hand,
            "max_information_tokens": shape.most_info,
            "max_life_tokens": shape.most_life,
        }

    def start(self, seed: int) -> HanabiState:
        return HanabiState(self, self.spiel.new_initial_state(), stream(seed, "deal"))


_SHAPES = {players: Shape(players, 5, 5, 5 if players < 4 else 4) for players in range(2, 6)}
_TINY = Shape(2, 2, 3, 3)


@dataclass(frozen=True)
class Hanabi(HanabiGame):
    """Build five fireworks together: you see everybody's cards but your own, and hints are few.

    Seats: `player_0` to `player_4`, as many as `players` says, in playing order.
    Observation: lives, hints and cards left; the fireworks; all discards; each player's last two actions; the
    others' hands with what they know about their cards; your own hand as what you know about it.
    Actions: `(Play 0)` and `(Discard 0)` with the place of the card, 0 being the oldest;
    `(Reveal player +1 color R)` and `(Reveal player +1 rank 1)` to the player so many seats after you.
    Rewards: everybody gets the sum of the fireworks, at most 25, or 0 when the third life is lost. The facts
    hold that as `final`, and as `fireworks` the sum whatever happened.
    """

    name = "hanabi"
    version = 2

    players: int = option(2, low=2, high=5, help="number of players")

    @property
    def shape(self) -> Shape:
        return _SHAPES[self.players]


@dataclass(frozen=True)
class TinyHanabi(HanabiGame):
    """Hanabi for two with two colours, three ranks and three cards in hand.

    Seats, observation, actions and rewards are those of `hanabi`; the best score is 6.
    """

    name = "tiny_hanabi"
    version = 2

    @property
    def shape(self) -> Shape:
        return _TINY
