"""The panel of wires, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting
from ludens.games.comma.wire.manual import COLOURS, FEWEST, MOST, PUBLISHED, WireManual, draw_manual

_ACTIONS = tuple(f"cut_wire_{number}" for number in range(1, MOST + 1))


class WirePanel(Puzzle[WireManual]):
    """Wires of any colours, one above the other. A wrong cut is a mistake and leaves the wire."""

    asks = "cut = <number of the wire, counted from the top>"

    def __init__(self, manual: WireManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        random = setting.random
        self.wires = tuple(random.choice(COLOURS) for _ in range(random.between(FEWEST, MOST)))
        self.actions = _ACTIONS[: len(self.wires)]
        self.cut = 0
        """The wire that was cut correctly, counted from 1 at the top; 0 before."""

    def act(self, action: str) -> Outcome:
        number = self.actions.index(action) + 1
        if number != self.manual.right(self.wires, self.serial):
            return "mistake"
        self.cut = number
        return "solved"

    def describe(self) -> str:
        lines = [f"{n}: {colour}{', cut' if n == self.cut else ''}" for n, colour in enumerate(self.wires, 1)]
        return "\n".join([f"{len(self.wires)} wires, from top to bottom:", *lines])

    def tell(self, advice: Facts) -> Facts:
        return {"wires": ", ".join(self.wires), "serial": self.serial}

    def follow(self, advice: Facts) -> Sequence[str]:
        action = f"cut_wire_{advice.get('cut')}"
        return [action] if action in self.actions else []


@dataclass(frozen=True)
class Wire(Comma):
    """Cut the right one of three to six coloured wires.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
    Observation: the Solver gets a picture of the wires (counted from the top), the serial number, the status
    light, mistakes and turns, and reads its actions, their results and the conversation; the Expert
    reads the manual and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `cut_wire_1` to `cut_wire_6` cuts that wire.
    Rewards: both seats get the partial score: 1 for the right cut, else 0, since the puzzle has one step.
    """

    name = "comma/wire"
    view_class = "ludens.games.comma.wire.view:WireView"
    skills = ("grounding",)
    published = PUBLISHED
    puzzle_class = WirePanel
    random_manual = staticmethod(draw_manual)
