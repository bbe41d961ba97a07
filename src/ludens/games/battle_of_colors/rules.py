"""Battle of the Colors: both earn by meeting on a block, and each earns more on the block of its colour."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.options import option
from ludens.games.grid.cells import CELLS
from ludens.games.grid.rules import BLUE, RED, GridGame, GridState, ScoringEvent

RED_BLOCK, BLUE_BLOCK = 2, 3


class BattleState(GridState):
    """The cells of both players and both blocks."""

    game: BattleOfColors

    def _meet(self) -> None:
        red, blue, red_block, blue_block = self.cells
        both = (RED_BLOCK, BLUE_BLOCK)
        moved: tuple[int, ...] = ()
        if red == blue == red_block:
            self.counts[0] += 1
            moved = (RED_BLOCK,)
        elif red == blue == blue_block:
            self.counts[1] += 1
            moved = (BLUE_BLOCK,)
        elif (red, blue) in ((red_block, blue_block), (blue_block, red_block)):
            self.counts[2] += 1
            moved = both
        for block in both if moved and self.game.variant == "released" else moved:
            self._respawn(block)

    def _respawn(self, thing: int) -> None:
        if self.game.variant == "paper":
            super()._respawn(thing)
            return
        while (cell := self.random.below(CELLS)) in (self.cells[RED], self.cells[BLUE]):
            pass
        self.cells[thing] = cell


@dataclass(frozen=True)
class BattleOfColors(GridGame):
    """Meet on a block of a 5x5 grid: both earn, but the one whose colour it is earns more.

    Seats: `red` and `blue`, moving at the same time.
    Observation: the grid with both players and both blocks, the last moves, every event with what it earns
    and how often it has happened, and the scores. Both players see the same.
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays.
    Rewards: both on the red block, +2 for red and +1 for blue; both on the blue block, +1 for red and +2 for
    blue; the block then moves to a random cell where nothing is. On different blocks: nothing for either, and
    both blocks move.
    Ends after `horizon` steps. In the variant `released` every event moves both blocks, and a block may come
    back on the other block's cell; two players who meet there have met on red.
    """

    name = "battle_of_colors"
    version = 3
    view_class = "ludens.games.battle_of_colors.view:BattleView"
    best = "bot/optimal"
    bots = {
        "common_welfare": "ludens.games.battle_of_colors.bots:CommonWelfare",
        "self_interest": "ludens.games.battle_of_colors.bots:SelfInterest",
        "biased_red": "ludens.games.battle_of_colors.bots:BiasedRed",
        "biased_blue": "ludens.games.battle_of_colors.bots:BiasedBlue",
        "optimal": "ludens.games.battle_of_colors.bots:Optimal",
    }
    things = ("red player", "blue player", "red block", "blue block")
    events = (
        ScoringEvent("both_red", "both on the red block", +2, +1),
        ScoringEvent("both_blue", "both on the blue block", +1, +2),
        ScoringEvent("different", "on different blocks", 0, 0),
    )
    state = BattleState

    variant: str = option(
        "paper",
        choices=("paper", "released"),
        help="the paper's rules, or those of its released code, where every event moves both blocks",
    )
