"""Kuhn poker: OpenSpiel's rules, and each of its twelve information sets as a question of one move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Legal, State
from ludens.games.open_spiel.adapter import SpielGame, SpielState

if TYPE_CHECKING:
    import pyspiel

CARDS = "JQK"
PLAYERS = ("first", "second")
HISTORIES = ("", "p", "b", "pb")
"""Possible histories when a player is to act: p is PASS, b is BET."""
INFOSETS = tuple(card + history for history in HISTORIES for card in CARDS)
"""The twelve information sets: own card, then the history."""
_ACTIONS = {"p": "PASS", "b": "BET"}


class KuhnState(SpielState):
    """A hand of Kuhn poker: two cards and up to three actions."""

    @property
    def cards(self) -> tuple[str, str]:
        """The cards dealt to the first and to the second player."""
        first, second = self.spiel.history()[:2]
        return CARDS[first], CARDS[second]

    @property
    def history(self) -> str:
        """The history so far, one letter per action."""
        return "".join("pb"[action] for action in self.spiel.history()[2:])

    @property
    def showdown(self) -> bool:
        """Whether the hand ended with a showdown."""
        return self.history in ("pp", "bb", "pbb")

    @property
    def stakes(self) -> tuple[int, int]:
        """The chips each player has put into the pot."""
        bets = [1, 1]
        for number, letter in enumerate(self.history):
            bets[number % 2] += letter == "b"
        return bets[0], bets[1]

    def infoset(self, player: str) -> str:
        """The player's information set: own card and history."""
        return self.cards[PLAYERS.index(player)] + self.history

    @property
    def facts(self) -> dict[str, Any]:
        return {**super().facts, "cards": "".join(self.cards), "history": self.history}

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return self.clone() if self.showdown else super().resample_hidden(seat, random)


class KuhnQuestion(State):
    """One information set: the player to act is asked once. It earns nothing."""

    def __init__(self, player: str, hand: KuhnState, action: str = "") -> None:
        self.player = player
        self.hand = hand
        self.action = action

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.action else (self.player,)

    def legal(self, seat: str) -> Legal:
        return Legal() if self.action else self.hand.legal(seat)

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.action = actions[self.player]

    @property
    def returns(self) -> dict[str, float]:
        return {self.player: 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "infoset": self.hand.infoset(self.player),
            "action": self.action,
            "cards": "".join(self.hand.cards),
        }

    def clone(self) -> Self:
        return type(self)(self.player, self.hand.clone(), self.action)

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return type(self)(self.player, self.hand.resample_hidden(seat, random), self.action)


@dataclass(frozen=True)
class KuhnPoker(SpielGame):
    """Poker with three cards and one bet: small enough to be solved, large enough to bluff.

    Seats: `first` and `second`, in the order of play. With the option `infoset`, only the seat to act there.
    Observation: your own card, the back of the other's, the chips each has in the pot, and what was done.
    Actions: `PASS` adds no chip, `BET` adds one.
    Rewards: the chips won or lost; both pay 1 before the deal. A PASS after a BET gives the pot to who bet;
    after two PASSes or two BETs the higher card takes it. The second player is ahead by 1/18 of a chip.
    Infosets: `infoset=Qpb` starts where a player holding the queen has passed and the other has bet, asks for
    that one decision and ends; twelve such questions give a whole policy (see `exploitability`).
    """

    name = "kuhn_poker"
    version = 2
    view_class = "ludens.games.kuhn_poker.view:KuhnView"
    best = "bot/equilibrium"
    spiel_name = "kuhn_poker"
    stable_names = True
    imperfect_information = True
    bots = {"equilibrium": "ludens.games.kuhn_poker.bots:Equilibrium"}

    infoset: str = option(
        "",
        choices=("", *INFOSETS),
        help="ask for one decision: own card J, Q or K, then what happened: nothing, p, b or pb",
    )

    @property
    def seats(self) -> tuple[str, ...]:
        return (PLAYERS[(len(self.infoset) - 1) % 2],) if self.infoset else PLAYERS

    def action_name(self, spiel: pyspiel.State, player: int, action: int) -> str:
        return str(spiel.action_to_string(player, action)).upper()

    def start(self, seed: int) -> KuhnState | KuhnQuestion:  # type: ignore[override]
        if self.infoset:
            return KuhnQuestion(self.seats[0], self._at_infoset(stream(seed, "deal")))
        return KuhnState(self, self.spiel.new_initial_state(), stream(seed, "deal"))

    def _at_infoset(self, random: Stream) -> KuhnState:
        """A hand at this information set, the other's card drawn from the two that are left."""
        card, history = self.infoset[0], self.infoset[1:]
        cards = [card, random.choice(CARDS.replace(card, ""))]
        if len(history) % 2:
            cards.reverse()
        spiel = self.spiel.new_initial_state()
        for each in cards:
            spiel.apply_action(CARDS.index(each))
        hand = KuhnState(KuhnPoker(), spiel, random)
        for number, letter in enumerate(history):
            hand.apply({PLAYERS[number % 2]: _ACTIONS[letter]})
        return hand
