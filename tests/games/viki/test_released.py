"""Readings of the released rules that a table leaves open, each with the verdict of the released checker."""

from __future__ import annotations

import pytest

from ludens.games.viki.checker import check
from ludens.games.viki.rules import Code
from ludens.games.viki.world import Condition, Plan, Scene
from tests.games.viki.kitchens import kitchen
from tests.games.viki.slow_released import CRASH, slow_released

THINGS = {
    "cabinet": "kitchen work area",
    "sink": "table",
    "apple": "table",
    "pear": "table",
    "plate": "table",
    "spoon": "cabinet",
    "cardboardbox": "ground",
    "bread": "cardboardbox",
}
ROBOTS = ("unitree_h1", "fetch", "panda", "unitree_go2")


def room(*goals: Condition) -> Scene:
    """Every robot starts at itself, as in released data."""
    scene = kitchen(THINGS, [(kind, f"R{n}") for n, kind in enumerate(ROBOTS, 1)], goals, closed=("cabinet",))
    return scene


def plan(text: str) -> Plan:
    """Steps by `|`, actions by `;`, arguments by `,`."""
    return [
        {robot: tuple(action.split(",")) for robot, action in (one.split(" ", 1) for one in step.split(";"))}
        for step in text.split("|")
    ]


TAKE = "R2 Move,apple|R2 Reach,apple|R2 Grasp,apple"
BOTH = "R1 Move,table|R1 Reach,apple|R1 Reach,pear|R1 Grasp,pear"
READINGS: dict[str, tuple[str, Code | None]] = {
    "a robot at itself is together with nothing": ("R2 Reach,apple", "infeasible"),
    "moving to an unknown name is fine, and the place is that name": ("R2 Move,castle|R2 Move,apple", None),
    "primitives may have blanks and capitals, names may not": ("R2  mOVE ,apple|R2 Reach,Apple", "entity"),
    "blanks around names are cut off": ("R2 Move, apple |R2 Reach,apple", None),
    "a robot without an entry for it is not found": ("R9 Reach,apple", "entity"),
    "a robot that does not exist and moves: exception": ("R9 Move,apple", "infeasible"),
    "a thing cannot act: exception": ("apple Move,pear", "infeasible"),
    "an unknown thing comes before an unknown primitive": ("R2 Fly,castle", "entity"),
    "an unknown primitive with known things": ("R2 Fly,apple", "infeasible"),
    "too many arguments": ("R2 Move,apple,pear", "infeasible"),
    "a panda does not move": ("R3 Move,apple", "infeasible"),
    "the whole plan is read before the first step": ("R2 Reach,apple|R2 Move,", "format"),
    "robots can be reached": ("R2 Move,R1|R2 Reach,R1", None),
    "grasping after reaching a robot: not a thing": ("R2 Move,R1|R2 Reach,R1|R2 Grasp,R1", "infeasible"),
    "grasping with a robot among the reached: exception": (
        "R1 Move,R2;R2 Move,apple|R1 Reach,R2|R1 Reach,apple|R1 Grasp,apple",
        "infeasible",
    ),
    "grasp takes everything reached": (BOTH + "|R1 Place,plate|R2 Move,plate|R2 Reach,apple", None),
    "no free hand after two things": (BOTH + "|R1 Reach,plate|R1 Grasp,plate", "infeasible"),
    "reach needs no free hand": (BOTH + "|R1 Reach,plate", None),
    "a full queue drops the oldest": (
        "R1 Move,table|R1 Reach,apple|R1 Reach,pear|R1 Reach,plate|R1 Grasp,apple",
        "infeasible",
    ),
    "things in a closed container are not reached": ("R1 Move,cabinet|R1 Reach,spoon", "infeasible"),
    "opening from the area is not enough": (
        "R1 Move,kitchen work area|R1 Reach,cabinet|R1 Open,cabinet",
        "infeasible",
    ),
    "opening needs a reach": ("R1 Move,cabinet|R1 Open,cabinet", "infeasible"),
    "opening at the cabinet": ("R1 Move,cabinet|R1 Reach,cabinet|R1 Open,cabinet|R1 Reach,spoon", None),
    "closing always fails": (
        "R1 Move,cabinet|R1 Reach,cabinet|R1 Open,cabinet|R1 Close,cabinet",
        "infeasible",
    ),
    "a closed cabinet takes nothing": (TAKE + "|R2 Move,cabinet|R2 Place,cabinet", "infeasible"),
    "placing onto a plain thing, from which nothing can be reached: exception": (
        TAKE + "|R2 Move,pear|R2 Place,pear|R2 Reach,apple",
        "infeasible",
    ),
    "placing at a name where the robot is": (TAKE + "|R2 Move,castle|R2 Place,castle", None),
    "placing at a name where the robot is not": (TAKE + "|R2 Place,castle", "infeasible"),
    "a mover follows what it moved to": (
        "R1 Move,apple;R2 Move,apple|R2 Reach,apple|R2 Grasp,apple|R2 Move,rack|R1 Reach,apple",
        None,
    ),
    "handing over always fails": (TAKE + "|R2 Move,R1|R2 Handover,apple,R1", "infeasible"),
    "pushing to an area": ("R4 Move,cardboardbox|R4 Push,cardboardbox,table", "entity"),
    "pushing to a robot": ("R4 Move,cardboardbox|R4 Push,cardboardbox,R3|R3 Reach,bread", None),
    "pushing to a thing": (
        "R4 Move,cardboardbox|R4 Push,cardboardbox,sink|R2 Move,sink|R2 Reach,bread",
        None,
    ),
    "pushing from the area": ("R4 Move,ground|R4 Push,cardboardbox,R3", "infeasible"),
    "pushing a box to itself names it twice": (
        "R4 Move,cardboardbox|R4 Push,cardboardbox,cardboardbox",
        "incompatible",
    ),
    "quadrupeds interact without hands": ("R4 Move,sink|R4 Interact,sink", None),
    "interacting from the area": ("R1 Move,table|R1 Interact,sink", "infeasible"),
    "interacting twice": ("R4 Move,sink|R4 Interact,sink|R4 Interact,sink", "infeasible"),
    "interacting with what is held": (TAKE + "|R2 Interact,apple", None),
    "a held hand is not free": (TAKE + "|R2 Move,sink|R2 Interact,sink", "infeasible"),
    "reach and place together": (TAKE + "|R1 Move,plate;R2 Move,plate|R1 Reach,plate;R2 Place,plate", None),
    "reach and grasp together": (
        "R1 Move,apple;R2 Move,apple|R1 Reach,apple;R2 Reach,apple|R1 Reach,apple;R2 Grasp,apple",
        "incompatible",
    ),
    "move and grasp together": ("R2 Move,apple|R2 Reach,apple|R1 Move,apple;R2 Grasp,apple", None),
    "infeasible comes before incompatible": ("R1 Reach,apple;R2 Grasp,apple", "infeasible"),
}


@pytest.mark.parametrize("reading", READINGS)
def test_reading(reading: str) -> None:
    steps, code = plan(READINGS[reading][0]), READINGS[reading][1]
    said = check(room(), steps, "released")
    assert said.code == code, said.message
    assert ("exception" in reading or "always fails" in reading) == (slow_released(room(), steps) == CRASH)


def test_empty_steps_do_not_count_and_the_direct_place_is_the_goal() -> None:
    there = room(Condition("apple", place="plate"))
    steps = plan(TAKE + "|R2 Move,plate|R2 Place,plate")
    assert check(there, [{}, *steps, {}], "released").right
    assert check(there, [{}, *steps], "released").length == 5
    assert check(room(Condition("apple", place="table")), steps, "released").code == "goal"
