"""Battle of the Colors: both earn by meeting on a block, and each earns more on the block of its colour."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.core.game import Preset
from ludens.core.options import option
from ludens.draw import Sprite
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters
from ludens.games import grid
from ludens.games.grid import GridGame, GridState, GridView, ScoringEvent, Stack, Walker

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


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
        while (cell := self.random.below(grid.CELLS)) in (self.cells[grid.RED], self.cells[grid.BLUE]):
            pass
        self.cells[thing] = cell


@dataclass(frozen=True)
class BattleOfColors(GridGame):
    """Meet on a block of a 5x5 grid: both earn, but the one whose colour it is earns more.

    Seats: `red` and `blue`, moving at the same time.
    Observation: the grid with both players and both blocks, the last moves, every event with what it earns
    and how often it has happened, and the scores. Both players see the same.
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays, or comes back on the opposite
    side with `edges=torus`.
    Rewards: both on the red block, +2 for red and +1 for blue; both on the blue block, +1 for red and +2 for
    blue; the block then moves to a random cell where nothing is. On different blocks: nothing for either, and
    both blocks move.
    Ends after `horizon` steps. In the variant `released` every event moves both blocks, and a block may come
    back on the other block's cell; two players who meet there have met on red.
    """

    name = "battle_of_colors"
    version = 3
    view_class = "ludens.games.battle_of_colors:BattleView"
    best = "bot/optimal"
    presets = {
        "easy": Preset({"horizon": 25}, others="bot/common_welfare"),
        "medium": Preset(others="bot/common_welfare"),
        "hard": Preset({"edges": "torus"}, others="bot/self_interest"),
        "paper": Preset(others="bot/common_welfare"),
    }
    bots = {
        "common_welfare": "ludens.games.battle_of_colors:BattleCommonWelfare",
        "self_interest": "ludens.games.battle_of_colors:BattleSelfInterest",
        "biased_red": "ludens.games.battle_of_colors:BiasedRed",
        "biased_blue": "ludens.games.battle_of_colors:BiasedBlue",
        "optimal": "ludens.games.battle_of_colors:BattleOptimal",
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


@dataclass
class BattleCommonWelfare(Walker):
    """Goes to the block that both can reach soonest and waits there.

    Two of them always agree: of equally good blocks they take the one of the colour that was met on less
    often, which both can read off the counters. The choice stays the same while they walk.
    """

    kind = "bot/common_welfare"

    def goals(self, state: GridState) -> Collection[int]:
        def effort(block: int) -> tuple[int, int, int]:
            """Steps until both can be there, steps of both in total, how often they met on that colour."""
            ways = _ways(state, state.cells[block])
            return max(ways), sum(ways), state.counts[block - RED_BLOCK]

        return (state.cells[min((RED_BLOCK, BLUE_BLOCK), key=effort)],)

    def sights(self, state: GridState) -> list[str]:
        return [*super().sights(state), *map(str, state.counts[:2])]

    def comparison(self, state: GridState) -> str:
        """Each block with the steps of red and blue to it, and the block that is the goal."""
        blocks = [state.cells[block] for block in (RED_BLOCK, BLUE_BLOCK)]
        ways = [f"{grid.name(block)} {' '.join(map(str, _ways(state, block)))}" for block in blocks]
        [goal] = self.goals(state)
        return f"{' '.join(ways)} = {grid.name(goal)}"


def _ways(state: GridState, cell: int) -> tuple[int, int]:
    distances = state.plane.distance[cell]
    return distances[state.cells[grid.RED]], distances[state.cells[grid.BLUE]]


@dataclass
class BattleSelfInterest(Walker):
    """Goes to the block of its own colour and waits there."""

    kind = "bot/self_interest"

    def goals(self, state: GridState) -> Collection[int]:
        return (state.cells[RED_BLOCK + self.me],)


@dataclass
class BiasedRed(Walker):
    """Goes to the red block, whichever seat it plays."""

    kind = "bot/biased_red"
    targets = (RED_BLOCK,)


@dataclass
class BiasedBlue(Walker):
    """Goes to the blue block, whichever seat it plays."""

    kind = "bot/biased_blue"
    targets = (BLUE_BLOCK,)


@dataclass
class BattleOptimal(BattleCommonWelfare):
    """Meets on the closest block every time: the paper's optimal strategy."""

    kind = "bot/optimal"


class BattleView(GridView):
    """Adds the blocks; a player on a block is drawn in a window in it."""

    title = "Battle of the Colors"
    legend = ((("red block",), "red block"), (("blue block",), "blue block"))
    event_cells = (
        (("red player", "blue player"), ("red block",)),
        (("red player", "blue player"), ("blue block",)),
        (("red player", "red block"), ("blue player", "blue block")),
    )
    icon_units = 40

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        names = {"red_moves": "red moves", "blue_moves": "blue moves", "blocks": "blocks"}
        texts = {key: self.templates.fill(f"{name} {values['variant']}") for key, name in names.items()}
        return {**values, **texts}

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        hue, kind = thing.split()
        return self._blocks((hue,), px, ground) if kind == "block" else super().icon(thing, px, ground)

    def stack(self, things: Stack, px: int, ground: str) -> Sprite:
        hues = tuple(thing.split()[0] for thing in things if thing.endswith("block"))
        if not hues:
            return super().stack(things, px, ground)
        tile = self._blocks(hues, px, ground).copy()
        players = things[: -len(hues)]
        if players:
            room = round(px * 0.62)
            left, top = (px - room) // 2, px - room - round(px * 0.08)
            tile[top : top + room, left : left + room] = super().stack(players, room, ground)
        return tile

    def _blocks(self, hues: tuple[str, ...], px: int, ground: str) -> Sprite:
        """One block, or two halves where both are on one cell; letters are at the top."""

        def paint(draw: ImageDraw, scale: float) -> None:
            side, share = px * scale, px * scale / len(hues)
            line = max(1.0, px * 0.05) * scale
            for place, hue in enumerate(hues):
                fill, left = self._sheet.rgb(hue), place * share
                draw.rectangle(
                    (left, 0, left + share - 1, side - 1), fill=edge_of(fill, self._sheet.rgb(ground))
                )
                draw.rectangle((left + line, line, left + share - 1 - line, side - 1 - line), fill=fill)
                mark = self._sheet.theme.letter(hue)
                letters(draw, mark, left + share / 2, side * 0.17, share, side * 0.26, letter_on(fill))

        return self._sheet.sprite(("blocks", hues), px, px, ground, paint)
