"""Random scenes and plans for differential tests: shortest plans that were changed, and random walks."""

from __future__ import annotations

import random
from dataclasses import replace

from ludens.games.viki.checker import check_released
from ludens.games.viki.rules import RefusedStep, World
from ludens.games.viki.world import Action, Asset, Plan, Scene
from tests.games.viki.kitchens import cached

PRIMITIVES = ("Move", "Reach", "Grasp", "Place", "Open", "Close", "Interact", "Push", "Handover")


def random_scene(rng: random.Random, seeds: int) -> Scene:
    """A generated scene, sometimes with a box, and sometimes with robots that start at themselves."""
    scene = cached(rng.randrange(seeds), rng.choice(["id", "ood"]))
    if rng.random() < 0.4 and all(asset.name != "cardboardbox" for asset in scene.assets):
        place = rng.choice(scene.areas).name
        scene = replace(scene, assets=(*scene.assets, Asset("cardboardbox", "cardboardbox", place)))
    if rng.random() < 0.2:
        scene = replace(scene, robots=tuple(replace(robot, place=robot.id) for robot in scene.robots))
    if rng.random() < 0.3:
        scene = replace(
            scene, assets=tuple(replace(asset, place=_other(rng, scene, asset)) for asset in scene.assets)
        )
    return scene


def _other(rng: random.Random, scene: Scene, asset: Asset) -> str:
    """Sometimes another place: an area, or furniture."""
    if asset.name in ("cabinet", "drawer", "sink", "toaster", "fridge", "oven", "cutting board"):
        return asset.place
    return rng.choice(["cabinet", "sink", "drawer", scene.areas[0].name, asset.place, asset.place])


def random_action(rng: random.Random, scene: Scene, names: list[str]) -> Action:
    """Any primitive with any names, mostly the right number of them."""
    primitive = rng.choice(PRIMITIVES)
    count = 2 if primitive in ("Push", "Handover") else 1
    if rng.random() < 0.02:
        count = rng.randrange(4)
    if rng.random() < 0.02:
        primitive = rng.choice(["Fly", "MOVE", "reach", " Grasp"])
    args = [rng.choice(names) for _ in range(count)]
    if rng.random() < 0.03:
        args = [rng.choice(["nowhere", "<x>", "a,b", "R9", " apple ", ""]) for _ in range(count)]
    return (primitive, *args)


def random_plan(rng: random.Random, scene: Scene) -> Plan:
    """A random walk, or the shortest plan with changes."""
    robots = [robot.id for robot in scene.robots]
    named = [name for goal in scene.task.goals for name in (goal.thing, goal.place) if name]
    few = [
        *named,
        *(rng.choice(scene.assets).name for _ in range(3)),
        *(area.name for area in scene.areas),
        *robots,
    ]
    chance = rng.random()
    if chance < 0.25 and scene.robots[0].place != scene.robots[0].id:
        return walk(rng, scene, few)
    if chance < 0.4:
        return released_walk(rng, scene, few)
    plan: Plan = [dict(step) for step in scene.plan]
    if rng.random() < 0.15:
        one, two = rng.choice(robots), rng.choice(robots)
        for step in plan:
            if one in step:
                step[two] = step[one]
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        change = rng.randrange(8)
        at = rng.randrange(len(plan) + 1)
        if change == 0 and plan:
            del plan[at % len(plan)]
        elif change == 1:
            plan.insert(at, {rng.choice(robots): random_action(rng, scene, few)})
        elif change == 2 and plan:
            plan[at % len(plan)][rng.choice(robots)] = random_action(rng, scene, few)
        elif change == 3 and plan:
            step = plan[at % len(plan)]
            plan[at % len(plan)] = dict(rng.sample(list(step.items()), len(step)))
        elif change == 4 and len(plan) > 1:
            at %= len(plan) - 1
            plan[at : at + 2] = [{**plan[at + 1], **plan[at]}]
        elif change == 6 and plan:
            step = plan[at % len(plan)]
            step[rng.choice(robots)] = rng.choice(list(step.values()))
        elif change == 5 and plan:
            plan.insert(at, dict(rng.choice(plan)))
        elif plan:
            step = plan[at % len(plan)]
            for robot in list(step):
                if rng.random() < 0.3:
                    step[rng.choice(robots)] = step.pop(robot)
    return [step for step in plan if step]


def walk(rng: random.Random, scene: Scene, names: list[str]) -> Plan:
    """Random steps, mostly possible under the default rules."""
    world = World(scene)
    state = world.start()
    plan: Plan = []
    for _ in range(rng.randrange(1, 14)):
        step: dict[str, Action] = {}
        for robot in world.robots:
            for _ in range(12):
                action = random_action(rng, scene, names)
                try:
                    world.parse(state, robot, action)
                except RefusedStep:
                    continue
                step[robot] = action
                break
        if rng.random() < 0.1:
            step[rng.choice(world.robots)] = random_action(rng, scene, names)
        if not step:
            continue
        try:
            state = world.step(state, step)
        except RefusedStep:
            if rng.random() < 0.7:
                continue
        plan.append(step)
    return plan


def released_walk(rng: random.Random, scene: Scene, names: list[str]) -> Plan:
    """Random steps, mostly possible under the released rules; often about one box and one robot."""
    few = [*rng.sample(names, min(3, len(names))), "cardboardbox", rng.choice(scene.robots).id]
    plan: Plan = []
    for _ in range(rng.randrange(2, 9)):
        for _ in range(10):
            robots = rng.sample(scene.robots, rng.randrange(1, len(scene.robots) + 1))
            step = {robot.id: random_action(rng, scene, few) for robot in robots}
            refusal = check_released(scene, [*plan, step])
            if refusal is None or refusal[2] is None:
                plan.append(step)
                break
    return plan
