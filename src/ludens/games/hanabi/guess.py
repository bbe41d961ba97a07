"""Another hand a player might hold: drawn from all hands that fit what the player knows, each as likely."""

from __future__ import annotations

from math import prod

from ludens.core.random import Stream
from ludens.games.hanabi.table import Held, Shape, Sight


def unseen(sight: Sight) -> list[int]:
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
    """Whether hints allow that this held card is that one."""
    color, rank = divmod(card, shape.ranks)
    return bool(held.colors >> color & 1 and held.ranks >> rank & 1)


def guess_hand(sight: Sight, random: Stream) -> dict[int, int]:
    """New faces for the player's own cards, by serial number."""
    left, own = unseen(sight), sight.hands[sight.me]
    cards = range(len(left))
    may = [[card for card in cards if left[card] and fits(sight.shape, held, card)] for held in own]
    # The most constrained first: fewer dead ends.
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
        # Drawing one after another favours hands met with few ways; accepting by the ways makes up for it.
        if random.random() * most < ways:
            return chosen
