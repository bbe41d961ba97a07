"""Hanabi bots. They read the state, but use only what their seat may know.

`strong` plays by the convention in `convention`. `literal` takes hints literally: a weaker partner, whose
games reach states that games of strong players do not, as VS-Bench needs for its data (D.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.random import Stream
from ludens.games.hanabi.rules import HanabiState
from ludens.games.hanabi.strategy import StrongPolicy
from ludens.games.hanabi.table import COLORS, Held, Sight, fits, unseen_copies


@dataclass
class Strong(Agent):
    """Plays playable cards, warns before a loss, hints at playable cards, else discards its oldest card."""

    kind = "bot/strong"
    sees = "state"

    def begin(self) -> None:
        self._thinker = StrongPolicy()

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, HanabiState)
        action = self._thinker.choose(ask.state.sight(self.seat))
        return Reply(action, action)


@dataclass
class Literal(Agent):
    """Plays what is certain, else hints at a playable card, else discards."""

    kind = "bot/literal"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, HanabiState)
        action = literal(ask.state.sight(self.seat), ask.legal, self.random)
        return Reply(action, action)


def literal(sight: Sight, legal: Sequence[str], random: Stream) -> str:
    """The action of a player that takes hints literally."""
    own, left = sight.hands[sight.me], unseen_copies(sight)
    may_be = [
        [card for card, count in enumerate(left) if count and fits(sight.shape, held, card)] for held in own
    ]
    for slot, cards in enumerate(may_be):
        if all(height(sight, card) == 0 for card in cards):
            return f"(Play {slot})"
    useful = [name for name in _helpful(sight) if name in legal]
    if useful:
        return random.choice(useful)
    if sight.info == sight.shape.most_info:
        return random.choice([name for name in legal if name.startswith("(Reveal")])
    for slot, cards in enumerate(may_be):
        if all(height(sight, card) < 0 for card in cards):
            return f"(Discard {slot})"
    untouched = [slot for slot, held in enumerate(own) if untold(held)]
    return f"(Discard {untouched[0] if untouched else 0})"


def height(sight: Sight, card: int) -> int:
    """A card's distance above its firework: 0 is playable, below 0 is useless."""
    color, rank = divmod(card, sight.shape.ranks)
    return rank - sight.stacks[color]


def untold(held: Held) -> bool:
    """Whether no hint has touched a card, as far as its holder knows."""
    return held.colors.bit_count() > 1 and held.ranks.bit_count() > 1


def _helpful(sight: Sight) -> list[str]:
    """Hints that tell the holder of a playable card something new about it."""
    found = []
    for offset in range(1, sight.shape.players):
        for held in sight.hands[(sight.me + offset) % sight.shape.players]:
            if held.card is not None and height(sight, held.card) == 0:
                color, rank = divmod(held.card, sight.shape.ranks)
                if held.colors.bit_count() > 1:
                    found.append(f"(Reveal player +{offset} color {COLORS[color]})")
                if held.ranks.bit_count() > 1:
                    found.append(f"(Reveal player +{offset} rank {rank + 1})")
    return found
