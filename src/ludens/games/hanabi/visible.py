"""A Hanabi player that goes only by what is shown: cards, what hints ruled out, and the last actions.

The strong player follows the whole log, which nobody is shown; this one can be predicted from the picture.
It draws no lots.
"""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.agent import Agent, Ask, Reply
from ludens.core.state import State
from ludens.games.hanabi.bots import height, untold
from ludens.games.hanabi.rules import HanabiState
from ludens.games.hanabi.table import COLORS, Held, Move, Sight, fits, unseen_copies

SAVED = 4
"""Info tokens that it does not spend: with so few it discards, whatever the others hold."""


@dataclass
class Visible(Agent):
    """Plays what is certain or just hinted at, hints at a playable card, else discards its oldest card."""

    kind = "bot/visible"
    sees = "state"

    def policy(self, state: State) -> dict[str, float]:
        """The probability of each action: always one action."""
        assert isinstance(state, HanabiState)
        return {visible(state.sight(self.seat)): 1.0}

    async def act(self, ask: Ask) -> Reply:
        assert isinstance(ask.state, HanabiState)
        action = visible(ask.state.sight(self.seat))
        return Reply(action, action)


def visible(sight: Sight) -> str:
    """The action of this player."""
    left = unseen_copies(sight)
    own = sight.hands[sight.me]
    may_be = [
        [card for card, copies in enumerate(left) if copies and fits(sight.shape, held, card)] for held in own
    ]
    for slot, cards in enumerate(may_be):
        if all(height(sight, card) == 0 for card in cards):
            return f"(Play {slot})"
    slot_hinted = _hinted(sight, may_be)
    if slot_hinted is not None:
        return f"(Play {slot_hinted})"
    if sight.info > SAVED and (hint := _hint(sight)):
        return hint
    if sight.info == sight.shape.most_info:
        return _any_hint(sight)
    for slot, cards in enumerate(may_be):
        if all(height(sight, card) < 0 for card in cards):
            return f"(Discard {slot})"
    return f"(Discard {next((slot for slot, held in enumerate(own) if untold(held)), 0)})"


def _hinted(sight: Sight, may_be: list[list[int]]) -> int | None:
    """The newest card that the last action, a hint, was about, if it may be playable; never the last life."""
    if not sight.log or sight.life == 1:
        return None
    last = sight.log[-1].move
    if not last.offset or (sight.log[-1].player + last.offset) % sight.shape.players != sight.me:
        return None
    about = [slot for slot, held in enumerate(sight.hands[sight.me]) if _told(held, last)]
    if about and any(height(sight, card) == 0 for card in may_be[about[-1]]):
        return about[-1]
    return None


def _told(held: Held, hint: Move) -> bool:
    """Whether a card is known to have the colour or rank of a hint."""
    return (held.colors if hint.kind == "color" else held.ranks) == 1 << hint.value


def _hint(sight: Sight) -> str:
    """The first hint, ranks before colours, whose newest card can be played and is not fully known yet."""
    shape = sight.shape
    for offset in range(1, shape.players):
        hand = sight.hands[(sight.me + offset) % shape.players]
        for kind, values in (("rank", shape.ranks), ("color", shape.colors)):
            for value in range(values):
                touched = [held for held in hand if held.card is not None and _has(sight, held, kind, value)]
                if not touched:
                    continue
                newest = touched[-1]
                assert newest.card is not None
                known = newest.ranks if kind == "rank" else newest.colors
                if height(sight, newest.card) == 0 and known.bit_count() > 1:
                    return _name(offset, kind, value)
    return ""


def _any_hint(sight: Sight) -> str:
    """The rank of the next player's oldest card, where no hint is useful and nothing may be discarded."""
    card = sight.hands[(sight.me + 1) % sight.shape.players][0].card
    assert card is not None
    return _name(1, "rank", card % sight.shape.ranks)


def _has(sight: Sight, held: Held, kind: str, value: int) -> bool:
    assert held.card is not None
    return divmod(held.card, sight.shape.ranks)[kind == "rank"] == value


def _name(offset: int, kind: str, value: int) -> str:
    return f"(Reveal player +{offset} {kind} {COLORS[value] if kind == 'color' else value + 1})"
