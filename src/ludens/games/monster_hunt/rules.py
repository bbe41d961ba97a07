"""Monster Hunt: apples reward one player; the monster rewards two who meet it together."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.options import option
from ludens.games.grid.cells import AFTER, DISTANCE, TOWARD
from ludens.games.grid.rules import BLUE, RED, GridGame, GridState, ScoringEvent

MONSTER, APPLES = 2, (3, 4)


class HuntState(GridState):
    """The cells of both players, the monster and both apples."""

    game: MonsterHunt

    def _meet(self) -> None:
        self._chase()
        red, blue, monster, *apples = self.cells
        counts = self.counts
        counts[0] += red in apples
        counts[1] += blue in apples
        if red == blue == monster:
            counts[4] += 1
        elif red == monster:
            counts[2] += 1
        elif blue == monster:
            counts[3] += 1
        eaters = (red, blue, monster) if self.game.variant == "released" else (red, blue)
        for apple, cell in zip(APPLES, apples, strict=True):
            if cell in eaters:
                self._respawn(apple)
        if red == blue == monster:
            self._respawn(MONSTER)
        elif red == monster:
            self._respawn(RED)
        elif blue == monster:
            self._respawn(BLUE)

    def _chase(self) -> None:
        """One step of the monster toward the closest player's new cell."""
        red, blue, monster = self.cells[:3]
        lead = DISTANCE[monster][red] - DISTANCE[monster][blue]
        if lead == 0:
            prey = self.random.choice((red, blue))
        else:
            prey = red if lead < 0 else blue
        self.cells[MONSTER] = AFTER[self.random.choice(TOWARD[monster][prey])][monster]


@dataclass(frozen=True)
class MonsterHunt(GridGame):
    """Eat apples alone, or face the monster together, on a 5x5 grid.

    Seats: `red` and `blue`, moving at the same time; then the monster takes one step toward the closest
    player (ties, and the axis of a slanting way, are drawn).
    Observation: the grid with both players, the monster and two apples, the last moves, every event with what
    it earns and how often it has happened, and the scores. Both players see the same.
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays.
    Rewards: +2 for an apple (each, when both step on it), -2 for meeting the monster alone, +5 each for
    meeting it together. An eaten apple, a player caught alone and a beaten monster come back on a random cell
    where nothing is, in this order.
    Ends after `horizon` steps. In the variant `released` the monster destroys the apples it steps on.
    """

    name = "monster_hunt"
    version = 2
    view_class = "ludens.games.monster_hunt.view:HuntView"
    best = "bot/optimal"
    bots = {
        "common_welfare_1": "ludens.games.monster_hunt.bots:CommonWelfare1",
        "common_welfare_2": "ludens.games.monster_hunt.bots:CommonWelfare2",
        "common_welfare_3": "ludens.games.monster_hunt.bots:CommonWelfare3",
        "self_interest": "ludens.games.monster_hunt.bots:SelfInterest",
        "optimal": "ludens.games.monster_hunt.bots:Optimal",
    }
    things = ("red player", "blue player", "monster", "apple", "apple")
    events = (
        ScoringEvent("red_apple", "red eats an apple", +2, 0),
        ScoringEvent("blue_apple", "blue eats an apple", 0, +2),
        ScoringEvent("red_alone", "red meets the monster alone", -2, 0),
        ScoringEvent("blue_alone", "blue meets the monster alone", 0, -2),
        ScoringEvent("together", "both beat the monster", +5, +5),
    )
    state = HuntState

    variant: str = option(
        "paper",
        choices=("paper", "released"),
        help="the paper's rules, or those of its released code, where the monster destroys apples",
    )
