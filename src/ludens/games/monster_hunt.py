"""Monster Hunt: apples reward one player; the monster rewards two who meet it together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.core.game import Preset
from ludens.core.options import option
from ludens.draw import Sprite
from ludens.draw.palette import edge_of, visible
from ludens.games import grid
from ludens.games.grid import GridGame, GridState, GridView, ScoringEvent, Walker

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw


MONSTER, APPLES = 2, (3, 4)


class HuntState(GridState):
    """The cells of both players, the monster and both apples."""

    game: MonsterHunt

    def _meet(self) -> None:
        """The monster takes one step toward the closest player's new cell, then events happen."""
        red, blue, monster = self.cells[:3]
        plane = self.plane
        lead = plane.distance[monster][red] - plane.distance[monster][blue]
        prey = self.random.choice((red, blue)) if lead == 0 else red if lead < 0 else blue
        self.cells[MONSTER] = plane.after[self.random.choice(plane.toward[monster][prey])][monster]
        red, blue, monster, *apples = self.cells
        caught = [player for player in (grid.RED, grid.BLUE) if self.cells[player] == monster]
        self.counts[grid.RED] += red in apples
        self.counts[grid.BLUE] += blue in apples
        if caught:
            self.counts[4 if len(caught) == 2 else 2 + caught[0]] += 1
        eaters = (red, blue, monster) if self.game.variant == "released" else (red, blue)
        for apple, cell in zip(APPLES, apples, strict=True):
            if cell in eaters:
                self._respawn(apple)
        for thing in (MONSTER,) if len(caught) == 2 else caught:
            self._respawn(thing)


@dataclass(frozen=True)
class MonsterHunt(GridGame):
    """Eat apples alone, or face the monster together, on a 5x5 grid.

    Seats: `red` and `blue`, moving at the same time; then the monster takes one step toward the closest
    player (ties, and the axis of a slanting way, are drawn).
    Observation: the grid with both players, the monster and two apples, the last moves, every event with what
    it earns and how often it has happened, and the scores. Both players see the same.
    Actions: `STAY`, `RIGHT`, `LEFT`, `UP`, `DOWN`; a move off the grid stays, or comes back on the opposite
    side with `edges=torus`.
    Rewards: +2 for an apple (each, when both step on it), -2 for meeting the monster alone, +5 each for
    meeting it together. An eaten apple, a player caught alone and a beaten monster come back on a random cell
    where nothing is, in this order.
    Ends after `horizon` steps. In the variant `released` the monster destroys the apples it steps on.
    """

    name = "monster_hunt"
    version = 2
    view_class = "ludens.games.monster_hunt:HuntView"
    best = "bot/optimal"
    presets = {
        "easy": Preset({"horizon": 25}, others="bot/common_welfare_1"),
        "medium": Preset(others="bot/common_welfare_2"),
        "hard": Preset({"edges": "torus"}, others="bot/self_interest"),
        "paper": Preset(others="bot/common_welfare_1"),
    }
    bots = {
        "common_welfare_1": "ludens.games.monster_hunt:CommonWelfare1",
        "common_welfare_2": "ludens.games.monster_hunt:CommonWelfare2",
        "common_welfare_3": "ludens.games.monster_hunt:CommonWelfare3",
        "self_interest": "ludens.games.monster_hunt:HuntSelfInterest",
        "optimal": "ludens.games.monster_hunt:HuntOptimal",
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


CORNERS = {grid.name(cell): cell for cell in (0, grid.SIDE - 1, grid.CELLS - grid.SIDE, grid.CELLS - 1)}


class Hunter(Walker):
    """Cannot tell the apples apart."""

    def sights(self, state: GridState) -> list[str]:
        red, blue, monster, *apples = super().sights(state)
        return [red, blue, monster, *sorted(apples)]


@dataclass
class CommonWelfare1(Hunter):
    """Goes straight for the monster."""

    kind = "bot/common_welfare_1"
    targets = (MONSTER,)


@dataclass
class CommonWelfare2(Hunter):
    """Goes to the middle cell and waits there for the other player and the monster."""

    kind = "bot/common_welfare_2"

    def goals(self, state: GridState) -> Collection[int]:
        return (grid.MIDDLE,)


@dataclass
class CommonWelfare3(Hunter):
    """Goes to one corner and waits there for the other player and the monster."""

    kind = "bot/common_welfare_3"
    corner: str = option("A1", choices=tuple(CORNERS), help="the corner to wait in")

    def goals(self, state: GridState) -> Collection[int]:
        return (CORNERS[self.corner],)


@dataclass
class HuntSelfInterest(Hunter):
    """Goes to the closest apple."""

    kind = "bot/self_interest"
    targets = APPLES


@dataclass
class HuntOptimal(CommonWelfare2):
    """Waits in the middle, where the monster is never far: the paper's optimal strategy."""

    kind = "bot/optimal"


class HuntView(GridView):
    """Adds the monster and the apples."""

    title = "Monster Hunt"
    legend = ((("monster",), "monster"), (("apple",), "apple"))
    event_cells = (
        (("red player",), ("apple",)),
        (("blue player",), ("apple",)),
        (("red player",), ("monster",)),
        (("blue player",), ("monster",)),
        (("red player", "blue player"), ("monster",)),
    )
    inks = (*GridView.inks, "green", "brown")

    def values(self, seat: str) -> dict[str, object]:
        values = super().values(seat)
        return {**values, "apples": self.templates.fill(f"apples {values['variant']}")}

    def icon(self, thing: str, px: int, ground: str) -> Sprite:
        if thing == "monster":
            return self._monster(px, ground)
        return self._apple(px, ground) if thing == "apple" else super().icon(thing, px, ground)

    def _monster(self, px: int, ground: str) -> Sprite:
        body, white = self._sheet.rgb("black"), self._sheet.rgb("white")

        def paint(draw: ImageDraw, scale: float) -> None:
            side, edge = px * scale, edge_of(body, self._sheet.rgb(ground))
            for inset, colour in ((0.0, edge), (max(0.035, 1.8 / px), body)):
                for x in (1, -1):
                    horn = ((0.5 - x * 0.44, 0.02), (0.5 - x * 0.4, 0.42), (0.5 - x * 0.12, 0.24))
                    middle = [sum(place) / 3 for place in zip(*horn, strict=True)]
                    draw.polygon([_inward(point, middle, inset, side) for point in horn], fill=colour)
                draw.ellipse(_box(0.06, 0.16, 0.94, 0.98, inset, side), fill=colour)
            for x in (1, -1):
                eye = ((0.5 - x * 0.32, 0.4), (0.5 - x * 0.08, 0.52), (0.5 - x * 0.26, 0.6))
                draw.polygon([(x * side, y * side) for x, y in eye], fill=white)
            tips = ((0.66, 0.84), (0.58, 0.73), (0.5, 0.86), (0.42, 0.73), (0.34, 0.84))
            teeth = ((0.26, 0.7), (0.74, 0.7), *tips)
            draw.polygon([(x * side, y * side) for x, y in teeth], fill=white)

        return self._sheet.sprite("monster", px, px, ground, paint)

    def _apple(self, px: int, ground: str) -> Sprite:
        skin, stalk = self._sheet.rgb("green"), visible(self._sheet.rgb("brown"), self._sheet.rgb(ground))
        edge = edge_of(skin, self._sheet.rgb(ground))

        def paint(draw: ImageDraw, scale: float) -> None:
            side = px * scale
            for inset, colour in ((0.0, edge), (max(0.05, 1.7 / px), skin)):
                for left in (0.08, 0.36):
                    draw.ellipse(_box(left, 0.26, left + 0.56, 0.96, inset, side), fill=colour)
            draw.line([(0.5 * side, 0.36 * side), (0.56 * side, 0.06 * side)], stalk, round(0.07 * side))
            draw.chord((0.55 * side, 0.04 * side, 0.95 * side, 0.3 * side), 20, 215, fill=edge)

        return self._sheet.sprite("apple", px, px, ground, paint)


def _box(
    left: float, top: float, right: float, bottom: float, inset: float, side: float
) -> tuple[float, float, float, float]:
    return (left + inset) * side, (top + inset) * side, (right - inset) * side, (bottom - inset) * side


def _inward(
    point: tuple[float, float], middle: list[float], inset: float, side: float
) -> tuple[float, float]:
    """A corner moved toward the centre of its polygon, which leaves an outline."""
    part = inset * 11
    x, y = (place + (goal - place) * part for place, goal in zip(point, middle, strict=True))
    return x * side, y * side
