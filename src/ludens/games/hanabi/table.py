"""The cards of a Hanabi game, tracked along with OpenSpiel's state, and what one seat may see of them.

A card is a number, `color * ranks + rank` with ranks from 0, as OpenSpiel's deals count. Colours and ranks
that a card may have are sets of bits. Every card drawn has a serial number, so that it can be followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import NamedTuple, Self

from ludens.core.random import Stream

COLORS = "RYGWB"
_MOVE = re.compile(r"\((?:(Play|Discard) (\d)|Reveal player \+(\d) (color|rank) (\w))\)")


@dataclass(frozen=True)
class Shape:
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
        """The highest possible score."""
        return self.colors * self.ranks

    def name(self, card: int) -> str:
        """A card's name: R1."""
        return COLORS[card // self.ranks] + str(card % self.ranks + 1)


class Move(NamedTuple):
    """An action, parsed from its name. `offset` counts the seats from the actor to the receiver of a hint."""

    kind: str
    value: int
    offset: int = 0


def read_move(name: str) -> Move:
    """The move of a canonical name; a hint's value is the number of the colour or rank from 0."""
    found = _MOVE.fullmatch(name)
    assert found is not None, name
    what, slot, offset, kind, value = found.groups()
    if what:
        return Move(what.lower(), int(slot))
    return Move(kind, COLORS.index(value) if kind == "color" else int(value) - 1, int(offset))


class Held(NamedTuple):
    """A card in a hand; `card` is None for those who may not see it."""

    card: int | None
    colors: int
    ranks: int
    serial: int


class PastAction(NamedTuple):
    """What everybody saw in one turn."""

    player: int
    name: str
    move: Move
    card: int = -1
    """The card played or discarded."""
    success: bool = True
    """Whether a played card was playable."""
    serials: tuple[int, ...] = ()
    """The card that left the hand, or all cards that the hint touched."""


@dataclass(frozen=True)
class Sight:
    """Everything one player may know: the player's own cards have no faces."""

    me: int
    shape: Shape
    hands: tuple[tuple[Held, ...], ...]
    stacks: tuple[int, ...]
    discards: tuple[int, ...]
    life: int
    info: int
    deck: int
    log: tuple[PastAction, ...]


@dataclass
class HanabiTable:
    """Everything on the table, faces up."""

    shape: Shape
    hands: list[list[Held]]
    stacks: list[int]
    discards: list[int]
    log: list[PastAction]
    life: int
    info: int
    deck: int
    drawn: int = 0
    mover: int = 0

    @classmethod
    def laid(cls, shape: Shape) -> Self:
        """The table before the deal."""
        hands: list[list[Held]] = [[] for _ in range(shape.players)]
        deck = sum(shape.copies)
        return cls(shape, hands, [0] * shape.colors, [], [], shape.most_life, shape.most_info, deck)

    def copy(self) -> Self:
        """An independent copy."""
        hands = [list(hand) for hand in self.hands]
        return replace(
            self, hands=hands, stacks=list(self.stacks), discards=list(self.discards), log=list(self.log)
        )

    @property
    def dealing(self) -> bool:
        """Whether the next event is a draw."""
        return self.deck > 0 and any(len(hand) < self.shape.hand for hand in self.hands)

    def deal(self, card: int) -> None:
        """The first player with too few cards draws this one."""
        hand = next(hand for hand in self.hands if len(hand) < self.shape.hand)
        hand.append(Held(card, (1 << self.shape.colors) - 1, (1 << self.shape.ranks) - 1, self.drawn))
        self.deck -= 1
        self.drawn += 1

    def make(self, name: str, move: Move) -> None:
        """The player to act makes a move."""
        player = self.mover
        self.mover = (player + 1) % self.shape.players
        if move.offset:
            target = (player + move.offset) % self.shape.players
            touched = self._point(target, move)
            self.info -= 1
            self.log.append(PastAction(player, name, move, serials=touched))
            return
        held = self.hands[player].pop(move.value)
        assert held.card is not None
        color, rank = divmod(held.card, self.shape.ranks)
        fits = move.kind == "play" and self.stacks[color] == rank
        if fits:
            self.stacks[color] += 1
        else:
            self.discards.append(held.card)
        if move.kind == "discard" or (fits and rank == self.shape.ranks - 1):
            self.info = min(self.info + 1, self.shape.most_info)
        if move.kind == "play" and not fits:
            self.life -= 1
        self.log.append(PastAction(player, name, move, held.card, fits, (held.serial,)))

    def _point(self, target: int, move: Move) -> tuple[int, ...]:
        """Apply a hint to every card of a hand; returns the cards it touched."""
        touched, bit = [], 1 << move.value
        hand = self.hands[target]
        for slot, held in enumerate(hand):
            assert held.card is not None
            color, rank = divmod(held.card, self.shape.ranks)
            hit = (color if move.kind == "color" else rank) == move.value
            if hit:
                touched.append(held.serial)
            if move.kind == "color":
                hand[slot] = held._replace(colors=held.colors & bit if hit else held.colors & ~bit)
            else:
                hand[slot] = held._replace(ranks=held.ranks & bit if hit else held.ranks & ~bit)
        return tuple(touched)

    def seen_by(self, player: int) -> Sight:
        """What this player may know."""
        hands = tuple(
            tuple(held._replace(card=None) for held in hand) if number == player else tuple(hand)
            for number, hand in enumerate(self.hands)
        )
        return Sight(
            player,
            self.shape,
            hands,
            tuple(self.stacks),
            tuple(self.discards),
            self.life,
            self.info,
            self.deck,
            tuple(self.log),
        )


def unseen_copies(sight: Sight) -> list[int]:
    """How many copies of each card this player cannot see."""
    left = list(sight.shape.copies)
    for color, height in enumerate(sight.stacks):
        for rank in range(height):
            left[color * sight.shape.ranks + rank] -= 1
    for card in sight.discards:
        left[card] -= 1
    for hand in sight.hands:
        for held in hand:
            if held.card is not None:
                left[held.card] -= 1
    return left


def fits(shape: Shape, held: Held, card: int) -> bool:
    """Whether the hints allow this held card to be that card."""
    color, rank = divmod(card, shape.ranks)
    return bool(held.colors >> color & 1 and held.ranks >> rank & 1)


def guess_hand(sight: Sight, random: Stream) -> dict[int, int]:
    """A random hand consistent with what the player knows: faces for its own cards, by serial number."""
    left, own = unseen_copies(sight), sight.hands[sight.me]
    cards = range(len(left))
    may = [[card for card in cards if left[card] and fits(sight.shape, held, card)] for held in own]
    # Most constrained cards first: fewer dead ends.
    order = sorted(range(len(own)), key=lambda slot: len(may[slot]))
    most = prod(sum(left[card] for card in may[slot]) for slot in order)
    while True:
        pool, chosen, ways = list(left), dict[int, int](), 1
        for slot in order:
            weights = [pool[card] for card in may[slot]]
            ways *= sum(weights)
            if not ways:
                break
            card = random.weighted(may[slot], weights)
            pool[card] -= 1
            chosen[own[slot].serial] = card
        # Sequential drawing favours hands with few completions; rejection by their number corrects it.
        if random.random() * most < ways:
            return chosen
