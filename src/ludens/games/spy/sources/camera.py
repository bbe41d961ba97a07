"""Where the camera and the lights stand, and whether a scene can be read without doubt through the camera."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from ludens.core.random import Stream
from ludens.games.spy.scene import RADIUS, Scene

WIDTH, HEIGHT = 480, 320
FIELD = 44.0
"""Horizontal field of view in degrees."""
SIDE_PIXELS = 12
"""The centres of every two objects are at least this far apart horizontally, in the order of their x."""
_EDGE_PIXELS = 6
_TARGET = (0.0, -0.2, 0.3)

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
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


def make_camera(random: Stream) -> Camera:
    """A camera with jitter; it turns so little that left and right stay what they are on the floor."""
    turn = math.radians(_jitter(random, 2.5))
    distance, height = 9.5 + _jitter(random, 0.5), 5.2 + _jitter(random, 0.4)

    def light(x: float, y: float, z: float) -> Point:
        return x + _jitter(random, 1), y + _jitter(random, 1), z + _jitter(random, 1)

    lights = light(5.5, -3, 7), light(-6.5, -5, 4.5), light(-2.5, 6.5, 6.5)
    return Camera((distance * math.sin(turn), -distance * math.cos(turn), height), lights)


def is_clear(scene: Scene, camera: Camera) -> bool:
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
