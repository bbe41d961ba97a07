"""Kitchens through cameras: a scene as a MuJoCo model, rendered headless, and picture sets made of that."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from itertools import count
from math import cos, hypot, radians, sin, tan
from typing import TYPE_CHECKING, Any

import numpy as np

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.draw import fonts
from ludens.games.viki.floor import BOTTOM, SIDE, FloorItem, FloorPlan, own_box
from ludens.games.viki.levels import RobotErrand, errands
from ludens.games.viki.models import (
    CONTENTS,
    FURNITURE,
    SOURCES,
    STYLES,
    THINGS,
    TOPS,
    Colour,
    SolidShape,
    Triple,
    model_file,
    parts,
    surface,
)
from ludens.games.viki.sources import SPLIT_HELP, SPLITS, SceneSetup, setup_of
from ludens.games.viki.world import ROBOTS
from ludens.pictures.writer import EntryContents, Generator

if TYPE_CHECKING:
    from PIL.Image import Image


Errands = tuple[RobotErrand, RobotErrand]
"""Of a robot and its partner."""

SCALE = 1.5
"""Things are drawn larger than life, so that they are seen from across the room."""
WIDTH, DEPTH, WALL = SIDE / 100, BOTTOM / 100, 2.6


@dataclass(frozen=True)
class RoomCamera:
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
class StageModel:
    """A model with its cameras and labels."""

    model: Any
    cameras: dict[str, RoomCamera]
    tags: tuple[Tag, ...]


def metres(x: float, y: float, z: float = 0.0) -> Triple:
    """A point of the floor plan in the room."""
    return x / 100, -y / 100, z


def build(floor: FloorPlan, seed: int, pair: Errands | None = None) -> StageModel:
    """The stage of a floor plan; style and cameras vary with scene and seed. The camera of a robot that marks
    paths looks at them."""
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
    shapes, tags = list(_room(wall, ground)), list[Tag]()
    for area in floor.scene.areas:
        box = floor.surfaces[area.name]
        x, y, _ = metres(*box.centre)
        shapes += surface(area.name, x, y, box.w / 100, box.h / 100, area.height, wood)
        words = area.name if area.height == 0 else f"{area.name}, {area.height:g} m"
        x, y, z = metres(box.x + box.w / 2, box.y + box.h, area.height)
        tags.append(Tag(words, (x, y, max(0.02, z - 0.1)), "area"))
    for more_shapes, more_tags in _things(floor):
        shapes += more_shapes
        tags += more_tags
    for shape in shapes:
        _add(spec, shape)
    for robot in floor.present:
        x, y = floor.robots[robot.id]
        _robot(spec, robot.id, robot.type, metres(x, y), random)
        tags.append(Tag(robot.id, metres(x, y, SOURCES[robot.type].tall + 0.12), "robot"))
    return StageModel(spec.compile(), _cameras(floor, random, pair), tuple(tags))


_PEDESTAL = 0.6
"""Height of the stand of a fixed arm."""


def _room(wall: Colour, ground: Colour) -> Iterator[SolidShape]:
    yield SolidShape("box", (WIDTH / 2 + 0.1, DEPTH / 2 + 0.1, 0.02), (WIDTH / 2, -DEPTH / 2, -0.02), ground)
    yield SolidShape("box", (WIDTH / 2 + 0.1, 0.05, WALL / 2), (WIDTH / 2, 0.05, WALL / 2), wall)
    yield SolidShape("box", (0.05, DEPTH / 2 + 0.1, WALL / 2), (-0.1, -DEPTH / 2, WALL / 2), wall)
    yield SolidShape("box", (0.05, DEPTH / 2 + 0.1, WALL / 2), (WIDTH + 0.1, -DEPTH / 2, WALL / 2), wall)


def _things(floor: FloorPlan) -> Iterator[tuple[list[SolidShape], list[Tag]]]:
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
            yield [shape.moved(*at, SCALE) for shape in THINGS[held.kind]], [Tag(held.name, at, "thing")]


def _thing(floor: FloorPlan, item: FloorItem, at: Triple, front: float) -> tuple[list[SolidShape], list[Tag]]:
    """The shapes and labels of a thing at a point, and of what is in or on it."""
    x, y, z = at
    name, kind = item.asset.name, item.asset.kind
    state = item.asset.door
    if kind in THINGS:
        shapes = [shape.moved(*at, SCALE) for shape in THINGS[kind]]
        inner: Triple = (x, y, z + TOPS.get(kind, 0.0) * SCALE)
    else:
        foot = front if kind == "drawer" else y
        shapes = [shape.moved(x, foot, z) for shape in FURNITURE[f"{kind} {state}".strip()]]
        dx, dy, dz = CONTENTS.get(kind, (0.0, y - foot, 0.0))
        inner = (x + dx, foot + dy, z + dz)
    words = f"{name} ({state})" if state else name
    tag = (x, front - 0.1, z - 0.12) if kind == "drawer" else (x, y, z + 0.02)
    tags = [Tag(words, tag, "thing" if kind in THINGS else "furniture")]
    for number, one in enumerate(item.inside):
        side = (number - (len(item.inside) - 1) / 2) * 0.13
        more_shapes, more_tags = _thing(floor, one, (inner[0] + side, inner[1], inner[2]), front)
        shapes += more_shapes
        tags += more_tags
    return shapes, tags


def _add(spec: Any, shape: SolidShape) -> None:
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
        _add(spec, SolidShape("box", (0.14, 0.14, lift / 2), (at[0], at[1], lift / 2), (0.3, 0.3, 0.32)))
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
            rgba=[*part.colour, 1], contype=0, conaffinity=0, group=ROBOT_GROUP,
        )  # fmt: skip


def _cameras(floor: FloorPlan, random: Stream, pair: Errands | None) -> dict[str, RoomCamera]:
    """Two cameras that see the room, and one over the shoulder of each robot."""
    shift = 0.5 * (random.random() - 0.5)
    middle = (WIDTH / 2, -DEPTH / 2, 0.55)
    cameras = {
        "front": RoomCamera((WIDTH / 2 + shift, -DEPTH - 1.2, 6.6), middle, 43),
        "corner": RoomCamera((WIDTH + 0.4 + shift, -DEPTH - 0.9, 6.2), middle, 46),
    }
    for robot in floor.present:
        x, y = floor.robots[robot.id]
        eye = metres(x, y + 30, max(1.5, SOURCES[robot.type].tall + 0.25))
        cameras[ego(robot.id)] = RoomCamera(eye, metres(x, y - 110, 0.75), 75)
    if pair is not None:
        cameras[ego(pair[0].robot)] = _towards(pair)
    return cameras


def ego(robot: str) -> str:
    """The name of the camera of a robot."""
    return f"ego_{robot.lower()}"


def _towards(pair: Errands) -> RoomCamera:
    """From behind and above the robot of the first errand, towards the middle of both paths."""
    points = [point for errand in pair for point in errand.points]
    x, y = pair[0].points[0]
    middle = sum(point[0] for point in points) / len(points), sum(point[1] for point in points) / len(points)
    dx, dy = x - middle[0], y - middle[1]
    far = max(hypot(dx, dy), 1.0)
    dx, dy = (0.0, 1.0) if far < _NEAR_MIDDLE else (dx / far, dy / far)
    back = x + _BEHIND * dx + _ASIDE * dy, y + _BEHIND * dy - _ASIDE * dx
    back = min(max(back[0], 4), SIDE - 4), max(back[1], 4)
    return RoomCamera(metres(*back, _EYES), metres(*middle, 0.3), 78)


_BEHIND, _ASIDE, _EYES, _NEAR_MIDDLE = 90, 45, 2.4, 30
"""How far behind its robot and aside of it a camera is, in units of the floor plan, and how high, in metres;
how near to the middle of both paths a robot is that looks towards its surface."""
ROBOT_GROUP = 1
"""The group of MuJoCo in which robots are: they hide no path, for they stand on it."""


def _quaternion(turn: Triple) -> list[float]:
    """Rotations around x, then y, then z, in degrees."""
    (cx, sx), (cy, sy), (cz, sz) = ((cos(radians(a) / 2), sin(radians(a) / 2)) for a in turn)
    return [
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    ]


BACKENDS = ("egl", "osmesa")


_PROBE = "import mujoco; context = mujoco.GLContext(8, 8); context.make_current(); context.free()"


@lru_cache(maxsize=1)
def backend() -> str:
    """The OpenGL backend that works here. MuJoCo reads its name when first imported: call this before."""
    if find_spec("mujoco") is None:
        raise MissingExtra("look=camera", "robots")
    preset = os.environ.get("MUJOCO_GL")
    for name in (preset,) if preset else BACKENDS:
        done = subprocess.run(
            [sys.executable, "-c", _PROBE],
            env={**os.environ, "MUJOCO_GL": name},
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            os.environ["MUJOCO_GL"] = name
            return name
    raise BadOption(
        "MuJoCo cannot draw without a screen here: install EGL (apt-get install libegl1 libgl1-mesa-dri) or "
        "OSMesa (libosmesa6)."
    )


@dataclass(frozen=True)
class Projection:
    """Projects points of the room into the picture of a camera."""

    camera: RoomCamera
    width: int
    height: int

    def __call__(self, point: Triple) -> tuple[float, float] | None:
        """The pixel of a point; None where it is behind the camera."""
        right, up, forward = _axes(self.camera)
        offset = np.subtract(point, self.camera.at)
        depth = float(offset @ forward)
        if depth < 0.05:
            return None
        focal = self.height / 2 / tan(radians(self.camera.fovy) / 2)
        x, y = float(offset @ right), float(offset @ up)
        return self.width / 2 + focal * x / depth, self.height / 2 - focal * y / depth


def _axes(camera: RoomCamera) -> tuple[Any, Any, Any]:
    forward = np.subtract(camera.target, camera.at)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def rendered(stage: StageModel, size: tuple[int, int], ego: tuple[int, int]) -> dict[str, Image]:
    """A picture for each camera, with labels; `ego` is the size of those on robots."""
    import mujoco
    from PIL import Image

    backend()
    data = mujoco.MjData(stage.model)
    mujoco.mj_forward(stage.model, data)
    pictures = {}
    for width, height in dict.fromkeys((size, ego)):
        renderer = mujoco.Renderer(stage.model, height, width)
        try:
            for name, camera in stage.cameras.items():
                if (ego if name.startswith("ego_") else size) != (width, height):
                    continue
                renderer.update_scene(data, _render_placed(stage.model, camera))
                image = Image.fromarray(renderer.render().copy())
                _label(image, stage.tags, Projection(camera, width, height))
                pictures[name] = image
        finally:
            renderer.close()
    return pictures


def unseen(stage: StageModel) -> list[str]:
    """The things and robots that something hides in every view of the room."""
    import mujoco

    data = mujoco.MjData(stage.model)
    mujoco.mj_forward(stage.model, data)
    views = [camera for name, camera in stage.cameras.items() if not name.startswith("ego_")]
    hit = np.zeros(1, np.int32)
    hidden = []
    for tag in stage.tags:
        point = np.add(tag.at, (0.0, 0.0, -_DOWN if tag.kind == "robot" else _UP))
        clear = False
        for camera in views:
            way = point - np.asarray(camera.at)
            far = float(np.linalg.norm(way))
            distance = mujoco.mj_ray(stage.model, data, np.asarray(camera.at), way / far, None, 1, -1, hit)
            clear = clear or distance < 0 or distance > far - _NEAR[tag.kind]
        if not clear and tag.kind != "area":
            hidden.append(tag.words)
    return hidden


def clear(stage: StageModel, camera: RoomCamera, points: Sequence[Triple]) -> bool:
    """Whether no furniture is between a camera and points."""
    import mujoco

    data = mujoco.MjData(stage.model)
    mujoco.mj_forward(stage.model, data)
    groups = np.array([group != ROBOT_GROUP for group in range(6)], np.uint8)
    eye, hit = np.asarray(camera.at), np.zeros(1, np.int32)
    for point in points:
        way = np.asarray(point) - eye
        far = float(np.linalg.norm(way))
        distance = mujoco.mj_ray(stage.model, data, eye, way / far, groups, 1, -1, hit)
        if 0 <= distance < far - _HIDES:
            return False
    return True


_HIDES = 0.12
"""How far before a point of a path something is that hides it."""
_UP, _DOWN = 0.05, 0.2
"""From the label of a thing up to the thing, of a robot down to its body."""
_NEAR = {"robot": 0.4, "area": 0.4, "thing": 0.35, "furniture": 0.8}
"""How near to that point a ray must come: furniture is large."""


def _render_placed(model: Any, camera: RoomCamera) -> Any:
    """MuJoCo's free camera where ours is."""
    import mujoco

    free = mujoco.MjvCamera()
    free.type = mujoco.mjtCamera.mjCAMERA_FREE
    offset = np.subtract(camera.target, camera.at)
    distance = float(np.linalg.norm(offset))
    free.lookat[:] = camera.target
    free.distance = distance
    free.azimuth = float(np.degrees(np.arctan2(offset[1], offset[0])))
    free.elevation = float(np.degrees(np.arcsin(offset[2] / distance)))
    model.vis.global_.fovy = camera.fovy
    return free


_PAINT = {"robot": ((255, 255, 255), (20, 20, 20)), "area": ((20, 20, 20), (255, 236, 150)),
          "furniture": ((20, 20, 20), (255, 255, 255)), "thing": ((20, 20, 20), (255, 255, 255))}  # fmt: skip


def _label(image: Image, tags: tuple[Tag, ...], project: Projection) -> None:
    from PIL import ImageDraw

    draw, boxes = ImageDraw.Draw(image), list[tuple[float, float, float, float]]()
    px = max(9, image.width // 80)
    for tag in sorted(tags, key=lambda tag: tuple(_PAINT).index(tag.kind)):
        at = project(tag.at)
        if at is None:
            continue
        face = fonts.font(px + 3 * (tag.kind == "robot"), bold=tag.kind in ("robot", "area"))
        wide, high = face.getlength(tag.words) + 4, face.size + 3
        x, y = at[0] - wide / 2, at[1] + (4 if tag.kind in ("thing", "furniture") else -high / 2)
        if not (0 <= at[0] < image.width and 0 <= at[1] < image.height):
            continue
        x, y = min(max(0, x), image.width - wide), min(max(0, y), image.height - high)
        for _ in range(4):
            clash = next((box for box in boxes if _overlap(box, (x, y, x + wide, y + high))), None)
            if clash is None:
                break
            y = clash[3] + 1
        boxes.append((x, y, x + wide, y + high))
        ink, ground = _PAINT[tag.kind]
        draw.rectangle((x, y, x + wide, y + high), fill=ground)
        draw.text((x + 2, y + 1), tag.words, fill=ink, font=face)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


ROOM, EGO = (800, 560), (512, 512)
"""Sizes of the views of the room and of those from robots."""
QUALITY = 80
MARGIN = 6
TRIES = 24
"""Pairs of errands that are drawn until both paths are seen from the robot itself."""


@dataclass(frozen=True)
class Kitchens(Generator):
    """Kitchens with robots, rendered with MuJoCo.

    Pixels depend on the OpenGL driver, so sets made on two machines differ.
    """

    name = "viki"
    version = "2"
    kind = "scene"

    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)
    seed: int = option(0, low=0, high=2**30, help="of the set; other seeds give other kitchens")

    def prepare(self) -> str:
        for source in SOURCES.values():
            model_file(source)
        shows = ", ".join(f"{kind}: {source.shows}" for kind, source in SOURCES.items())
        return f"OpenGL through {backend()}; meshes: {shows}."

    def make(self, number: int) -> EntryContents:
        backend()
        drawn = next(self._drawn(number))
        pictures = {name: _jpeg(image) for name, image in rendered(drawn.stage, ROOM, EGO).items()}
        return EntryContents(pictures, {"scene": drawn.setup.scene.to_json(), "trace": drawn.trace})

    def _drawn(self, number: int) -> Iterator[DrawnKitchen]:
        """Scenes in which nothing is hidden in all views of the room; in every second one there are two paths
        to mark."""
        for attempt in count():
            seed = stream(self.seed, "kitchen", number, attempt).bits() >> 16
            setup = setup_of("viki/activate", "map", self.split, "", "", seed)
            if number % 2 == 0 and errands(setup) is None:
                continue
            drawn = _with_trace(setup)
            if not unseen(drawn.stage) and (drawn.trace is not None or number % 2):
                yield drawn


@dataclass(frozen=True)
class DrawnKitchen:
    """A scene with its stage and, where there are paths to mark, those in the picture of one robot."""

    setup: SceneSetup
    stage: StageModel
    trace: dict[str, Any] | None


def _with_trace(setup: SceneSetup) -> DrawnKitchen:
    """The stage, seen by a robot from which both paths are in view, if there is one."""
    floor = FloorPlan(setup.scene)
    seeds = [stream(setup.seed, "errands", number).bits() >> 16 for number in range(TRIES)]
    pairs = {seed: errands(SceneSetup(seed, setup.scene)) for seed in seeds}
    tried = set[tuple[str, ...]]()
    for seed, pair in pairs.items():
        if pair is None or (order := tuple(errand.robot for errand in pair)) in tried:
            continue
        tried.add(order)
        stage = build(floor, setup.seed, pair)
        camera = stage.cameras[ego(pair[0].robot)]
        project = Projection(camera, *EGO)
        ways = [_in_room(floor, errand) for errand in pair]
        points = [[project(point) for point in way] for way in ways]
        inside = all(
            at is not None and MARGIN <= at[0] <= EGO[0] - MARGIN and MARGIN <= at[1] <= EGO[1] - MARGIN
            for way in points
            for at in way
        )
        if inside and clear(stage, camera, [point for way in ways for point in way]):
            rounded = [[(round(at[0], 1), round(at[1], 1)) for at in way if at] for way in points]
            trace = {
                "seed": seed,
                "view": ego(pair[0].robot),
                "points": rounded,
                "positions": _seen(floor, stage, project),
            }
            return DrawnKitchen(setup, stage, trace)
    return DrawnKitchen(setup, build(floor, setup.seed), None)


def _seen(floor: FloorPlan, stage: StageModel, project: Projection) -> dict[str, tuple[int, int]]:
    """Where labels and the feet of robots are in a picture, as far as they are in it."""
    points = {tag.words: tag.at for tag in stage.tags if tag.kind != "robot"}
    points |= {f"{name}, feet": metres(*floor.robots[name]) for name in floor.robots}
    pixels = {words: project(at) for words, at in points.items()}
    return {
        words: (round(at[0]), round(at[1]))
        for words, at in pixels.items()
        if at is not None and 0 <= at[0] < project.width and 0 <= at[1] < project.height
    }


def _in_room(floor: FloorPlan, errand: RobotErrand) -> list[Triple]:
    """A path in the room: on the floor, or from the middle of a fixed arm to what it reaches for."""
    robot = next(one for one in floor.scene.robots if one.id == errand.robot)
    heights = [0.0] * len(errand.points)
    if not ROBOTS[robot.type].mobile:
        end = next(area.height for area in floor.scene.areas if area.name == robot.place) + _UP
        heights = [1.0 + (end - 1.0) * n / (len(heights) - 1) for n in range(len(heights))]
    return [metres(x, y, z) for (x, y), z in zip(errand.points, heights, strict=True)]


def _jpeg(image: Image) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=QUALITY, optimize=True)
    return out.getvalue()
