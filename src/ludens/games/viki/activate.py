"""Level 1: which robot types does the task need?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ludens.core.errors import Illegal, Unreadable
from ludens.games.viki.data import ROBOTS
from ludens.games.viki.level import SEAT, TEACHERS, Answered, Level
from ludens.games.viki.parse import read_value

_SPELLINGS = {name.replace("_", " "): name for name in ROBOTS}
_SPELLINGS |= {kind.name.lower(): name for name, kind in ROBOTS.items()}


@dataclass(frozen=True)
class Activate(Level):
    """Choose the robot types that a household task needs (VIKI level 1).

    Seats: `planner`, alone, for one move.
    Observation: the kitchen with its robots, and the task; the picture alone tells which robots are there.
    Actions: a list of robot types, such as `["fetch", "panda"]`; canonical form: JSON, sorted.
    Rewards: 1 for the set of types of the best team, else 0. The best team has the shortest plan and, among
    equals, the fewest robots; the scene has exactly one.
    """

    name = "viki/activate"
    view_class = "ludens.games.viki.views:ActivateView"
    bots = {"greedy": "ludens.games.viki.bots:GreedyTeam", **TEACHERS}

    def start(self, seed: int) -> Activation:
        return Activation(self, self.shown(seed))


class Activation(Answered):
    """A scene and the types that were named."""

    longest = 200

    def canonical(self, answer: str) -> str:
        return read_types(answer)

    def solution(self, seat: str) -> str | None:
        return json.dumps(self.scene.team)

    @property
    def accuracies(self) -> list[float]:
        return [float(answer == self.solution(SEAT)) for answer in self.answers]

    @property
    def facts(self) -> dict[str, Any]:
        said = self.answers[-1] if self.answers else ""
        return {
            **super().facts,
            "right": self.returns[SEAT] == 1.0,
            "truth": list(self.scene.team),
            "said": json.loads(said) if said else None,
            "robots": sorted(robot.type for robot in self.scene.robots),
        }


def read_types(answer: str) -> str:
    """The canonical form of a list of robot types: as JSON, a Python literal, or names with commas."""
    bare = answer.strip()
    names: Any = [part.strip(" '\"`.") for part in bare.split(",")]
    if bare[:1] in tuple("[({`\"'"):
        names = read_value(bare, what="list of robot types")
        names = [names] if isinstance(names, str) else names
    if not isinstance(names, list | tuple | set) or not all(isinstance(name, str) for name in names):
        raise Unreadable('the answer is not a list of robot types such as ["fetch", "panda"].')
    found = {_type(name) for name in names}
    if not found:
        raise Illegal("the list of robot types is empty; every task needs a robot.")
    return json.dumps(sorted(found))


def _type(name: str) -> str:
    folded = name.strip().lower()
    known = folded if folded in ROBOTS else _SPELLINGS.get(folded.replace("_", " "))
    if known is None:
        shown = name if len(name) <= 40 else name[:37] + "..."
        raise Illegal(f"there is no robot type {shown!r}; there are {', '.join(ROBOTS)}.")
    return known
