"""Triangle meshes of the three shapes, with round edges that catch the light, as PLY files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mesh = tuple[Array, Array, npt.NDArray[np.int64]]
"""Vertices, normals and triangles; every shape fills [-1, 1] vertically."""

_ROUND = {"cube": 0.1, "cylinder": 0.08}
_AROUND = 64


def mesh(shape: str) -> Mesh:
    """The mesh of a shape: radius 1, or half an edge of 1 for a cube."""
    if shape == "cube":
        return _cube(_ROUND["cube"])
    if shape == "cylinder":
        return _cylinder(_ROUND["cylinder"])
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
