"""The view of Kuhn poker: your card, the back of the other's, and the chips of both."""

from __future__ import annotations

from ludens.core.view import RenderOptions, View
from ludens.draw import Canvas, Picture, Sprite, sprite_sheet
from ludens.games.kuhn_poker.rules import PLAYERS, KuhnPoker, KuhnQuestion, KuhnState

_CARD = 196
_LEFT, _TOPS = 16, (28, 288)
_CHIPS = 168
_PANEL = (316, 28, 184, 456)
_DONE = {"p": "PASS", "b": "BET"}


class KuhnView(View):
    """Both seats see themselves at the bottom."""

    def __init__(self, game: KuhnPoker, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        inks = ("ink", "line", "red", "black", "white", "gray", "blue", "yellow")
        self._sheet = sprite_sheet(
            render.theme, render.size, seed, inks=inks, grounds=("page", "panel", "white")
        )
        self._base = self._background()

    def _background(self) -> Canvas:
        canvas, px = Canvas(self._sheet), self._sheet.px
        left, top, width, height = map(px, _PANEL)
        canvas.panel(left, top, width, height, "History")
        canvas.pixels.setflags(write=False)
        return canvas

    def image(self, state: KuhnState | KuhnQuestion, seat: str) -> Picture:
        hand = _hand(state)
        canvas, px, font = self._base.copy(), self._sheet.px, self._sheet.font_px
        me = PLAYERS.index(seat)
        for top, player in zip(_TOPS, (1 - me, me), strict=True):
            card = self._card(hand.cards[player] if player == me or hand.showdown else None)
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

    def _card(self, rank: str | None) -> Sprite:
        height = self._sheet.px(_CARD)
        return self._sheet.card(rank, "♠", height, "page") if rank else self._sheet.card_back(height, "page")

    def public_action(self, state: object, seat: str, action: str) -> str:
        return action

    def text(self, state: KuhnState | KuhnQuestion, seat: str) -> str:
        hand, me = _hand(state), PLAYERS.index(seat)
        other = hand.cards[1 - me] if hand.showdown else "unknown"
        stakes = hand.stakes
        return "\n".join(
            [
                f"You are the {seat} player. Your card: {hand.cards[me]}. The other's card: {other}.",
                f"In the pot: {sum(stakes)} chips, {stakes[me]} by you and {stakes[1 - me]} by the other.",
                f"History: {'; '.join(_lines(hand, seat))}.",
            ]
        )


def _hand(state: KuhnState | KuhnQuestion) -> KuhnState:
    return state.hand if isinstance(state, KuhnQuestion) else state


def _lines(hand: KuhnState, seat: str) -> list[str]:
    """Everything done so far, in order."""
    me = PLAYERS.index(seat)
    done = [
        f"{'you' if number % 2 == me else 'other'}: {_DONE[letter]}"
        for number, letter in enumerate(hand.history)
    ]
    return ["ante: 1 chip each", *done]
