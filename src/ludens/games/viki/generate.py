"""The generator: a seed and a split give a scene with a task, its shortest plan and its best team.

A template is drawn, then scenes for it until one has a plan of at most 11 steps and exactly one best team
by robot types, with a robot of a type that was drawn before: so that every type is needed about equally
often, and the answer depends on who is where, not on the words of the task.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal, get_args

from ludens.core.errors import UnknownName
from ludens.core.random import Stream, stream
from ludens.games.viki.data import KINDS, ROBOTS
from ludens.games.viki.layouts import COUNT, HELD_OUT, STYLES, Layout, layout
from ludens.games.viki.planner import SearchLimit, tidy
from ludens.games.viki.scene import Area, Asset, Condition, Robot, Scene, Stage, Task
from ludens.games.viki.teams import best_team

Split = Literal["train", "id", "ood", "layout"]
SPLITS: tuple[Split, ...] = get_args(Split)
"""train, id (in-domain test): all families but 11; ood: family 11; layout: like id, in held-out layouts."""
HELD_OUT_FAMILY = 11
MOST_STEPS = 11
_ALONE = 0.5
"""How often one robot is to be the best team."""
_PATIENCE = 25
"""Scenes drawn for one wanted robot type before another one is drawn."""


@dataclass(frozen=True)
class Template:
    """A kind of task; see `tasks.toml`."""

    id: str
    name: str
    share: int
    goals: tuple[str, ...]
    texts: tuple[str, ...]
    things: dict[str, list[str]] = field(default_factory=dict)
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


def _templates() -> dict[str, Template]:
    tables = tomllib.loads(files(__package__).joinpath("tasks.toml").read_text(encoding="utf-8"))
    found = {}
    for table in tables["template"]:
        plain: dict[str, Any] = {
            key: tuple(tuple(item) if isinstance(item, list) else item for item in value)
            if isinstance(value, list)
            else value
            for key, value in table.items()
        }
        found[plain["id"]] = Template(**plain)
    return found


TEMPLATES = _templates()


def scenes(split: Split, count: int, start: int = 0) -> Iterator[Scene]:
    """Scenes of consecutive seeds."""
    for seed in range(start, start + count):
        yield generate(seed, split)


def generate(seed: int, split: Split = "id", template: str | None = None) -> Scene:
    """The scene of a seed, optionally with a given template."""
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    if template is not None and template not in TEMPLATES:
        raise UnknownName("template", template, TEMPLATES)
    random = stream(seed, "viki", "scene", split)
    allowed = [one for one in TEMPLATES.values() if (one.family == HELD_OUT_FAMILY) == (split == "ood")]
    chosen = random.weighted(allowed, [one.share for one in allowed])
    if template is not None:
        chosen = TEMPLATES[template]
    while True:
        wanted = random.choice(_wanted_types(chosen))
        alone = chosen.id != "13-2" and random.random() < _ALONE
        for _ in range(_PATIENCE):
            found = _labelled(_Draft(random, chosen, split, wanted).scene(), wanted, alone)
            if found is not None:
                return found


def _wanted_types(template: Template) -> tuple[str, ...]:
    armed = tuple(name for name, robot in ROBOTS.items() if robot.arms)
    if template.id == "13-1":
        return tuple(ROBOTS)
    if template.id == "13-2":
        return (*armed, "unitree_go2", "unitree_go2", "anymal_c", "anymal_c")
    return armed


def _labelled(scene: Scene | None, wanted: str, alone: bool) -> Scene | None:
    """The scene with plan and best team; None where it does not make a good question."""
    if scene is None:
        return None
    try:
        best = best_team(scene, MOST_STEPS, alone=wanted if alone else None)
    except SearchLimit:
        return None
    if best is None or not best.plan or len(best.types) > 1 or wanted not in next(iter(best.types)):
        return None
    return replace(
        scene,
        robots=tuple(replace(robot, needed=robot.id in best.robots) for robot in scene.robots),
        limit=len(best.plan),
        plan=tuple(tidy(scene, best.plan)),
    )


class _Draft:
    """One attempt: draws things, places and robots."""

    def __init__(self, random: Stream, template: Template, split: Split, wanted: str) -> None:
        self.random = random
        self.template = template
        self.wanted = wanted
        kitchens = COUNT - HELD_OUT
        number = kitchens + random.below(HELD_OUT) if split == "layout" else random.below(kitchens)
        self.layout: Layout = layout(number)
        self.areas: dict[str, Area] = {area.name: area for area in self.layout.areas}
        self.names: dict[str, str] = {}
        self.places: dict[str, str] = dict(self.layout.homes)
        self.closed = {"cabinet": random.random() < 0.65, "drawer": random.random() < 0.4}

    def scene(self) -> Scene | None:
        """A scene; None if it is no task."""
        random = self.random
        self._name_things()
        self._put_things()
        self._put_others()
        task = self._task()
        if all(self.places[goal.thing] == goal.place for goal in task.goals):
            return None
        assets = tuple(
            Asset(name, name, place, self.closed.get(name, False)) for name, place in self.places.items()
        )
        return Scene(
            layout=self.layout.name,
            style=random.below(STYLES),
            width=self.layout.width,
            depth=self.layout.depth,
            areas=self.layout.areas,
            assets=assets,
            robots=self._robots(),
            task=task,
        )

    def _name_things(self) -> None:
        random, template = self.random, self.template
        for letter, groups in template.things.items():
            kinds = [
                name
                for name, kind in KINDS.items()
                if (kind.group in groups or f"={name}" in groups) and name not in self.names.values()
            ]
            self.names[letter] = random.choice(kinds)
        if template.fixture:
            self.names["f"] = random.choice(template.fixture.split("|"))
        if template.place.startswith("="):
            self.names["p"] = template.place[1:]
        elif template.place:
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

    def _put_others(self) -> None:
        """Things that the task does not name."""
        others = [
            name
            for name, kind in KINDS.items()
            if not kind.fixture and not kind.pushable and name not in self.places
        ]
        for name in self.random.sample(others, self.random.between(3, 6)):
            self.places[name] = self._anywhere(name, set())

    def _task(self) -> Task:
        template = self.template
        text = self.random.choice(template.texts).format(**self.names)
        return Task(
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
        total = random.weighted((1, 2, 3, 4), (0.1, 0.35, 0.35, 0.2))
        types = [self.wanted]
        if self.template.id == "13-2" and random.random() < 0.75:
            types = ["panda", "panda", random.choice(("unitree_go2", "anymal_c"))]
        while len(types) < total:
            types.append(random.choice(tuple(ROBOTS)))
        random.shuffle(types)
        return tuple(Robot(f"R{number}", kind, self._stand(kind)) for number, kind in enumerate(types, 1))

    def _stand(self, kind: str) -> str:
        """Where a robot starts; fixed arms mostly where they are of use."""
        random = self.random
        if ROBOTS[kind].mobile:
            return random.choice(tuple(self.areas))
        benches = [name for name in self.areas if name not in ("ground", "rack")]
        useful = [self._area(name) for name in self.names.values()]
        useful = [name for name in useful if name in benches]
        return random.choice(useful if useful and random.random() < 0.7 else benches)

    def _area(self, name: str) -> str:
        while name in self.places:
            name = self.places[name]
        return name


@lru_cache(maxsize=256)
def cached(seed: int, split: Split = "id", template: str | None = None) -> Scene:
    """`generate`, remembering the last scenes."""
    return generate(seed, split, template)
