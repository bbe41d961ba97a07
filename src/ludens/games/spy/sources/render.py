"""Rendering scenes with Mitsuba 3: shadows, reflections, and which object each pixel shows."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ludens.core.errors import BadOption, MissingExtra
from ludens.games.spy.scene import RADIUS, Object, Scene
from ludens.games.spy.sources.camera import FIELD, HEIGHT, WIDTH, Camera
from ludens.games.spy.sources.denoise import denoised
from ludens.games.spy.sources.meshes import mesh_file

VARIANTS: Mapping[str, str] = {"cuda": "cuda_ad_rgb", "llvm": "llvm_ad_rgb", "scalar": "scalar_rgb"}
"""Ways to run Mitsuba, fastest first: on an NVIDIA card, compiled by LLVM, plain C++."""

_RGB = {
    "gray": (112, 112, 112),
    "red": (190, 36, 36),
    "blue": (42, 75, 215),
    "green": (38, 138, 32),
    "brown": (140, 80, 28),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
_LIGHTS = ((9.6, 20.0), (10.7, 4.0), (14.8, 2.5))
"""Angular radius in degrees and radiance of the key, fill and back light."""
_FLOOR = 0.6
_DEPTH = 4
_GUIDE_SAMPLES = 4
_SLACK = 0.02
_X86_LLVM = (17,)
"""The first LLVM that compiles `fminimum` for x86."""


def best_variant() -> str:
    """The fastest way to run Mitsuba that works on this machine."""
    return next(name for name in VARIANTS if name == "scalar" or _works(name))


def use(variant: str) -> Any:
    """Mitsuba in this variant, with one thread in this process."""
    mitsuba = _mitsuba()
    if mitsuba.variant() == VARIANTS[variant]:
        return mitsuba
    if not _works(variant):
        raise BadOption(f"Mitsuba cannot run its variant {variant!r} here: leave the option out.")
    mitsuba.set_variant(VARIANTS[variant])
    if variant == "llvm":
        import drjit

        drjit.set_thread_count(1)
    return mitsuba


def _mitsuba() -> Any:
    try:
        import mitsuba
    except ImportError:
        raise MissingExtra("rendering scenes", "scenes") from None
    return mitsuba


def _compiles() -> bool:
    """Whether LLVM knows all instructions that Mitsuba uses. Where it does not, it ends the process."""
    import drjit

    version: tuple[int, ...] = drjit.detail.llvm_version()
    return version >= _X86_LLVM or platform.machine().lower() not in ("x86_64", "amd64")


@cache
def _works(variant: str) -> bool:
    mitsuba = _mitsuba()
    before = mitsuba.variant()
    try:
        mitsuba.set_variant(VARIANTS[variant])
        mitsuba.Float(1)
        if variant == "llvm" and not _compiles():
            return False
    except (ImportError, RuntimeError):
        return False
    finally:
        if before:
            mitsuba.set_variant(before)
    return True


class Rendering:
    """One scene seen by one camera.

    Args:
        scene: What is seen.
        camera: From where.
        variant: A key of `VARIANTS`.
        seed: Of the noise: the same for both scenes of a pair.
    """

    def __init__(self, scene: Scene, camera: Camera, variant: str, seed: int) -> None:
        self._mitsuba, self._objects = use(variant), len(scene.objects)
        self._scene = self._mitsuba.load_dict(_description(self._mitsuba, scene, camera))
        self._seed = seed % (1 << 31)
        guide = self._mitsuba.load_dict({"type": "aov", "aovs": "a:albedo,n:sh_normal,p:position"})
        passes = self._mitsuba.render(self._scene, spp=_GUIDE_SAMPLES, seed=self._seed, integrator=guide)
        guides = np.array(passes)[..., -9:]
        self._albedo, self._normal = guides[..., :3], guides[..., 3:6]
        self._shown = _objects_at(scene, guides[..., 6:])

    def visible(self) -> list[int]:
        """How many pixels show each object."""
        return [int(count) for count in np.bincount(self._shown.ravel(), minlength=1 + self._objects)[1:]]

    def pixels(self, samples: int, denoiser: str) -> npt.NDArray[np.uint8]:
        """The picture, shape (height, width, 3)."""
        light = np.array(self._mitsuba.render(self._scene, spp=samples, seed=self._seed))[..., :3]
        index = self._shown.astype(np.float32)
        return _srgb(denoised(light, self._albedo, self._normal, index, denoiser))


def _objects_at(scene: Scene, places: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """For each point of a picture, 1 + the index of the object that it lies on, or 0 for the floor.

    Found from the place, because the numbers that Mitsuba gives to shapes depend on its variant.
    """
    shown = np.zeros(places.shape[:2], np.int64)
    x, y, z = places[..., 0], places[..., 1], places[..., 2]
    for number, thing in enumerate(scene.objects, 1):
        radius = RADIUS[thing.size] + _SLACK
        inside = (x - thing.x) ** 2 + (y - thing.y) ** 2 < radius**2
        shown[inside & (z > _SLACK) & (z < 2 * radius)] = number
    return shown


def _srgb(linear: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    value = np.clip(linear, 0, 1)
    curved = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return np.round(curved * 255).astype(np.uint8)


def _linear(color: str) -> list[float]:
    return [((v / 255 + 0.055) / 1.055) ** 2.4 for v in _RGB[color]]


def _description(mitsuba: Any, scene: Scene, camera: Camera) -> dict[str, Any]:
    transform = mitsuba.ScalarTransform4f
    sky = transform().rotate([1, 0, 0], 90)  # Mitsuba's up is y, ours is z
    view = transform().look_at(origin=list(camera.origin), target=[0, -0.2, 0.3], up=[0, 0, 1])
    description: dict[str, Any] = {
        "type": "scene",
        "integrator": {"type": "path", "max_depth": _DEPTH},
        "sensor": {
            "type": "perspective",
            "fov": FIELD,
            "fov_axis": "x",
            "to_world": view,
            "film": {
                "type": "hdrfilm",
                "width": WIDTH,
                "height": HEIGHT,
                "rfilter": {"type": "box"},
                "pixel_format": "rgb",
            },
            "sampler": {"type": "multijitter"},
        },
        "sky": {"type": "envmap", "bitmap": mitsuba.Bitmap(_sky(camera)), "to_world": sky},
        "floor": {
            "type": "rectangle",
            "to_world": transform().scale(60),
            "bsdf": {"type": "diffuse", "reflectance": {"type": "rgb", "value": _FLOOR}},
        },
    }
    for number, thing in enumerate(scene.objects):
        description[f"object-{number}"] = _object(transform, thing)
    return description


def _object(transform: Any, thing: Object) -> dict[str, Any]:
    radius = RADIUS[thing.size]
    half = radius / math.sqrt(2) if thing.shape == "cube" else radius
    color = _linear(thing.color)
    if thing.material == "metal":
        color = [min(1.0, 1.25 * v + 0.04) for v in color]
        finish = {"metallic": 1.0, "roughness": 0.12, "specular": 0.5}
    else:
        finish = {"metallic": 0.0, "roughness": 0.75, "specular": 0.3}
    place = transform().translate([thing.x, thing.y, half]).rotate([0, 0, 1], thing.rotation).scale(half)
    return {
        "type": "ply",
        "filename": str(mesh_file(thing.shape)),
        "to_world": place,
        "bsdf": {"type": "principled", "base_color": {"type": "rgb", "value": color}, **finish},
    }


def _sky(camera: Camera) -> npt.NDArray[np.float32]:
    """A grey sky with the lights, and three brighter panels that flat metal reflects.

    All light comes from here: Mitsuba numbers several lights in an order that changes from run to run, and
    with it the noise.
    """
    height, width = 128, 256
    up = np.pi * (np.arange(height) + 0.5)[:, None] / height
    around = 2 * np.pi * (np.arange(width) + 0.5)[None, :] / width
    x, y = np.sin(up) * np.sin(around), np.sin(up) * np.cos(around)
    z = np.broadcast_to(np.cos(up), x.shape)
    elevation = 90 - np.degrees(up)
    light = 0.2 + 0.35 * np.clip(np.cos(3 * around), 0, 1) * ((elevation > 8) & (elevation < 55))
    for place, (radius, power) in zip(camera.lights, _LIGHTS, strict=True):
        a, b, c = np.array(place) / np.linalg.norm(place)
        light[a * x + b * y + c * z > math.cos(math.radians(radius))] = power
    return np.repeat(light.astype(np.float32)[..., None], 3, 2)
