"""Rendering a stage: headless MuJoCo through EGL, else OSMesa; labels are written at projected points."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from math import radians, tan
from typing import TYPE_CHECKING, Any

import numpy as np

from ludens.core.errors import BadOption, MissingExtra
from ludens.draw import fonts
from ludens.games.viki.camera.things import Triple

if TYPE_CHECKING:
    from PIL.Image import Image

    from ludens.games.viki.camera.stage import Camera, Stage, Tag

BACKENDS = ("egl", "osmesa")


_PROBE = "import mujoco; context = mujoco.GLContext(8, 8); context.make_current(); context.free()"


@lru_cache(maxsize=1)
def backend() -> str:
    """The OpenGL backend that works here. MuJoCo reads its name when first imported: call this before."""
    if find_spec("mujoco") is None:
        raise MissingExtra("look=camera", "robots")
    chosen = os.environ.get("MUJOCO_GL")
    for name in (chosen,) if chosen else BACKENDS:
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

    camera: Camera
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


def _axes(camera: Camera) -> tuple[Any, Any, Any]:
    forward = np.subtract(camera.target, camera.at)
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right = right / np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def rendered(stage: Stage, size: tuple[int, int], ego: tuple[int, int]) -> dict[str, Image]:
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
                renderer.update_scene(data, _placed(stage.model, camera))
                image = Image.fromarray(renderer.render().copy())
                _label(image, stage.tags, Projection(camera, width, height))
                pictures[name] = image
        finally:
            renderer.close()
    return pictures


def unseen(stage: Stage) -> list[str]:
    """The things and robots that something hides in every view of the room."""
    import mujoco

    data = mujoco.MjData(stage.model)
    mujoco.mj_forward(stage.model, data)
    views = [camera for name, camera in stage.cameras.items() if not name.startswith("ego_")]
    hit = np.zeros(1, np.int32)
    found = []
    for tag in stage.tags:
        point = np.add(tag.at, (0.0, 0.0, -_DOWN if tag.kind == "robot" else _UP))
        clear = False
        for camera in views:
            way = point - np.asarray(camera.at)
            far = float(np.linalg.norm(way))
            met = mujoco.mj_ray(stage.model, data, np.asarray(camera.at), way / far, None, 1, -1, hit)
            clear = clear or met < 0 or met > far - _NEAR[tag.kind]
        if not clear and tag.kind != "area":
            found.append(tag.words)
    return found


_UP, _DOWN = 0.05, 0.2
"""From the label of a thing up to the thing, of a robot down to its body."""
_NEAR = {"robot": 0.4, "area": 0.4, "thing": 0.35, "furniture": 0.8}
"""How near to that point a ray must come: furniture is large."""


def _placed(model: Any, camera: Camera) -> Any:
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

    draw, taken = ImageDraw.Draw(image), list[tuple[float, float, float, float]]()
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
            clash = next((box for box in taken if _overlap(box, (x, y, x + wide, y + high))), None)
            if clash is None:
                break
            y = clash[3] + 1
        taken.append((x, y, x + wide, y + high))
        ink, ground = _PAINT[tag.kind]
        draw.rectangle((x, y, x + wide, y + high), fill=ground)
        draw.text((x + 2, y + 1), tag.words, fill=ink, font=face)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
