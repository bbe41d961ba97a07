"""Kuhn poker: OpenSpiel's rules, its equilibria, and each of its twelve information sets as a question of
one move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from ludens.core.agent import Bot
from ludens.core.errors import BadOption
from ludens.core.game import Preset
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.core.state import Question
from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, sprite_sheet
from ludens.games.open_spiel import SpielGame, SpielState

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
    def hand(self) -> Self:
        """Itself: views and bots read the hand of a state or of a question about one."""
        return self

    @property
    def cards(self) -> tuple[str, str]:
        first, second = self.spiel.history()[:2]
        return CARDS[first], CARDS[second]

    @property
    def history(self) -> str:
        return "".join("pb"[action] for action in self.spiel.history()[2:])

    @property
    def showdown(self) -> bool:
        return self.history in ("pp", "bb", "pbb")

    @property
    def stakes(self) -> tuple[int, int]:
        bets = [1, 1]
        for number, letter in enumerate(self.history):
            bets[number % 2] += letter == "b"
        return bets[0], bets[1]

    def infoset(self, player: str) -> str:
        return self.cards[PLAYERS.index(player)] + self.history

    @property
    def facts(self) -> dict[str, Any]:
        return {**super().facts, "cards": "".join(self.cards), "history": self.history}

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        return self.clone() if self.showdown else super().resample_hidden(seat, random)


class KuhnQuestion(Question):
    """One information set: the player to act is asked once. It earns nothing."""

    def __init__(self, hand: KuhnState) -> None:
        [player] = hand.to_act
        super().__init__(player, hand.legal(player))
        self.hand = hand

    @property
    def returns(self) -> dict[str, float]:
        return {self.seat: 0.0}

    @property
    def facts(self) -> dict[str, Any]:
        infoset, cards = self.hand.infoset(self.seat), "".join(self.hand.cards)
        return {"infoset": infoset, "action": self.answer or "", "cards": cards}

    def resample_hidden(self, seat: str, random: Stream) -> Self:
        copy = self.clone()
        copy.hand = self.hand.resample_hidden(seat, random)
        return copy


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
    view_class = "ludens.games.kuhn_poker:KuhnView"
    best = "bot/equilibrium"
    presets = {
        "easy": Preset(others="bot/first"),
        "medium": Preset(),
        "hard": Preset(others="bot/equilibrium"),
        "paper": Preset(others="bot/equilibrium"),
    }
    spiel_name = "kuhn_poker"
    stable_names = True
    imperfect_information = True
    bots = {"equilibrium": "ludens.games.kuhn_poker:Equilibrium"}

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
            return KuhnQuestion(self._at_infoset(stream(seed, "deal")))
        return KuhnState(self, self.spiel.new_initial_state(), stream(seed, "deal"))

    def _at_infoset(self, random: Stream) -> KuhnState:
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


def equilibrium(alpha: float) -> dict[str, float]:
    """The probability of BET at each information set, in the equilibrium with this alpha."""
    return {
        "J": alpha, "Q": 0.0, "K": 3 * alpha,
        "Jpb": 0.0, "Qpb": alpha + 1 / 3, "Kpb": 1.0,
        "Jp": 1 / 3, "Qp": 0.0, "Kp": 1.0,
        "Jb": 0.0, "Qb": 1 / 3, "Kb": 1.0,
    }  # fmt: skip


@dataclass
class Equilibrium(Bot):
    """Plays one of the equilibria; `alpha` is the probability of opening with a BET on a jack."""

    kind = "bot/equilibrium"

    alpha: float = option(1 / 6, low=0, high=1 / 3, help="how often to open with a bet on a jack")

    def begin(self) -> None:
        self._policy = equilibrium(self.alpha)

    def policy(self, state: Any) -> dict[str, float]:
        bet = self._policy[state.hand.infoset(self.seat)]
        return {"PASS": 1 - bet, "BET": bet}

    def choose(self, state: KuhnState | KuhnQuestion) -> str:
        return "BET" if self.random.random() < self.policy(state)["BET"] else "PASS"


def exploitability(policy: Mapping[str, float]) -> float:
    """What a best response wins per hand, averaged over seats: 0 in equilibrium, 0.4583 for a coin flip.

    A policy is the probability of BET at each of the twelve information sets.
    """
    import pyspiel

    return float(pyspiel.exploitability(KuhnPoker().spiel, _spelt(policy)))


def value(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    import pyspiel

    start = KuhnPoker().spiel.new_initial_state()
    policies = [pyspiel.TabularPolicy(_spelt(policy)) for policy in (first, second)]
    return float(pyspiel.expected_returns(start, policies, -1, True)[0])


def _spelt(policy: Mapping[str, float]) -> dict[str, list[tuple[int, float]]]:
    """The policy under OpenSpiel's names, in which cards are numbers."""
    missing = [name for name in INFOSETS if name not in policy]
    strange = [name for name in policy if name not in INFOSETS]
    if missing or strange:
        raise BadOption(
            "a policy of Kuhn poker needs a probability at exactly the twelve information sets; "
            f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(strange) or 'none'}."
        )
    for name, bet in policy.items():
        if not 0 <= bet <= 1:
            raise BadOption(f"the probability of BET at {name} is {bet}, which is not between 0 and 1.")
    return {str(CARDS.index(name[0])) + name[1:]: [(0, 1 - bet), (1, bet)] for name, bet in policy.items()}


_CARD = 196
_LEFT, _TOPS = 16, (28, 288)
_CHIPS = 168
_PANEL = (316, 28, 184, 456)


class KuhnView(View):
    """Both seats see themselves at the bottom."""

    def __init__(self, game: KuhnPoker, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        inks = ("ink", "line", "red", "black", "white", "gray", "blue", "yellow")
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=inks, grounds=("page", "panel", "white")
        )
        self._base = Canvas(self._sheet)
        left, top, width, height = map(self._sheet.px, _PANEL)
        self._base.panel(left, top, width, height, "History")
        self._base.pixels.setflags(write=False)

    def image(self, state: KuhnState | KuhnQuestion, seat: str) -> Picture:
        hand = state.hand
        canvas, px, font = self._base.copy(), self._sheet.px, self._sheet.font_px
        me = PLAYERS.index(seat)
        for top, player in zip(_TOPS, (1 - me, me), strict=True):
            card = self._sheet.card_back(px(_CARD), "page")
            if player == me or hand.showdown:
                card = self._sheet.card(hand.cards[player], "♠", px(_CARD), "page")
            canvas.place(card, px(_LEFT), px(top))
            x, stake = px(_CHIPS), hand.stakes[player]
            canvas.text(x, px(top + 18), "you" if player == me else "other", font(20), bold=True)
            canvas.text(x, px(top + 44), f"{PLAYERS[player]} player", font(15))
            for number in range(stake):
                canvas.place(self._sheet.coin(px(44), "page", letter="1"), x + px(52) * number, px(top + 76))
            canvas.text(x, px(top + 140), f"{stake} in the pot", font(15))
        left, top, width, _ = map(px, _PANEL)
        for number, line in enumerate(_lines(hand, seat)):
            at = top + px(56 + 30 * number)
            canvas.text(left + px(12), at, line, font(15), ground="panel", room=width - px(14))
        pot = f"pot: {sum(hand.stakes)}"
        canvas.text(left + px(12), px(_PANEL[1] + _PANEL[3] - 28), pot, font(20), ground="panel", bold=True)
        return canvas.picture()

    def public_action(self, state: object, seat: str, action: str) -> str:
        return action

    def text(self, state: KuhnState | KuhnQuestion, seat: str) -> str:
        hand, me = state.hand, PLAYERS.index(seat)
        other = hand.cards[1 - me] if hand.showdown else "unknown"
        stakes = hand.stakes
        return (
            f"You are the {seat} player. Your card: {hand.cards[me]}. The other's card: {other}.\n"
            f"In the pot: {sum(stakes)} chips, {stakes[me]} by you and {stakes[1 - me]} by the other.\n"
            f"History: {'; '.join(_lines(hand, seat))}."
        )


def _lines(hand: KuhnState, seat: str) -> list[str]:
    players = ("you", "other") if seat == PLAYERS[0] else ("other", "you")
    actions = [f"{players[number % 2]}: {_ACTIONS[letter]}" for number, letter in enumerate(hand.history)]
    return ["ante: 1 chip each", *actions]
