"""`spy/clevr`: pairs of rendered scenes in the manner of CLEVR, of which two objects differ."""

from __future__ import annotations

import io
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.options import option
from ludens.core.random import Stream, stream
from ludens.games.spy.scene import RADIUS, Object, Scene, ScenePair, make_pair, parse_change
from ludens.pictures.writer import EntryContents, Generator, Skip

Array = npt.NDArray[np.float64]
Mesh = tuple[Array, Array, npt.NDArray[np.int64]]
"""Vertices, normals and triangles; every shape fills [-1, 1] vertically."""

_AROUND = 64


def mesh(shape: str) -> Mesh:
    """The mesh of a shape: radius 1, or half an edge of 1 for a cube."""
    if shape != "sphere":
        return _cube(0.1) if shape == "cube" else _cylinder(0.08)
    angles = np.linspace(-np.pi / 2, np.pi / 2, 33)
    profile = np.stack([np.cos(angles), np.sin(angles)], 1)
    return _revolved(profile, profile)


@cache
def mesh_file(shape: str) -> Path:
    """A PLY file of the shape, removed when the process ends."""
    path = Path(_folder().name) / f"{shape}.ply"
    path.write_bytes(_ply(*mesh(shape)))
    return path


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="ludens-")


def _ply(vertices: Array, normals: Array, triangles: npt.NDArray[np.int64]) -> bytes:
    columns = "".join(f"property float {name}\n" for name in ("x", "y", "z", "nx", "ny", "nz"))
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n{columns}"
        f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    faces = np.zeros(len(triangles), dtype=[("count", "u1"), ("corners", "<i4", (3,))])
    faces["count"], faces["corners"] = 3, triangles
    return header.encode() + np.hstack([vertices, normals]).astype("<f4").tobytes() + faces.tobytes()


def _revolved(profile: Array, normals: Array) -> Mesh:
    """A profile of (radius, height), bottom to top, turned about the vertical axis."""
    angles = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)

    def turned(points: Array) -> Array:
        x, y = np.outer(points[:, 0], np.cos(angles)), np.outer(points[:, 0], np.sin(angles))
        return np.stack([x, y, np.repeat(points[:, 1:], _AROUND, 1)], -1).reshape(-1, 3)

    ring, step = np.meshgrid(np.arange(len(profile) - 1), np.arange(_AROUND), indexing="ij")
    low, low_next = ring * _AROUND + step, ring * _AROUND + (step + 1) % _AROUND
    high, high_next = low + _AROUND, low_next + _AROUND
    first, second = np.stack([low, low_next, high_next], -1), np.stack([low, high_next, high], -1)
    return turned(profile), turned(normals), np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def _cylinder(edge: float) -> Mesh:
    angles = np.linspace(-np.pi / 2, 0, 6)
    normal = np.stack([np.cos(angles), np.sin(angles)], 1)
    corner = np.array([1 - edge, -1 + edge]) + edge * normal
    up = np.array([1, -1])
    bottom, top = np.array([[0.0, -1.0]]), np.array([[0.0, 1.0]])
    profile = np.vstack([bottom, corner, corner[::-1] * up, top])
    return _revolved(profile, np.vstack([bottom, normal, normal[::-1] * up, top]))


def _cube(edge: float) -> Mesh:
    """Six grids pushed onto the surface of a cube with round edges."""
    bend = edge * np.tan(np.linspace(0, np.pi / 4, 5))
    line = np.concatenate([-(1 - edge) - bend[::-1], (1 - edge) + bend])
    across, along = np.meshgrid(line, line, indexing="ij")
    n = len(line)
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    quads = [(corner, corner + n, corner + n + 1), (corner, corner + n + 1, corner + 1)]
    vertices: list[Array] = []
    normals: list[Array] = []
    triangles: list[npt.NDArray[np.int64]] = []
    for axis in range(3):
        for side in (-1, 1):
            points = np.zeros((n, n, 3))
            points[..., axis], points[..., (axis + 1) % 3], points[..., (axis + 2) % 3] = side, across, along
            inner = np.clip(points, edge - 1, 1 - edge)
            outward = points - inner
            outward /= np.linalg.norm(outward, axis=-1, keepdims=True)
            start = n * n * len(vertices)
            vertices.append((inner + edge * outward).reshape(-1, 3))
            normals.append(outward.reshape(-1, 3))
            triangles += [start + np.stack(quad[::side], -1) for quad in quads]
    return np.vstack(vertices), np.vstack(normals), np.vstack(triangles)


WIDTH, HEIGHT = 480, 320
FIELD = 44.0
"""Horizontal field of view in degrees."""
SIDE_PIXELS = 12
"""The centres of every two objects are at least this far apart horizontally, in the order of their x."""
_EDGE_PIXELS = 6
_TARGET = (0.0, -0.2, 0.3)

Point = tuple[float, float, float]


@dataclass(frozen=True)
class SceneCamera:
    """A camera that looks at the middle of the floor, and three lights."""

    origin: Point
    lights: tuple[Point, Point, Point]
    """Key, fill and back light."""

    def pixel(self, point: Point) -> tuple[float, float]:
        """Where a point is in the picture, from its top left corner."""
        forward = _unit(_minus(_TARGET, self.origin))
        right = _unit(_cross(forward, (0.0, 0.0, 1.0)))
        down = _cross(forward, right)
        ray = _minus(point, self.origin)
        scale = WIDTH / 2 / math.tan(math.radians(FIELD / 2)) / _dot(ray, forward)
        return WIDTH / 2 + scale * _dot(ray, right), HEIGHT / 2 + scale * _dot(ray, down)


def make_camera(random: Stream) -> SceneCamera:
    """A camera with jitter; it turns so little that left and right stay what they are on the floor."""
    turn = math.radians(_jitter(random, 2.5))
    distance, height = 9.5 + _jitter(random, 0.5), 5.2 + _jitter(random, 0.4)

    def light(x: float, y: float, z: float) -> Point:
        return x + _jitter(random, 1), y + _jitter(random, 1), z + _jitter(random, 1)

    lights = light(5.5, -3, 7), light(-6.5, -5, 4.5), light(-2.5, 6.5, 6.5)
    return SceneCamera((distance * math.sin(turn), -distance * math.cos(turn), height), lights)


def is_clear(scene: Scene, camera: SceneCamera) -> bool:
    """Whether all objects are inside the picture, and left and right are the same there as on the floor."""
    places = []
    for thing in scene.objects:
        r = RADIUS[thing.size]
        corners = [
            camera.pixel((thing.x + dx * r, thing.y + dy * r, z))
            for dx in (-1, 1)
            for dy in (-1, 1)
            for z in (0.0, 2 * r)
        ]
        if not all(
            _EDGE_PIXELS <= u <= WIDTH - _EDGE_PIXELS and _EDGE_PIXELS <= v <= HEIGHT - _EDGE_PIXELS
            for u, v in corners
        ):
            return False
        places.append((thing.x, camera.pixel((thing.x, thing.y, r))[0]))
    pixels = [pixel for _, pixel in sorted(places)]
    return all(b - a >= SIDE_PIXELS for a, b in pairwise(pixels))


def _jitter(random: Stream, most: float) -> float:
    return (2 * random.random() - 1) * most


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _dot(a: Point, b: Point) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _unit(a: Point) -> Point:
    length = math.sqrt(_dot(a, a))
    return a[0] / length, a[1] / length, a[2] / length


Raster = npt.NDArray[np.float32]

_TOLERANCES = (0.7, 0.45, 0.25, 0.12)
"""Relative difference in brightness that counts as noise, for steps of 1, 2, 4 and 8 pixels."""
_DARK = np.float32(0.02)
_NORMAL, _ALBEDO, _INDEX = 7, 20, 4
"""How much a difference in direction, colour and object weighs."""
_NEAR = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
_RANK, _RANK_FLOOR = 6, 12
"""A pixel is compared with the neighbour of this rank in brightness, of the 24 nearest."""


def denoiser() -> str:
    """The name of the denoiser that is used: `oidn` or `filter`."""
    try:
        import pyoidn  # noqa: F401
    except (ImportError, OSError):
        return "filter"
    return "oidn"


def denoised(color: Raster, albedo: Raster, normal: Raster, index: Raster, by: str) -> Raster:
    """The picture without noise, from linear colours, colours and directions of the surfaces, all of shape
    (height, width, 3), and numbers of the objects, by the denoiser of this name."""
    return _oidn(color, albedo, normal) if by == "oidn" else _filtered(color, albedo, normal, index)


def _oidn(color: Raster, albedo: Raster, normal: Raster) -> Raster:
    import pyoidn

    images = {
        pyoidn.OIDN_IMAGE_COLOR: np.ascontiguousarray(color, np.float32),
        pyoidn.OIDN_IMAGE_ALBEDO: np.ascontiguousarray(np.clip(albedo, 0, 1), np.float32),
        pyoidn.OIDN_IMAGE_NORMAL: np.ascontiguousarray(normal, np.float32),
        pyoidn.OIDN_IMAGE_OUTPUT: np.zeros(color.shape, np.float32),
    }
    with pyoidn.Device() as device:
        device.commit()
        with pyoidn.Filter(device, "RT") as work:
            for name, data in images.items():
                work.set_image(name, data, pyoidn.OIDN_FORMAT_FLOAT3)
            work.set_bool("hdr", True)
            work.commit()
            work.execute()
        if error := device.get_error():
            raise RuntimeError(f"Open Image Denoise: {error}")
    return images[pyoidn.OIDN_IMAGE_OUTPUT]


def _filtered(color: Raster, albedo: Raster, normal: Raster, index: Raster) -> Raster:
    surface = albedo + _DARK
    light = _without_sparks(color / surface, index == 0)
    guides = [*(normal * _NORMAL).transpose(2, 0, 1), *(albedo * _ALBEDO).transpose(2, 0, 1), index * _INDEX]
    for level, tolerance in enumerate(_TOLERANCES):
        step = 1 << level
        brightness = light.mean(-1)
        around = sum((_shifted(brightness, dy, dx) for dy, dx in _NEAR), brightness) / 9
        sharpness = 1 / (tolerance * around + 0.005)
        total, weights = light * np.float32(0.25), np.full(brightness.shape, 0.25, np.float32)
        for dy, dx in _NEAR:
            y, x = dy * step, dx * step
            apart = ((_shifted(brightness, y, x) - brightness) * sharpness) ** 2
            for guide in guides:
                apart += (_shifted(guide, y, x) - guide) ** 2
            weight = np.exp(-apart) * np.float32(0.0625 if dy and dx else 0.125)
            total += weight[..., None] * _shifted(light, y, x)
            weights += weight
        light = (total / weights[..., None]).astype(np.float32)
    return light * surface


def _without_sparks(light: Raster, floor: npt.NDArray[np.bool_]) -> Raster:
    """No pixel is much brighter than its neighbours; on the floor, where light changes slowly, even less."""
    brightness = light.mean(-1)
    height, width = brightness.shape
    padded = np.pad(brightness, 2, mode="edge")
    near = np.stack(
        [padded[y : y + height, x : x + width] for y in range(5) for x in range(5) if (y, x) != (2, 2)]
    )
    ranked = np.partition(near, (-_RANK_FLOOR, -_RANK), axis=0)
    limit = np.where(floor, ranked[-_RANK_FLOOR], ranked[-_RANK]) * 1.25 + _DARK
    result: Raster = light * np.minimum(1, limit / np.maximum(brightness, 1e-6))[..., None]
    return result


def _shifted(image: Any, dy: int, dx: int) -> Any:
    """The image moved by some pixels; what comes in at an edge repeats the edge."""
    height, width = image.shape[:2]
    down, right = abs(dy), abs(dx)
    padded = np.pad(image, [(down, down), (right, right)] + [(0, 0)] * (image.ndim - 2), mode="edge")
    return padded[down - dy : down - dy + height, right - dx : right - dx + width]


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


@cache
def _works(variant: str) -> bool:
    mitsuba = _mitsuba()
    before = mitsuba.variant()
    try:
        mitsuba.set_variant(VARIANTS[variant])
        mitsuba.Float(1)
        if variant == "llvm" and platform.machine().lower() in ("x86_64", "amd64"):
            # Without all instructions that Mitsuba uses, LLVM would end the process.
            import drjit

            return bool(drjit.detail.llvm_version() >= _X86_LLVM)
    except (ImportError, RuntimeError):
        return False
    finally:
        if before:
            mitsuba.set_variant(before)
    return True


class Rendering:
    """One scene seen by one camera; the seed, that of the noise, is the same for both scenes of a pair."""

    def __init__(self, scene: Scene, camera: SceneCamera, variant: str, seed: int) -> None:
        self._mitsuba, self._objects = use(variant), len(scene.objects)
        self._scene = self._mitsuba.load_dict(_description(self._mitsuba, scene, camera))
        self._seed = seed % (1 << 31)
        guide = self._mitsuba.load_dict({"type": "aov", "aovs": "a:albedo,n:sh_normal,p:position"})
        passes = self._mitsuba.render(self._scene, spp=_GUIDE_SAMPLES, seed=self._seed, integrator=guide)
        guides = np.array(passes)[..., -9:]
        self._albedo, self._normal = guides[..., :3], guides[..., 3:6]
        self._shown = _objects_at(scene, guides[..., 6:])

    def visible(self) -> list[int]:
        return [int(count) for count in np.bincount(self._shown.ravel(), minlength=1 + self._objects)[1:]]

    def pixels(self, samples: int, denoiser: str) -> npt.NDArray[np.uint8]:
        light = np.array(self._mitsuba.render(self._scene, spp=samples, seed=self._seed))[..., :3]
        index = self._shown.astype(np.float32)
        return _srgb(denoised(light, self._albedo, self._normal, index, denoiser))


def _objects_at(scene: Scene, places: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """For each point of a picture, 1 + the index of the object that it lies on, or 0 for the floor.

    Found from the place, because the numbers that Mitsuba gives to shapes depend on its variant.
    """
    numbers = np.zeros(places.shape[:2], np.int64)
    x, y, z = places[..., 0], places[..., 1], places[..., 2]
    for number, thing in enumerate(scene.objects, 1):
        radius = RADIUS[thing.size] + _SLACK
        inside = (x - thing.x) ** 2 + (y - thing.y) ** 2 < radius**2
        numbers[inside & (z > _SLACK) & (z < 2 * radius)] = number
    return numbers


def _srgb(linear: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    value = np.clip(linear, 0, 1)
    curved = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return np.round(curved * 255).astype(np.uint8)


def _description(mitsuba: Any, scene: Scene, camera: SceneCamera) -> dict[str, Any]:
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
    color = [((v / 255 + 0.055) / 1.055) ** 2.4 for v in _RGB[thing.color]]
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


def _sky(camera: SceneCamera) -> npt.NDArray[np.float32]:
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


MIN_PIXELS = 200
"""Pixels that every object shows in both pictures, of about 450 of a small object in the background."""
_LICENCE = "CC0-1.0"
_QUALITY = 92
_ATTEMPTS = 1000


@dataclass(frozen=True)
class Clevr(Generator):
    """Rendered scenes; two objects of each pair differ."""

    seed: int = option(0, low=0, help="seed")
    change: str = option("color+shape", help="what differs: color, shape, size, material, joined by +")
    samples: int = option(8, low=1, high=4096, help="paths traced per pixel")
    variant: str = option("", choices=("", *VARIANTS), help="how Mitsuba runs: cuda, llvm or scalar")
    denoiser: str = option("", choices=("", "oidn", "filter"), help="oidn, or the built-in filter")

    name = "spy/clevr"
    version = "2"

    def resolved(self) -> Self:
        return replace(
            self,
            change="+".join(parse_change(self.change)),
            variant=self.variant or best_variant(),
            denoiser=self.denoiser or denoiser(),
        )

    def prepare(self) -> str:
        mitsuba = use(self.variant)
        by = "Open Image Denoise" if self.denoiser == "oidn" else "the built-in filter"
        return f"Mitsuba {mitsuba.__version__}, variant {VARIANTS[self.variant]}, denoised by {by}"

    def workers(self) -> int:
        return 1 if self.variant == "cuda" else super().workers()

    def make(self, number: int) -> EntryContents:
        pair, renderings = self._clear_pair(number)
        pictures = {
            role: _jpeg(rendering.pixels(self.samples, self.denoiser))
            for role, rendering in renderings.items()
        }
        return EntryContents(pictures, pair.to_json(), changes(pair), _LICENCE)

    def _clear_pair(self, number: int) -> tuple[ScenePair, dict[str, Rendering]]:
        """The first pair of which everything can be seen in both pictures."""
        change = parse_change(self.change)
        for attempt in range(_ATTEMPTS):
            random = stream(self.seed, "clevr", number, attempt)
            pair, camera = make_pair(random, change), make_camera(random)
            if not (is_clear(pair.original, camera) and is_clear(pair.modified, camera)):
                continue
            noise = random.below(1 << 30)
            renderings = {}
            for role, scene in (("original", pair.original), ("modified", pair.modified)):
                rendering = Rendering(scene, camera, self.variant, noise)
                if min(rendering.visible()) < MIN_PIXELS:
                    break
                renderings[role] = rendering
            else:
                return pair, renderings
        raise Skip(f"no clear scene in {_ATTEMPTS} attempts")


def changes(pair: ScenePair) -> list[dict[str, Any]]:
    """The change log: object, attribute, value before and after."""
    return [
        {
            "object": index,
            "attribute": name,
            "from": getattr(pair.original.objects[index], name),
            "to": getattr(pair.modified.objects[index], name),
        }
        for index in pair.changed
        for name in pair.change
    ]


def _jpeg(pixels: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return out.getvalue()
