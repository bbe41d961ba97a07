"""A scene as a MuJoCo model: room, surfaces, things and robots, lights and cameras.

Positions come from the floor plan: 100 units are a metre, and the picture's downward direction is towards
the viewer, so y = -units / 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any

from ludens.core.random import Stream, stream
from ludens.games.viki.camera.furniture import furniture, inside, surface
from ludens.games.viki.camera.robots import parts
from ludens.games.viki.camera.things import THINGS, TOPS, Colour, Shape, Triple
from ludens.games.viki.data import KINDS
from ludens.games.viki.floor import BOTTOM, SIDE, Floor, Item, own_box

SCALE = 1.5
"""Things are drawn larger than life, so that they are seen from across the room."""
WIDTH, DEPTH, WALL = SIDE / 100, BOTTOM / 100, 2.6

STYLES: tuple[tuple[Colour, Colour, Colour], ...] = (
    ((0.86, 0.84, 0.8), (0.72, 0.6, 0.46), (0.66, 0.5, 0.34)),
    ((0.78, 0.84, 0.88), (0.6, 0.6, 0.6), (0.8, 0.78, 0.74)),
    ((0.9, 0.86, 0.74), (0.5, 0.42, 0.36), (0.85, 0.8, 0.7)),
    ((0.8, 0.88, 0.8), (0.68, 0.66, 0.6), (0.55, 0.42, 0.3)),
    ((0.88, 0.82, 0.84), (0.62, 0.52, 0.44), (0.75, 0.72, 0.7)),
    ((0.7, 0.76, 0.8), (0.78, 0.74, 0.68), (0.45, 0.36, 0.3)),
    ((0.92, 0.92, 0.9), (0.5, 0.54, 0.56), (0.7, 0.56, 0.4)),
    ((0.84, 0.78, 0.7), (0.7, 0.66, 0.62), (0.6, 0.62, 0.64)),
    ((0.76, 0.8, 0.74), (0.58, 0.48, 0.38), (0.82, 0.76, 0.66)),
    ((0.9, 0.88, 0.84), (0.66, 0.58, 0.52), (0.5, 0.5, 0.52)),
    ((0.82, 0.82, 0.88), (0.74, 0.68, 0.6), (0.62, 0.48, 0.36)),
    ((0.86, 0.88, 0.82), (0.54, 0.5, 0.46), (0.76, 0.66, 0.52)),
)
"""Colours of walls, floor and surfaces."""


@dataclass(frozen=True)
class Camera:
    """A camera by place and target, in metres; `fovy` is its vertical angle in degrees."""

    at: Triple
    target: Triple
    fovy: float = 50.0


@dataclass(frozen=True)
class Tag:
    """A label at a point of the room."""

    words: str
    at: Triple
    kind: str
    """`robot`, `area`, `furniture` or `thing`."""


@dataclass(frozen=True)
class Stage:
    """A model with its cameras and labels."""

    model: Any
    cameras: dict[str, Camera]
    tags: tuple[Tag, ...]


def metres(x: float, y: float, z: float = 0.0) -> Triple:
    """A point of the floor plan in the room."""
    return x / 100, -y / 100, z


def build(floor: Floor, seed: int) -> Stage:
    """The stage of a floor plan; style and cameras vary with scene and seed."""
    import mujoco

    random = stream(seed, "camera")
    wall, ground, wood = STYLES[floor.scene.style % len(STYLES)]
    spec = mujoco.MjSpec()
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 1280
    spec.visual.headlight.ambient = [0.38, 0.38, 0.38]
    spec.visual.headlight.diffuse = [0.35, 0.35, 0.35]
    spec.visual.quality.shadowsize = 2048
    spec.worldbody.add_light(pos=[WIDTH / 2, -DEPTH / 2, 4.5], dir=[0.1, 0.15, -1], diffuse=[0.5, 0.5, 0.5])
    spec.worldbody.add_light(pos=[0.5, -DEPTH - 1, 3.5], dir=[0.4, 0.6, -0.7], diffuse=[0.25, 0.25, 0.25],
                             castshadow=False)  # fmt: skip
    shapes = [*_room(wall, ground), *_surfaces(floor, wood)]
    tags: list[Tag] = list(_area_tags(floor))
    for placed, found in _things(floor):
        shapes += placed
        tags += found
    for shape in shapes:
        _add(spec, shape)
    for robot in floor.present:
        x, y = floor.robots[robot.id]
        _robot(spec, robot.id, robot.type, metres(x, y), random)
        tags.append(Tag(robot.id, metres(x, y, _TALL[robot.type] + 0.12), "robot"))
    return Stage(spec.compile(), _cameras(floor, random), tuple(tags))


_TALL = {
    "panda": 1.35,
    "fetch": 1.15,
    "unitree_h1": 1.8,
    "stompy": 1.3,
    "unitree_go2": 0.45,
    "anymal_c": 0.65,
}
_PEDESTAL = 0.6
"""Height of the stand of a fixed arm."""


def _room(wall: Colour, ground: Colour) -> Iterator[Shape]:
    yield Shape("box", (WIDTH / 2 + 0.1, DEPTH / 2 + 0.1, 0.02), (WIDTH / 2, -DEPTH / 2, -0.02), ground)
    yield Shape("box", (WIDTH / 2 + 0.1, 0.05, WALL / 2), (WIDTH / 2, 0.05, WALL / 2), wall)
    yield Shape("box", (0.05, DEPTH / 2 + 0.1, WALL / 2), (-0.1, -DEPTH / 2, WALL / 2), wall)
    yield Shape("box", (0.05, DEPTH / 2 + 0.1, WALL / 2), (WIDTH + 0.1, -DEPTH / 2, WALL / 2), wall)


def _surfaces(floor: Floor, wood: Colour) -> Iterator[Shape]:
    for area in floor.scene.areas:
        box = floor.surfaces[area.name]
        x, y, _ = metres(*box.centre)
        yield from surface(area.name, x, y, box.w / 100, box.h / 100, area.height, wood)


def _area_tags(floor: Floor) -> Iterator[Tag]:
    for area in floor.scene.areas:
        box = floor.surfaces[area.name]
        words = area.name if area.height == 0 else f"{area.name}, {area.height:g} m"
        x, y, z = metres(box.x + box.w / 2, box.y + box.h, area.height)
        yield Tag(words, (x, y, max(0.02, z - 0.1)), "area")


def _things(floor: Floor) -> Iterator[tuple[list[Shape], list[Tag]]]:
    heights = {area.name: area.height for area in floor.scene.areas}
    for area, items in floor.items.items():
        box = floor.surfaces[area]
        front = -(box.y + box.h) / 100
        for item in items:
            x, y = own_box(item).centre
            yield _thing(floor, item, metres(x, y + 4, heights[area]), front)
    for robot in floor.present:
        x, y = floor.robots[robot.id]
        for number, held in enumerate(floor.seen_in(robot.id)):
            at = metres(x + 24 * (1 - 2 * number), y + 22, 0.75)
            yield list(_placed(THINGS[held.kind], at)), [Tag(held.name, at, "thing")]


def _thing(floor: Floor, item: Item, at: Triple, front: float) -> tuple[list[Shape], list[Tag]]:
    """The shapes and labels of a thing at a point, and of what is in or on it."""
    x, y, z = at
    name, kind = item.asset.name, item.asset.kind
    state = "" if not KINDS[kind].opens else "closed" if name in floor.snapshot.closed else "open"
    if kind in THINGS:
        shapes = list(_placed(THINGS[kind], at))
        within: Triple = (x, y, z + TOPS.get(kind, 0.0) * SCALE)
    else:
        shapes = list(furniture(kind, state, x, y, z, front))
        within = inside(kind, x, y, z, front) or at
    words = f"{name} ({state})" if state else name
    tag = (x, front - 0.1, z - 0.12) if kind == "drawer" else (x, y, z + 0.02)
    tags = [Tag(words, tag, "thing" if kind in THINGS else "furniture")]
    for number, one in enumerate(item.inside):
        side = (number - (len(item.inside) - 1) / 2) * 0.13
        more, said = _thing(floor, one, (within[0] + side, within[1], within[2]), front)
        shapes += more
        tags += said
    return shapes, tags


def _placed(shapes: Iterable[Shape], at: Triple) -> Iterator[Shape]:
    for shape in shapes:
        size, place = (tuple(value * SCALE for value in part) for part in (shape.size, shape.at))
        moved = (at[0] + place[0], at[1] + place[1], at[2] + place[2])
        yield Shape(shape.form, (size[0], size[1], size[2]), moved, shape.colour, shape.turn)


def _add(spec: Any, shape: Shape) -> None:
    import mujoco

    spec.worldbody.add_geom(
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{shape.form.upper()}"),
        size=[max(value, 1e-4) for value in shape.size],
        pos=list(shape.at),
        quat=_quaternion(shape.turn),
        rgba=[*shape.colour, 1],
        contype=0,
        conaffinity=0,
    )


def _robot(spec: Any, name: str, kind: str, at: Triple, random: Stream) -> None:
    """A robot that looks towards its surface, which is behind it in the picture."""
    import mujoco

    lift = _PEDESTAL if kind == "panda" else 0.0
    if lift:
        _add(spec, Shape("box", (0.14, 0.14, lift / 2), (at[0], at[1], lift / 2), (0.3, 0.3, 0.32)))
    turn = _quaternion((0.0, 0.0, 90.0 + 30 * (random.random() - 0.5)))
    for number, part in enumerate(parts(kind)):
        mesh = f"{name}-{number}"
        spec.add_mesh(
            name=mesh,
            uservert=part.vertices.ravel().tolist(),
            userface=part.faces.ravel().tolist(),
            inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL,
        )
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, pos=[at[0], at[1], lift], quat=turn,
            rgba=[*part.colour, 1], contype=0, conaffinity=0,
        )  # fmt: skip


def _cameras(floor: Floor, random: Stream) -> dict[str, Camera]:
    """Two cameras that see the room, and one on each robot."""
    shift = 0.5 * (random.random() - 0.5)
    middle = (WIDTH / 2, -DEPTH / 2, 0.55)
    cameras = {
        "front": Camera((WIDTH / 2 + shift, -DEPTH - 1.2, 6.6), middle, 43),
        "corner": Camera((WIDTH + 0.4 + shift, -DEPTH - 0.9, 6.2), middle, 46),
    }
    for robot in floor.present:
        x, y = floor.robots[robot.id]
        eye = metres(x, y + 30, max(1.5, _TALL[robot.type] + 0.25))
        cameras[f"ego_{robot.id.lower()}"] = Camera(eye, metres(x, y - 110, 0.75), 75)
    return cameras


def _quaternion(turn: Triple) -> list[float]:
    """Rotations around x, then y, then z, in degrees."""
    (cx, sx), (cy, sy), (cz, sz) = ((cos(radians(a) / 2), sin(radians(a) / 2)) for a in turn)
    return [
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    ]
