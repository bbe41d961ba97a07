"""The view of Coin Dilemma: pawns and coins in two colours."""

from __future__ import annotations

from ludens.draw import Sprite
from ludens.games.grid.view import GridView


class CoinView(GridView):
    """Adds the coins."""

    title = "Coin Dilemma"
    legend = ((("red coin",), "red coin"), (("blue coin",), "blue coin"))
    shown = tuple(
        ((player,), (coin,))
        for player, coin in (
            ("red player", "red coin"),
            ("red player", "blue coin"),
            ("blue player", "blue coin"),
            ("blue player", "red coin"),
        )
    )

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        hue, kind = thing.split()
        return self._sheet.coin(px, ground, hue) if kind == "coin" else super().icon(thing, px, ground)
