"""What a player will do, for one who knows its strategy and sees what the observer sees.

The upper bound of every prediction: lots that the player draws and cards that the observer may not see stay
unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, runtime_checkable

from ludens.core.random import Stream
from ludens.core.state import State
from ludens.games.hanabi.bots import visible
from ludens.games.hanabi.game import HanabiState, guess_hand
from ludens.games.kuhn_poker import CARDS, PLAYERS, Equilibrium, KuhnState, equilibrium

HANDS = 24
"""Hands that the observer might hold in Hanabi, drawn to see what the other would do."""


@runtime_checkable
class Scripted(Protocol):
    """A player whose strategy is known."""

    def policy(self, state: State) -> Mapping[str, float]:
        """The probability of each action."""


def forecast(player: Scripted, state: State, observer: str, random: Stream) -> Mapping[str, float]:
    """The probability of each next action of a seated player, as far as the observer may know it.

    The player of Hanabi must be `bot/visible`; its possible hands are drawn at random.
    """
    if isinstance(state, HanabiState):
        return _over_hands(state, observer, random)
    if isinstance(state, KuhnState) and isinstance(player, Equilibrium):
        return _over_cards(player.alpha, state, observer)
    return player.policy(state)


def _over_hands(state: HanabiState, observer: str, random: Stream) -> dict[str, float]:
    """Hanabi: the other sees the observer's cards, which the observer does not know."""
    sight, target = state.sight(observer), state.sight(state.to_act[0])
    shares: defaultdict[str, float] = defaultdict(float)
    for _ in range(HANDS):
        faces, hands = guess_hand(sight, random), list(target.hands)
        hands[sight.me] = tuple(held._replace(card=faces[held.serial]) for held in hands[sight.me])
        shares[visible(replace(target, hands=tuple(hands)))] += 1 / HANDS
    return shares


def _over_cards(alpha: float, state: KuhnState, observer: str) -> dict[str, float]:
    """Kuhn poker: the other holds one of two cards, and what it did tells them apart."""
    me = PLAYERS.index(observer)
    policy, history = equilibrium(alpha), state.history
    bet = total = 0.0
    for card in CARDS.replace(state.cards[me], ""):
        likely = 1.0
        for turn, letter in enumerate(history):
            if turn % 2 != me:
                share = policy[card + history[:turn]]
                likely *= share if letter == "b" else 1 - share
        bet += likely * policy[card + history]
        total += likely
    return {"PASS": 1 - bet / total, "BET": bet / total}
