"""Coin Dilemma: each coin earns its taker a point; taking the other's coin costs the other two."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.games.grid.rules import GridGame, GridState, ScoringEvent

RED_COIN, BLUE_COIN = 2, 3


class CoinState(GridState):
    """The cells of both players and both coins."""

    def _meet(self) -> None:
        red, blue, red_coin, blue_coin = self.cells
        counts = self.counts
        if red == red_coin:
            counts[0] += 1
        elif red == blue_coin:
            counts[1] += 1
        if blue == blue_coin:
            counts[2] += 1
        elif blue == red_coin:
            counts[3] += 1
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
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays.
    Rewards: +1 for taking a coin of your colour; +1 for taking a coin of the other's colour, which costs the
    other 2. Several events in one step add up. A taken coin comes back on a random cell where nothing is.
    Ends after `horizon` steps.
    """

    name = "coin_dilemma"
    version = 2
    view_class = "ludens.games.coin_dilemma.view:CoinView"
    bots = {
        "common_welfare": "ludens.games.coin_dilemma.bots:CommonWelfare",
        "self_interest": "ludens.games.coin_dilemma.bots:SelfInterest",
        "optimal": "ludens.games.coin_dilemma.bots:Optimal",
    }
    best = "bot/optimal"
    things = ("red player", "blue player", "red coin", "blue coin")
    events = (
        ScoringEvent("red_own_coin", "red takes the red coin", +1, 0),
        ScoringEvent("red_other_coin", "red takes the blue coin", +1, -2),
        ScoringEvent("blue_own_coin", "blue takes the blue coin", 0, +1),
        ScoringEvent("blue_other_coin", "blue takes the red coin", -2, +1),
    )
    state = CoinState
