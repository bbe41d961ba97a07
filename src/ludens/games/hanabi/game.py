"""Hanabi and Tiny Hanabi: OpenSpiel's rules, and a table that tracks what each seat may see."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain
from math import prod
from typing import Any, NamedTuple, Self

from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.open_spiel import SpielGame, SpielState

COLORS = "RYGWB"
_MOVE = re.compile(r"\((?:(Play|Discard) (\d)|Reveal player \+(\d) (color|rank) (\w))\)")


@dataclass(frozen=True)
class DeckShape:
    """The parameters of a game."""

    players: int
    colors: int
    ranks: int
    hand: int
    most_info: int = 8
    most_life: int = 3

    @cached_property
    def copies(self) -> tuple[int, ...]:
        """How many of each card the deck holds: three of the lowest rank, one of the highest, else two."""
        by_rank = [3] + [2] * (self.ranks - 2) + [1]
        return tuple(by_rank * self.colors)

    @cached_property
    def best(self) -> int:
        return self.colors * self.ranks

    def name(self, card: int) -> str:
        return COLORS[card // self.ranks] + str(card % self.ranks + 1)


class HanabiMove(NamedTuple):
    """An action, parsed from its name. `offset` counts the seats from the actor to the receiver of a hint."""

    kind: str
    value: int
    offset: int = 0


def is_move(name: str) -> bool:
    return _MOVE.fullmatch(name) is not None


def read_move(name: str) -> HanabiMove:
    """The move of a canonical name; a hint's value is the number of the colour or rank from 0."""
    match = _MOVE.fullmatch(name)
    assert match is not None, name
    verb, slot, offset, kind, value = match.groups()
    if verb:
        return HanabiMove(verb.lower(), int(slot))
    return HanabiMove(kind, COLORS.index(value) if kind == "color" else int(value) - 1, int(offset))


class HandCard(NamedTuple):
    """A card in a hand; `face` is None for those who may not see it."""

    face: int | None
    colors: int
    ranks: int
    serial: int

    @property
    def unhinted(self) -> bool:
        """Whether no hint has touched it, as far as its holder knows."""
        return self.colors.bit_count() > 1 and self.ranks.bit_count() > 1

    @property
    def knowledge(self) -> str:
        """What its holder knows of it: `x` is an unknown colour, `0` an unknown rank."""
        color = COLORS[self.colors.bit_length() - 1] if self.colors.bit_count() == 1 else "x"
        return color + (str(self.ranks.bit_length()) if self.ranks.bit_count() == 1 else "0")


class PastAction(NamedTuple):
    """What everybody saw in one turn."""

    player: int
    name: str
    move: HanabiMove
    card: int = -1
    success: bool = True
    serials: tuple[int, ...] = ()
    """The card that left the hand, or all cards that the hint touched."""


@dataclass(frozen=True)
class Sight:
    """Everything one player may know: the player's own cards have no faces."""

    me: int
    shape: DeckShape
    hands: tuple[tuple[HandCard, ...], ...]
    stacks: tuple[int, ...]
    discards: tuple[int, ...]
    life: int
    info: int
    deck: int
    log: tuple[PastAction, ...]


@dataclass
class HanabiTable:
    """Everything on the table, faces up."""

    shape: DeckShape
    hands: list[list[HandCard]]
    stacks: list[int]
    discards: list[int]
    log: list[PastAction]
    life: int
    info: int
    deck: int
    draws: int = 0
    mover: int = 0

    @classmethod
    def laid(cls, shape: DeckShape) -> Self:
        hands: list[list[HandCard]] = [[] for _ in range(shape.players)]
        deck = sum(shape.copies)
        return cls(shape, hands, [0] * shape.colors, [], [], shape.most_life, shape.most_info, deck)

    def copy(self) -> Self:
        hands = [list(hand) for hand in self.hands]
        return replace(
            self, hands=hands, stacks=list(self.stacks), discards=list(self.discards), log=list(self.log)
        )

    @property
    def dealing(self) -> bool:
        return self.deck > 0 and any(len(hand) < self.shape.hand for hand in self.hands)

    def deal(self, card: int) -> None:
        """The first player with too few cards draws this one."""
        hand = next(hand for hand in self.hands if len(hand) < self.shape.hand)
        hand.append(HandCard(card, (1 << self.shape.colors) - 1, (1 << self.shape.ranks) - 1, self.draws))
        self.deck -= 1
        self.draws += 1

    def make(self, name: str, move: HanabiMove) -> None:
        player = self.mover
        self.mover = (player + 1) % self.shape.players
        if move.offset:
            target = (player + move.offset) % self.shape.players
            touched = self._point(target, move)
            self.info -= 1
            self.log.append(PastAction(player, name, move, serials=touched))
            return
        card = self.hands[player].pop(move.value)
        assert card.face is not None
        color, rank = divmod(card.face, self.shape.ranks)
        fits = move.kind == "play" and self.stacks[color] == rank
        if fits:
            self.stacks[color] += 1
        else:
            self.discards.append(card.face)
        if move.kind == "discard" or (fits and rank == self.shape.ranks - 1):
            self.info = min(self.info + 1, self.shape.most_info)
        if move.kind == "play" and not fits:
            self.life -= 1
        self.log.append(PastAction(player, name, move, card.face, fits, (card.serial,)))

    def _point(self, target: int, move: HanabiMove) -> tuple[int, ...]:
        """Apply a hint to every card of a hand; returns the cards it touched."""
        touched, bit = [], 1 << move.value
        hand = self.hands[target]
        for slot, card in enumerate(hand):
            assert card.face is not None
            by_rank = move.kind == "rank"
            hit = divmod(card.face, self.shape.ranks)[by_rank] == move.value
            mask = bit if hit else ~bit
            field = "ranks" if by_rank else "colors"
            hand[slot] = card._replace(**{field: getattr(card, field) & mask})
            touched += [card.serial] if hit else []
        return tuple(touched)

    def seen_by(self, player: int) -> Sight:
        hands = [tuple(hand) for hand in self.hands]
        hands[player] = tuple(card._replace(face=None) for card in hands[player])
        stacks, discards, log = tuple(self.stacks), tuple(self.discards), tuple(self.log)
        return Sight(player, self.shape, tuple(hands), stacks, discards, self.life, self.info, self.deck, log)


REMEMBERED = 2
"""How many of each player's last actions are shown."""


def recent_actions(sight: Sight) -> list[PastAction]:
    """The last actions of each player, the latest last."""
    lasts = [
        [turn for turn, event in enumerate(sight.log) if event.player == player][-REMEMBERED:]
        for player in range(sight.shape.players)
    ]
    return [sight.log[turn] for turn in sorted(chain.from_iterable(lasts))]


def unseen_copies(sight: Sight) -> list[int]:
    counts = list(sight.shape.copies)
    for color, height in enumerate(sight.stacks):
        for rank in range(height):
            counts[color * sight.shape.ranks + rank] -= 1
    for face in sight.discards:
        counts[face] -= 1
    for hand in sight.hands:
        for card in hand:
            if card.face is not None:
                counts[card.face] -= 1
    return counts


def possible_cards(sight: Sight) -> list[list[int]]:
    ranks = sight.shape.ranks
    copies = enumerate(unseen_copies(sight))
    faces = [(face, 1 << face // ranks, 1 << face % ranks) for face, count in copies if count]
    return [
        [face for face, color, rank in faces if card.colors & color and card.ranks & rank]
        for card in sight.hands[sight.me]
    ]


def guess_hands(sight: Sight, random: Stream) -> Iterator[dict[int, int]]:
    """Random hands consistent with what the player knows: faces for its own cards, by serial number."""
    unseen, own, may = unseen_copies(sight), sight.hands[sight.me], possible_cards(sight)
    # Most constrained cards first: fewer dead ends.
    order = sorted(range(len(own)), key=lambda slot: len(may[slot]))
    most = prod(sum(unseen[card] for card in may[slot]) for slot in order)
    while True:
        pool, hand, ways = list(unseen), dict[int, int](), 1
        for slot in order:
            weights = [pool[card] for card in may[slot]]
            ways *= sum(weights)
            if not ways:
                break
            card = random.weighted(may[slot], weights)
            pool[card] -= 1
            hand[own[slot].serial] = card
        # Sequential drawing favours hands with few completions; rejection by their number corrects it.
        if random.random() * most < ways:
            yield hand


class HanabiState(SpielState):
    """OpenSpiel's state and the matching `HanabiTable`."""

    game: HanabiGame

    def __init__(self, game: HanabiGame, spiel: Any, random: Stream) -> None:
        self.table = HanabiTable.laid(game.shape)
        self._read = 0
        super().__init__(game, spiel, random)

    def _settle(self) -> None:
        super()._settle()
        history = self.spiel.history()
        for action in history[self._read :]:
            self._follow(self.table, action)
        self._read = len(history)

    def _follow(self, table: HanabiTable, action: int) -> None:
        if table.dealing:
            table.deal(action)
        else:
            table.make(*_move(self.game, action))

    def sight(self, seat: str) -> Sight:
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
        new_faces = next(guess_hands(self.sight(seat), random))
        spiel, table = self.game.spiel.new_initial_state(), HanabiTable.laid(self.game.shape)
        for action in self.spiel.history():
            if table.dealing:
                action = new_faces.get(table.draws, action)
            self._follow(table, action)
            spiel.apply_action(action)
        return type(self)(self.game, spiel, random.clone())


@lru_cache(maxsize=1024)
def _move(game: HanabiGame, action: int) -> tuple[str, HanabiMove]:
    name = game.spiel.new_initial_state().action_to_string(0, action)
    return name, read_move(name)


class HanabiGame(SpielGame):
    """The base of Hanabi and Tiny Hanabi."""

    best = "bot/strong"
    cooperative = True
    spiel_name = "hanabi"
    view_class = "ludens.games.hanabi.view:HanabiView"
    stable_names = True
    imperfect_information = True
    bots = {
        "strong": "ludens.games.hanabi.bots:Strong",
        "glance": "ludens.games.hanabi.bots:Glance",
        "literal": "ludens.games.hanabi.bots:Literal",
        "visible": "ludens.games.hanabi.bots:Visible",
    }

    @property
    @abstractmethod
    def shape(self) -> DeckShape: ...

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


_SHAPES = {players: DeckShape(players, 5, 5, 5 if players < 4 else 4) for players in range(2, 6)}


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
    presets = {
        "easy": Preset(others="bot/strong"),
        "medium": Preset({"players": 3}, others="bot/strong"),
        "hard": Preset({"players": 5}, others="bot/strong"),
        "paper": Preset(others="bot/strong"),
    }

    players: int = option(2, low=2, high=5, help="number of players")

    @property
    def shape(self) -> DeckShape:
        return _SHAPES[self.players]


@dataclass(frozen=True)
class TinyHanabi(HanabiGame):
    """Hanabi for two with two colours, three ranks and three cards in hand.

    Seats, observation, actions and rewards are those of `hanabi`; the best score is 6.
    """

    name = "tiny_hanabi"
    version = 2
    presets = {
        "easy": Preset(others="bot/strong"),
        "medium": Preset(others="bot/literal"),
        "hard": Preset(),
        "paper": Preset(others="bot/strong"),
    }

    shape = DeckShape(2, 2, 3, 3)
