"""The generator: a seed and a split give a scene with a task, its shortest plan and its best team.

A template is drawn, then the set of robot types that are present, then one of the teams of these types that
could be the best one for the template, all equally often, and then scenes with such robots, until one has a
plan of at most 11 steps and exactly that team as its only best one. So the answer depends on who is where,
not on the words of the task nor on which types are there.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from ludens.core.errors import BadFile, UnknownName
from ludens.core.files import write_atomically
from ludens.core.random import STREAMS_VERSION, Stream, stream
from ludens.core.registry import GAMES
from ludens.games.viki.search import SearchLimit, tidy
from ludens.games.viki.teams import Types, best_team, quick
from ludens.games.viki.world import (
    COUNT,
    HELD_OUT,
    KINDS,
    ROBOTS,
    STYLES,
    Area,
    Asset,
    Condition,
    KitchenLayout,
    KitchenTask,
    Robot,
    Scene,
    Stage,
    layout,
    read_tables,
)
from ludens.pictures.sets import user_folder

Split = Literal["train", "id", "ood", "layout"]
SPLITS: tuple[Split, ...] = get_args(Split)
"""train, id (in-domain test): all families but 11; ood: family 11; layout: like id, in held-out layouts."""
HELD_OUT_FAMILY = 11
MOST_STEPS = 11
MOST_ROBOTS = 4
_PATIENCE, _TWIN_PATIENCE = 60, 150
"""Scenes drawn for one wanted team before other types and another team are drawn: few teams need more."""
_PRESENT = ((2, 3, 4), (0.35, 0.45, 0.2))
"""How many robot types are present, and how often: with one type alone, there would be nothing to choose."""
_AGAIN = 0.2
"""How often one more robot of a type that is present is added."""
_PUSHED = 0.5
"""How often nobody can carry a thing that can be pushed in a box: whoever can is faster, and two types of
quadrupeds would be equally good, so here the types that are present tell the team."""
_BYSTANDER = 0.15
"""How often one of the types is a quadruped where quadrupeds are of no use."""
_PULLED = 0.5
"""How often a thing of the task is where the wanted team is better than others."""
_MOVED = ("dish", "tool", "ware", "fruit", "vegetable", "food")
"""Groups of things that can be carried."""
_MIXED = 0.6
"""How often a thing of a mixed task is of any of these groups."""
_CROWDED = 8
"""Things in one area, at most."""
_ARMED = tuple(name for name, robot in ROBOTS.items() if robot.arms)
_LEGGED = tuple(name for name, robot in ROBOTS.items() if robot.pushes)
_ONE_THING = ("1-1", "1-2", "10-1", "11-1", "11-2")
"""Templates in which one thing is moved and nothing opened: a second robot does not make that faster."""
_TO_AREA = ("1-1", "3-1", "4-1", "6-1", "6-2", "11-1", "11-2", "11-3", "12-1", "12-2", "13-2")
"""Templates in which things must get into another area: a fixed arm cannot do that alone."""
_CARRIED = ("6-1", "6-2", "11-3", "12-1", "12-2")
"""Those in which a fixed arm only helps somebody who carries two things."""
_USED = ("4-1", "7-1", "7-2")
"""Templates in which a quadruped can switch something on."""


@dataclass(frozen=True)
class Template:
    """A kind of task; see `tasks.toml`."""

    id: str
    name: str
    share: int
    goals: tuple[str, ...]
    texts: tuple[str, ...]
    things: dict[str, tuple[str, ...]] = field(default_factory=dict)
    place: str = ""
    fixture: str = ""
    inside: dict[str, str] = field(default_factory=dict)
    present: tuple[str, ...] = ()
    maybe: tuple[str, ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()

    @property
    def family(self) -> int:
        """1 to 13."""
        return int(self.id.split("-")[0])


TEMPLATES = {table["id"]: Template(**table) for table in read_tables("tasks.toml")["template"]}


def generate(seed: int, split: Split = "id", template: str | None = None) -> Scene:
    """The scene of a seed, optionally with a given template."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if template is not None and template not in TEMPLATES:
        raise UnknownName("template", template, TEMPLATES)
    random = stream(seed, "viki", "scene", split)
    task_template = _draw_template(random, split)
    if template is not None:
        task_template = TEMPLATES[template]
    while True:
        present = _present_types(random, task_template.id)
        wanted = random.choice(wanted_teams(task_template.id, present))
        idle = _idle_types(random, present, wanted)
        for _ in range(_PATIENCE):
            scene = _labelled(_Draft(random, task_template, split, wanted, idle).scene(), wanted)
            if scene is not None:
                return scene


def generate_short(seed: int, split: Split, steps: int, *, mixed: bool = False) -> Scene:
    """A scene whose shortest plan has at most so many steps, for a curriculum.

    It has exactly one best team, as all scenes have. But where a draft does not fit, everything is drawn
    again, also the task, which takes much less time: tasks and teams that seldom fit are rarer here.

    Args:
        mixed: Things of other groups take part in the tasks, too: in the families of the training split
            nobody moves a bowl. But no task has such a dish brought to the table, as the family held out has.
    """
    random = stream(seed, "viki", "mixed" if mixed else "short", split, steps)
    while True:
        template = _draw_template(random, split)
        present = _present_types(random, template.id)
        wanted = random.choice(wanted_teams(template.id, present))
        idle = _idle_types(random, present, wanted)
        draft = _Draft(random, template, split, wanted, idle, mixed=mixed).scene()
        if mixed and draft is not None and _sets_table(draft.task):
            continue
        scene = _labelled(draft, wanted, steps)
        if scene is not None:
            return scene


def _sets_table(task: KitchenTask) -> bool:
    """Whether a dish is to be brought to the table, in a task that is not always about that."""
    usual = any("=plate" in groups for groups in TEMPLATES[task.template].things.values())
    return not usual and any(
        goal.place == "table" and goal.thing in KINDS and KINDS[goal.thing].group == "dish"
        for goal in task.goals
    )


def generate_twin(scene: Scene, random: Stream, split: Split, apart: Callable[[Scene], bool]) -> Scene | None:
    """A scene with the task, the kitchen and the robots of another one; things and robots are elsewhere, so
    that its answers are `apart` from those of the other scene. None where none was found."""
    template, types = TEMPLATES[scene.task.template], Counter(robot.type for robot in scene.robots)
    teams = [team for team in wanted_teams(template.id, tuple(sorted(types))) if team != scene.team]
    random.shuffle(teams)
    for wanted in teams:
        idle = types - Counter([*wanted, *(["panda"] if _needs_two_arms(wanted) else [])])
        if len(wanted) + _needs_two_arms(wanted) + idle.total() != len(scene.robots):
            continue  # it needs a second arm that is not there
        for _ in range(_TWIN_PATIENCE):
            draft = _Draft(random, template, split, wanted, tuple(sorted(idle.elements())), scene)
            twin = _labelled(draft.scene(), wanted)
            if twin is not None and apart(twin):
                return twin
    return None


def _names_of(scene: Scene) -> dict[str, str]:
    """The things and places of a task by their letters in its template, as far as its goals tell them."""
    names: dict[str, str] = {}
    for text, condition in zip(TEMPLATES[scene.task.template].goals, scene.task.goals, strict=True):
        thing, what = text.split(" ")
        names[thing] = condition.thing
        if what != "active" and not what.startswith("~") and condition.place is not None:
            names[what] = condition.place
    return names


def template_of(seed: int, split: Split) -> Template:
    return _draw_template(stream(seed, "viki", "scene", split), split)


def _draw_template(random: Stream, split: Split) -> Template:
    allowed = [one for one in TEMPLATES.values() if (one.family == HELD_OUT_FAMILY) == (split == "ood")]
    return random.weighted(allowed, [one.share for one in allowed])


@cache
def wanted_teams(template: str, present: Types) -> tuple[Types, ...]:
    """The sets of present types of which one is drawn as the best team; sets that cannot be the best one, or
    hardly ever are, are left out."""
    if template == "13-2" and not set(present) <= {"panda", *_LEGGED}:
        present = tuple(name for name in present if name not in _LEGGED)  # whoever carries it is faster
    return tuple(team for team in _teams(template) if set(team) <= set(present))


@cache
def _teams(template: str) -> tuple[Types, ...]:
    alone, pairs = tuple((name,) for name in _ARMED), tuple(combinations(_ARMED, 2))
    if template == "13-1":
        return tuple((name,) for name in ROBOTS)
    if template in _TO_AREA:
        alone = alone[1:]
    if template == "13-2":
        return (*alone, *(("panda", name) for name in _LEGGED))
    if template in _ONE_THING:
        return alone
    if template in _CARRIED:
        pairs = tuple(pair for pair in pairs if pair != ("panda", "fetch"))
    if template in _USED:
        return (*alone, *pairs, *product(_ARMED[1:], _LEGGED))
    return (*alone, *pairs)


def _present_types(random: Stream, template: str) -> Types:
    """The types of robots in a scene; at least three teams of them (two in family 13) can be the best one."""
    if template == "13-2" and random.random() < _PUSHED:
        return tuple(sorted(("panda", random.choice(_LEGGED))))
    useful = sorted({name for team in _teams(template) for name in team})
    bystanders = [name for name in ROBOTS if name not in useful]
    while True:
        types = random.sample(useful, min(len(useful), random.weighted(*_PRESENT)))
        if bystanders and len(types) > 2 and random.random() < _BYSTANDER:
            types[-1] = random.choice(bystanders)
        present = tuple(sorted(types))
        if len(wanted_teams(template, present)) >= (2 if template in ("13-1", "13-2") else 3):
            return present


def _idle_types(random: Stream, present: Types, wanted: Types) -> Types:
    """The present types that are not wanted, and sometimes one more robot of a type that is present."""
    arms = 1 if _needs_two_arms(wanted) else 0
    types = [name for name in present if name not in wanted]
    if len(wanted) + len(types) + arms < MOST_ROBOTS and random.random() < _AGAIN:
        types.append(random.choice(present))
    return tuple(types)


def _needs_two_arms(wanted: Types) -> bool:
    """Whether a box is pushed from one fixed arm to another."""
    return "panda" in wanted and any(name in _LEGGED for name in wanted)


def _labelled(scene: Scene | None, wanted: Types, most: int = MOST_STEPS) -> Scene | None:
    """The scene with plan and best team; None where it does not make a good question."""
    if scene is None:
        return None
    try:
        if best_team(scene, most, wanted, solver=quick) is None:
            return None
        best = best_team(scene, most, wanted)
    except SearchLimit:
        return None
    if best is None or not best.plan:
        return None
    return replace(
        scene,
        robots=tuple(replace(robot, needed=robot.id in best.robots) for robot in scene.robots),
        limit=len(best.plan),
        plan=tuple(tidy(scene, best.plan)),
    )


class _Draft:
    """One attempt: draws things, places and robots."""

    def __init__(
        self,
        random: Stream,
        template: Template,
        split: Split,
        wanted: Types,
        idle: Types,
        like: Scene | None = None,
        *,
        mixed: bool = False,
    ) -> None:
        self.random = random
        self.mixed = mixed
        self.like = like
        """The scene whose kitchen and task it has."""
        self.template = template
        self.wanted = wanted
        self.idle = idle
        kitchens = COUNT - HELD_OUT
        number = kitchens + random.below(HELD_OUT) if split == "layout" else random.below(kitchens)
        self.layout: KitchenLayout = layout(int(like.layout[1:]) if like else number)
        self.areas: dict[str, Area] = {area.name: area for area in self.layout.areas}
        self.names: dict[str, str] = {} if like is None else _names_of(like)
        self.places: dict[str, str] = dict(self.layout.homes)
        self.closed = {"cabinet": random.random() < 0.65, "drawer": random.random() < 0.4}
        self.hub = random.choice([name for name in self.areas if name not in ("ground", "rack")])
        """Where a fixed arm of the wanted team stands."""

    def scene(self) -> Scene | None:
        """A scene; None if it is no task, or too crowded for names to be read in the picture."""
        random = self.random
        self._name_things()
        if "f" in self.names:
            self.hub = self.layout.homes[self.names["f"]]
        self._put_things()
        self._put_others()
        if max(Counter(map(self._area, self.places)).values()) > _CROWDED:
            return None
        task = self._task()
        if self.like is not None and task != self.like.task:
            return None
        if all(self.places[goal.thing] == goal.place for goal in task.goals):
            return None
        assets = tuple(
            Asset(name, name, place, self.closed.get(name, False)) for name, place in self.places.items()
        )
        return Scene(
            layout=self.layout.name,
            style=random.below(STYLES) if self.like is None else self.like.style,
            width=self.layout.width,
            depth=self.layout.depth,
            areas=self.layout.areas,
            assets=assets,
            robots=self._robots(),
            task=task,
        )

    def _name_things(self) -> None:
        random, template = self.random, self.template
        fixed = {one[1:] for groups in template.things.values() for one in groups if one[0] == "="}
        for letter, groups in template.things.items():
            if letter in self.names:
                continue
            if self.mixed and letter != "p" and set(groups) <= set(_MOVED) and random.random() < _MIXED:
                groups = (random.choice(_MOVED),)
            taken = {*self.names.values(), *(fixed if self.mixed and groups[0][0] != "=" else ())}
            kinds = [
                name
                for name, kind in KINDS.items()
                if (kind.group in groups or f"={name}" in groups) and name not in taken
            ]
            self.names[letter] = random.choice(kinds)
        if template.fixture and "f" not in self.names:
            self.names["f"] = random.choice(template.fixture.split("|"))
        if template.place.startswith("="):
            self.names["p"] = template.place[1:]
        elif template.place and "p" not in self.names:
            high = () if template.place == "far" else ("rack",)
            self.names["p"] = random.choice(
                [name for name in self.areas if name not in ("ground", "rack", "room") or name in high]
            )

    def _put_things(self) -> None:
        random, template = self.random, self.template
        target = self.names.get("p", "")
        away = {target, self.names.get("f", "")}
        for letter in template.things:
            name = self.names[letter]
            if letter in template.present or (letter in template.maybe and random.random() < 0.4):
                self.places[name] = target
            elif letter in template.inside and (template.id == "3-1" or random.random() < 0.7):
                self.places[name] = template.inside[letter]
            else:
                self.places[name] = self._anywhere(name, away)

    def _anywhere(self, name: str, away: set[str]) -> str:
        """A place where players can see the thing: never inside something closed."""
        random = self.random
        if name in self.names.values() and random.random() < _PULLED:
            place = self._fitting()
            if place is not None and place not in away and name != "cardboardbox":
                return place
        chance = random.random()
        if name == "cardboardbox":
            options = [area for area in self.areas if area != "rack"]
        elif chance < 0.2 and not KINDS[name].holds and not all(self.closed.values()):
            options = [kind for kind, closed in self.closed.items() if not closed]
        elif chance < 0.27:
            options = ["ground"]
        elif chance < 0.42:
            options = ["rack"]
        else:
            options = [area for area in self.areas if area not in ("ground", "rack")]
        return random.choice([place for place in options if place not in away] or ["kitchen work area"])

    def _fitting(self) -> str | None:
        """Where the wanted team is better than others: within reach of its fixed arm, or of it alone."""
        if "panda" in self.wanted:
            return self.hub
        if self.wanted == ("fetch",):
            return "ground"
        heights = [ROBOTS[kind].high for kind in self.idle if ROBOTS[kind].arms and kind not in self.wanted]
        rack = self.areas["rack"].height
        if len(self.wanted) == 1 and heights and max(heights) < rack <= ROBOTS[self.wanted[0]].high:
            return "rack"
        return None

    def _put_others(self) -> None:
        others = [
            name
            for name, kind in KINDS.items()
            if not kind.fixture and not kind.pushable and name not in self.places
        ]
        for name in self.random.sample(others, self.random.between(3, 6)):
            self.places[name] = self._anywhere(name, set())

    def _task(self) -> KitchenTask:
        template = self.template
        text = self.random.choice(template.texts).format(**self.names)
        return KitchenTask(
            text=text,
            family=template.family,
            template=template.id,
            name=template.name,
            goals=tuple(map(self._condition, template.goals)),
            orders=tuple(tuple(map(self._stage, order)) for order in template.orders),
        )

    def _stage(self, text: str) -> Stage:
        return tuple(map(self._condition, text.split(",")))

    def _condition(self, text: str) -> Condition:
        thing, what = text.split(" ")
        name = self.names[thing]
        if what == "active":
            return Condition(name, active=True)
        if what.startswith("~"):
            return Condition(name, place=self.layout.homes[self.names[what[1:]]], along=True)
        return Condition(name, place=self.names[what])

    def _robots(self) -> tuple[Robot, ...]:
        random = self.random
        types = [(name, True) for name in self.wanted]
        if _needs_two_arms(self.wanted):
            types.append(("panda", True))
        types += [(name, False) for name in self.idle]
        random.shuffle(types)
        robots = []
        for number, (kind, wanted) in enumerate(types, 1):
            robots.append(Robot(f"R{number}", kind, self._stand(kind, wanted)))
            if wanted and kind == "panda" and _needs_two_arms(self.wanted):
                self.hub = self.names["p"]  # the second arm takes what the first one has loaded
        return tuple(robots)

    def _stand(self, kind: str, wanted: bool) -> str:
        """Where a robot starts: wanted robots mostly where they are of use, others rarely."""
        random = self.random
        allowed = [name for name in self.areas if ROBOTS[kind].mobile or name not in ("ground", "rack")]
        if wanted and kind == "panda" and random.random() < 0.8:
            return self.hub if self.hub in allowed else random.choice(allowed)
        useful = {self._area(name) for name in self.names.values()}
        near = random.random() < (0.75 if wanted else 0.2)
        return random.choice([name for name in allowed if (name in useful) == near] or allowed)

    def _area(self, name: str) -> str:
        while name in self.places:
            name = self.places[name]
        return name


BLOCK = 100

SeededScene = tuple[int, Scene]
"""A scene and its seed."""


def stored(module: str, split: str, seed: int) -> SeededScene | None:
    """The scene for a seed; None where it was not made in advance.

    Args:
        module: The module that makes such scenes: "generate", or "trace" for scenes that have paths.
        split: Of the generator.
        seed: Of the game.
    """
    file = _file(module, split, seed // BLOCK)
    if not file.exists():
        return None
    try:
        row = _rows(file)[seed % BLOCK]
        return int(row["seed"]), Scene.from_json(row["scene"])
    except (OSError, zlib.error, LookupError, TypeError, ValueError):
        raise BadFile(f"{file} does not hold scenes of VIKI: delete it.") from None


def store(module: str, split: str, seeds: Iterable[int], make: Callable[[int], SeededScene]) -> int:
    """Make the blocks of these seeds that are missing; returns how many were made."""
    count = 0
    for block in sorted({seed // BLOCK for seed in seeds}):
        file = _file(module, split, block)
        if not file.exists():
            scenes = map(make, range(block * BLOCK, (block + 1) * BLOCK))
            rows = [{"seed": seed, "scene": scene.to_json()} for seed, scene in scenes]
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, zlib.compress(orjson.dumps(rows)))
            count += 1
    return count


def _file(module: str, split: str, block: int) -> Path:
    games = [name for name in GAMES.names() if name.startswith("viki/")]
    versions = ".".join(str(GAMES.get(name).version) for name in games)
    folder = f"viki-scenes-{module}-{versions}-{STREAMS_VERSION}"
    return user_folder() / folder / split / f"{block}.json.z"


@lru_cache(maxsize=64)
def _rows(file: Path) -> list[dict[str, Any]]:
    return list(orjson.loads(zlib.decompress(file.read_bytes())))
