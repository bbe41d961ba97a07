"""Coin Dilemma: each coin earns its taker a point; taking the other's coin costs the other two."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ludens.core.game import Preset
from ludens.draw import Sprite
from ludens.games.grid import ACTIONS, GridGame, GridState, GridView, ScoringEvent, Walker, around

RED_COIN, BLUE_COIN = 2, 3


class CoinState(GridState):
    """The cells of both players and both coins."""

    def _meet(self) -> None:
        red, blue, red_coin, blue_coin = self.cells
        counts = self.counts
        counts[0] += red == red_coin
        counts[1] += red == blue_coin
        counts[2] += blue == blue_coin
        counts[3] += blue == red_coin
        if red_coin in (red, blue):
            self._respawn(RED_COIN)
        if blue_coin in (red, blue):
            self._respawn(BLUE_COIN)


@dataclass(frozen=True)
class CoinDilemma(GridGame):
    """Collect coins on a 5x5 grid; the other's coins are worth as much to you and cost the other more.

    Seats: `red` and `blue`, moving at the same time.
    Observation: the grid with both players and both coins, the last moves, every event with what it earns and
    how often it has happened, and the scores. Both players see the same.
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays, or comes back on the opposite
    side with `edges=torus`.
    Rewards: +1 for taking a coin of your colour; +1 for taking a coin of the other's colour, which costs the
    other 2. Several events in one step add up. A taken coin comes back on a random cell where nothing is.
    Ends after `horizon` steps.
    """

    name = "coin_dilemma"
    version = 2
    view_class = "ludens.games.coin_dilemma:CoinView"
    bots = {
        "common_welfare": "ludens.games.coin_dilemma:CoinCommonWelfare",
        "self_interest": "ludens.games.coin_dilemma:CoinSelfInterest",
        "optimal": "ludens.games.coin_dilemma:CoinOptimal",
    }
    best = "bot/optimal"
    presets = {
        "easy": Preset({"horizon": 25}, others="bot/common_welfare"),
        "medium": Preset(others="bot/self_interest"),
        "hard": Preset({"edges": "torus"}, others="bot/self_interest"),
        "paper": Preset(others="bot/common_welfare"),
    }
    things = ("red player", "blue player", "red coin", "blue coin")
    events = (
        ScoringEvent("red_own_coin", "red takes the red coin", +1, 0),
        ScoringEvent("red_other_coin", "red takes the blue coin", +1, -2),
        ScoringEvent("blue_own_coin", "blue takes the blue coin", 0, +1),
        ScoringEvent("blue_other_coin", "blue takes the red coin", -2, +1),
    )
    state = CoinState


class _OwnCoin(Walker):
    """Goes to the coin of its own colour."""

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_COIN + self.me],)


@dataclass
class CoinCommonWelfare(_OwnCoin):
    """Collects coins of its own colour and walks around the other's."""

    kind = "bot/common_welfare"

    def choices(self, state: GridState) -> tuple[str, ...]:
        [goal], cell = self.goals(state), state.cells[self.me]
        steps, after = around(state.plane, goal, state.cells[BLUE_COIN - self.me]), state.plane.after
        shortest = min(steps[after[action][cell]] for action in ACTIONS)
        return tuple(action for action in ACTIONS if steps[after[action][cell]] == shortest)


@dataclass
class CoinSelfInterest(Walker):
    """Collects the closest coin, whatever its colour."""

    kind = "bot/self_interest"
    targets = (RED_COIN, BLUE_COIN)


@dataclass
class CoinOptimal(_OwnCoin):
    """Takes a shortest way to the coin of its own colour, one that avoids the other's coin where possible.

    The avoided coins make the difference between 13.1 a player and the paper's 14.2.
    """

    kind = "bot/optimal"

    def choices(self, state: GridState) -> tuple[str, ...]:
        direct, cell = super().choices(state), state.cells[self.me]
        other = state.cells[BLUE_COIN - self.me]
        return tuple(action for action in direct if state.plane.after[action][cell] != other) or direct


class CoinView(GridView):
    """Adds the coins."""

    title = "Coin Dilemma"
    legend = ((("red coin",), "red coin"), (("blue coin",), "blue coin"))
    event_cells = (
        (("red player",), ("red coin",)),
        (("red player",), ("blue coin",)),
        (("blue player",), ("blue coin",)),
        (("blue player",), ("red coin",)),
    )

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        hue, kind = thing.split()
        return self._sheet.coin(px, ground, hue) if kind == "coin" else super().icon(thing, px, ground)
