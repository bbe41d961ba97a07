"""A kitchen laid out by hand, for tests of pictures, paths and games."""

from __future__ import annotations

from dataclasses import replace

from ludens.games.viki.world import Area, Asset, Condition, KitchenTask, Robot, Scene

AREAS = (
    Area("kitchen work area", 1, 0.5, 2, 0.6, 0.9),
    Area("room", 3, 0.5, 1, 0.6, 0.9),
    Area("rack", 5, 0.5, 1, 0.5, 1.7),
    Area("ground", 1, 3, 1, 1, 0.0),
    Area("kitchen island area", 3, 3, 2, 1, 0.9),
    Area("table", 5, 3, 1.5, 1, 0.75),
)
ASSETS = (
    Asset("cabinet", "cabinet", "kitchen work area", closed=True),
    Asset("bread", "bread", "cabinet"),
    Asset("drawer", "drawer", "kitchen work area"),
    Asset("fork", "fork", "drawer"),
    Asset("sink", "sink", "room"),
    Asset("bowl", "bowl", "rack"),
    Asset("cardboardbox", "cardboardbox", "ground"),
    Asset("kiwi", "kiwi", "kitchen island area"),
    Asset("apple", "apple", "table"),
    Asset("plate", "plate", "table"),
    Asset("pear", "pear", "plate"),
)
ROBOTS = (
    Robot("R1", "fetch", "table"),
    Robot("R2", "panda", "table", needed=False),
    Robot("R3", "stompy", "room", needed=False),
    Robot("R4", "anymal_c", "ground", needed=False),
)
TASK = KitchenTask("Put the apple on the plate.", 1, "1-1", "move one", (Condition("apple", "plate"),))
PLAN = ({"R1": ("Reach", "apple")}, {"R1": ("Grasp", "apple")}, {"R1": ("Place", "plate")})
SCENE = Scene("hand", 0, 6, 4, AREAS, ASSETS, ROBOTS, TASK, 3, PLAN)
WALKING = replace(SCENE, plan=({"R1": ("Move", "room"), "R3": ("Move", "table")}, {"R3": ("Reach", "apple")}))
"""The same with a plan in which two robots have a way to go."""
