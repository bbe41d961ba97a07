"""The reference side of the differential test: Overcooked-AI's own rules, told what to do line by line.

Runs in another Python, one that has `overcooked-ai` (which needs numpy below 2). Reads a line of JSON with a
layout and joint actions, answers with a line of JSON: everything there is after each of them.
"""

import json
import sys

from overcooked_ai_py.mdp.actions import Action, Direction
from overcooked_ai_py.mdp.overcooked_mdp import OvercookedGridworld

ACTIONS = {
    "UP": Direction.NORTH,
    "DOWN": Direction.SOUTH,
    "RIGHT": Direction.EAST,
    "LEFT": Direction.WEST,
    "STAY": Action.STAY,
    "INTERACT": Action.INTERACT,
}
NAMES = {direction: name for name, direction in ACTIONS.items()}
LAYOUTS = {"counter_circuit": "counter_circuit_o_1order"}


def thing(held):
    if held is None:
        return ""
    if held.name != "soup":
        return held.name
    return f"soup of {len(held.ingredients)} onion{'s' * (len(held.ingredients) != 1)}"


def told(mdp, state, infos):
    pots, counters = {}, {}
    for (x, y), lying in state.objects.items():
        if mdp.terrain_mtx[y][x] == "P":
            pots[f"{x},{y}"] = [len(lying.ingredients), lying._cooking_tick]
        else:
            counters[f"{x},{y}"] = thing(lying)
    return {
        "chefs": [[*p.position, NAMES[p.orientation], thing(p.held_object)] for p in state.players],
        "pots": pots,
        "counters": counters,
        "earned": [sum(infos["sparse_reward_by_agent"]), sum(infos["shaped_reward_by_agent"])],
    }


for line in sys.stdin:
    asked = json.loads(line)
    mdp = OvercookedGridworld.from_layout_name(
        LAYOUTS.get(asked["layout"], asked["layout"]), cook_time=5, delivery_reward=10
    )
    state, answers = mdp.get_standard_start_state(), []
    for actions in asked["actions"]:
        state, infos = mdp.get_state_transition(state, tuple(ACTIONS[action] for action in actions))
        answers.append(told(mdp, state, infos))
    print(json.dumps(answers), flush=True)
