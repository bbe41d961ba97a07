"""The scene language: coloured objects on a floor, and pairs of scenes that differ in a few of them.

Floor coordinates are those of a viewer: `x` grows to the right, `y` grows away from the viewer ("behind").
Both lie in [-FLOOR, FLOOR], and every two objects differ by at least `MARGIN` in both, so that left, right,
in front and behind have one answer as long as a camera does not turn by more than a few degrees.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ludens.core.errors import BadOption, UsageError
from ludens.core.random import Stream

SHAPES = ("cube", "sphere", "cylinder")
SIZES = ("small", "large")
MATERIALS = ("metal", "rubber")
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "size": SIZES,
    "color": COLORS,
    "material": MATERIALS,
    "shape": SHAPES,
}
"""The attributes of an object with their values, in the order in which they are said."""

DEFAULT_CHANGE = ("color", "shape")
FLOOR = 3.0
MARGIN = 0.5
GAP = 0.3
"""The least distance between the edges of two objects, as seen from above."""
RADIUS = {"small": 0.35, "large": 0.7}
FEWEST, MOST = 4, 6
CHANGED = 2
"""How many objects differ between the scenes of a pair."""


@dataclass(frozen=True, slots=True)
class Object:
    """One object. Its rotation is about the vertical axis, in degrees."""

    shape: str
    size: str
    material: str
    color: str
    x: float
    y: float
    rotation: float = 0.0

    @property
    def name(self) -> str:
        """The object in words: `large red metal cube`."""
        return f"{self.size} {self.color} {self.material} {self.shape}"


@dataclass(frozen=True, slots=True)
class Scene:
    """Objects on a floor."""

    objects: tuple[Object, ...]

    def to_json(self) -> dict[str, Any]:
        return {"objects": [asdict(thing) for thing in self.objects]}

    @classmethod
    def from_json(cls, data: Any) -> Scene:
        """Read a scene; raises a `UsageError` for anything that is not one."""
        listed = data.get("objects") if isinstance(data, Mapping) else None
        if not isinstance(listed, list) or not 1 <= len(listed) <= 100:
            raise UsageError("a scene must have a list of 1 to 100 objects.")
        return cls(tuple(map(_object, listed)))


@dataclass(frozen=True, slots=True)
class ScenePair:
    """An original scene and a modified one; the objects at the indices in `changed` differ."""

    original: Scene
    modified: Scene
    changed: tuple[int, ...]
    change: tuple[str, ...] = DEFAULT_CHANGE
    """The attributes that differ."""

    def exchanged(self) -> ScenePair:
        return ScenePair(self.modified, self.original, self.changed, self.change)

    def to_json(self) -> dict[str, Any]:
        return {
            "original": self.original.to_json(),
            "modified": self.modified.to_json(),
            "changed": list(self.changed),
            "change": list(self.change),
        }

    @classmethod
    def from_json(cls, data: Any) -> ScenePair:
        """Read a pair; raises a `UsageError` for anything that is not one."""
        if not isinstance(data, Mapping):
            raise UsageError("a pair of scenes must be an object with the original and the modified scene.")
        original = Scene.from_json(data.get("original"))
        modified = Scene.from_json(data.get("modified"))
        changed, change = data.get("changed"), data.get("change")
        count = len(original.objects)
        if len(modified.objects) != count:
            raise UsageError("the two scenes of a pair must have the same number of objects.")
        if not isinstance(changed, list) or not all(type(i) is int and 0 <= i < count for i in changed):
            raise UsageError("`changed` of a pair of scenes must list indices of its objects.")
        if not isinstance(change, list) or not all(isinstance(name, str) for name in change):
            raise UsageError("`change` of a pair of scenes must list attributes.")
        return cls(original, modified, tuple(changed), parse_change("+".join(change)))


def parse_change(text: str) -> tuple[str, ...]:
    """The attributes that a pair changes, from text such as `color+shape`, in a fixed order."""
    names = [name.strip() for name in text.replace(",", "+").split("+")]
    wrong = next((name for name in names if name not in ATTRIBUTES), None)
    if wrong is not None:
        attributes = ", ".join(sorted(ATTRIBUTES))
        raise BadOption(f"change must name attributes joined by '+' ({attributes}), not {wrong[:40]!r}.")
    return tuple(name for name in ("color", "shape", "size", "material") if name in names)


def make_pair(random: Stream, change: Collection[str] = DEFAULT_CHANGE) -> ScenePair:
    """A random pair: 4 to 6 objects, two of which differ in every attribute of `change`."""
    original = make_scene(random, grown="size" in change)
    modified, changed = modify(original, random, change)
    return ScenePair(original, modified, changed, tuple(change))


def modify(scene: Scene, random: Stream, change: Collection[str]) -> tuple[Scene, tuple[int, ...]]:
    """A scene that differs in two objects, and their indices; never the same objects at other places."""
    kinds = sorted(map(_kind, scene.objects))
    while True:
        changed = tuple(sorted(random.sample(range(len(scene.objects)), CHANGED)))
        objects = list(scene.objects)
        for index in changed:
            objects[index] = _altered(objects[index], change, random)
        if sorted(map(_kind, objects)) != kinds:
            return Scene(tuple(objects)), changed


def make_scene(random: Stream, grown: bool = False) -> Scene:
    """A random scene; with `grown`, every small object has room to become large."""
    count = random.between(FEWEST, MOST)
    sizes = [random.choice(SIZES) for _ in range(count)]
    radii = [RADIUS["large" if grown else size] for size in sizes]
    places = _places(random, radii)
    return Scene(
        tuple(
            Object(
                shape=random.choice(SHAPES),
                size=size,
                material=random.choice(MATERIALS),
                color=random.choice(COLORS),
                x=x,
                y=y,
                rotation=round(random.random() * 360, 1),
            )
            for size, (x, y) in zip(sizes, places, strict=True)
        )
    )


def _places(random: Stream, radii: Sequence[float]) -> list[tuple[float, float]]:
    while True:
        xs, ys = _spread(random, len(radii)), _spread(random, len(radii))
        if all(
            (xs[i] - xs[j]) ** 2 + (ys[i] - ys[j]) ** 2 >= (radii[i] + radii[j] + GAP) ** 2
            for i in range(len(radii))
            for j in range(i)
        ):
            return list(zip(xs, ys, strict=True))


def _spread(random: Stream, count: int) -> list[float]:
    """Coordinates in random order, at least `MARGIN` apart."""
    apart = MARGIN + 0.01  # rounding cannot take two of them below the margin
    room = 2 * FLOOR - apart * (count - 1)
    steps = sorted(random.random() * room for _ in range(count))
    values = [round(-FLOOR + step + index * apart, 2) for index, step in enumerate(steps)]
    random.shuffle(values)
    return values


def _altered(thing: Object, change: Collection[str], random: Stream) -> Object:
    new: dict[str, Any] = {
        name: random.choice([value for value in values if value != getattr(thing, name)])
        for name, values in ATTRIBUTES.items()
        if name in change
    }
    return replace(thing, **new)


def _kind(thing: Object) -> tuple[str, str, str, str]:
    return thing.size, thing.color, thing.material, thing.shape


def _object(data: Any) -> Object:
    if not isinstance(data, Mapping) or not data.keys() <= set(Object.__slots__):
        raise UsageError(f"an object of a scene has the fields {', '.join(Object.__slots__)}.")
    for name, values in ATTRIBUTES.items():
        if data.get(name) not in values:
            raise UsageError(f"the {name} of an object must be one of {', '.join(values)}.")
    for name in ("x", "y", "rotation"):
        value = data.get(name, 0.0 if name == "rotation" else None)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1000:
            raise UsageError(f"{name} of an object must be a number between -1000 and 1000.")
    return Object(**{name: data[name] for name in Object.__slots__ if name in data})
