"""Models of the camera pictures (`models.toml`): furniture and things as simple shapes, robots as meshes.

Robots are rigid meshes in a standing pose, taken from the model files of installed packages. ANYmal C and
Stompy are in no package: other robots with the same embodiment stand in for them, in colours of their own.
Meshes are decimated, because a software rasteriser draws them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludens.core.errors import BadFile, MissingExtra
from ludens.games.viki.world import read_tables

Floats = NDArray[np.float64]
Faces = NDArray[np.int32]
Colour = tuple[float, float, float]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class SolidShape:
    """One `sphere`, `ellipsoid`, `box`, `cylinder` or `capsule`, with half sizes as MuJoCo has them."""

    form: str
    size: Triple
    at: Triple
    colour: Colour
    turn: Triple = (0.0, 0.0, 0.0)
    """Rotation around x, y and z, in degrees."""

    def moved(self, x: float, y: float, z: float, scale: float = 1.0) -> SolidShape:
        """The shape at another place, scaled around the origin before."""
        width, depth, height = (value * scale for value in self.size)
        dx, dy, dz = (value * scale for value in self.at)
        return SolidShape(self.form, (width, depth, height), (x + dx, y + dy, z + dz), self.colour, self.turn)


@dataclass(frozen=True)
class MeshSource:
    """Where the mesh of a robot type comes from; see `models.toml`."""

    tall: float
    shows: str
    looks: str
    """For players who have to tell the types apart."""
    package: str
    file: str
    root: str
    pose: dict[str, float] = field(default_factory=dict)
    tint: Colour | None = None


_DATA = read_tables("models.toml")
COLOURS: dict[str, Colour] = _DATA["colours"]


def _shapes(name: str) -> dict[str, tuple[SolidShape, ...]]:
    return {
        kind: tuple(
            SolidShape(form, size, at, COLOURS[colour] if isinstance(colour, str) else colour, *turn)
            for form, size, at, colour, *turn in rows
        )
        for kind, rows in _DATA[name].items()
    }


STYLES: tuple[tuple[Colour, Colour, Colour], ...] = _DATA["styles"]
"""Colours of walls, floor and surfaces."""
THINGS = _shapes("things")
"""Kind of thing to its shapes."""
FURNITURE = _shapes("furniture")
"""Kind of furniture, with its state where it opens, to its shapes."""
TOPS: dict[str, float] = _DATA["tops"]
"""How high above its foot a thing carries what is in or on it."""
CONTENTS: dict[str, Triple] = _DATA["contents"]
"""Where things in furniture lie, from where the furniture stands."""
SOURCES = {kind: MeshSource(**table) for kind, table in _DATA["robots"].items()}
"""Robot type to its mesh."""
_BOARD = 0.04
"""Thickness of boards."""
_RACK = 1.0
"""Surfaces from this height on are open shelves; lower ones are counters."""


def surface(
    name: str, x: float, y: float, w: float, d: float, height: float, colour: Colour
) -> Iterator[SolidShape]:
    """A mat on the floor, a table, a counter or an open shelf; (x, y) is its centre."""
    if height == 0:
        yield SolidShape("box", (w / 2, d / 2, 0.004), (x, y, 0.004), (0.55, 0.6, 0.62))
        return
    yield SolidShape("box", (w / 2, d / 2, _BOARD / 2), (x, y, height - _BOARD / 2), colour)
    half = (height - _BOARD) / 2
    if height < _RACK and name != "table":
        yield SolidShape("box", (w / 2 - 0.03, d / 2 - 0.03, half), (x, y, half), _shaded(colour, 0.85))
        return
    for sx in (-1, 1):
        for sy in (-1, 1):
            at = (x + sx * (w / 2 - 0.05), y + sy * (d / 2 - 0.05), half)
            yield SolidShape("box", (0.03, 0.03, half), at, _shaded(colour, 0.7))
    if height >= _RACK:
        yield SolidShape("box", (w / 2, d / 2, _BOARD / 2), (x, y, height / 2), _shaded(colour, 0.85))


def _shaded(colour: Colour, light: float) -> Colour:
    red, green, blue = (level * light for level in colour)
    return red, green, blue


@dataclass(frozen=True, eq=False)
class Part:
    """One coloured mesh of a robot that stands on the floor at the origin and faces +x."""

    vertices: Floats
    faces: Faces
    colour: Colour


@lru_cache(maxsize=16)
def parts(kind: str, cell: float = 0.018) -> tuple[Part, ...]:
    """The meshes of a robot type, decimated to a vertex for each cell of this size, in metres."""
    import mujoco

    source = SOURCES[kind]
    model = mujoco.MjModel.from_xml_path(str(model_file(source)))
    data = mujoco.MjData(model)
    for joint, angle in source.pose.items():
        data.qpos[model.joint(joint).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    meshes: dict[Colour, list[tuple[Floats, Faces]]] = {}
    for geom in _visual_geoms(model, source):
        colour = source.tint or _colour(model, geom)
        meshes.setdefault(colour, []).append(_mesh(model, data, geom))
    if not meshes:
        raise BadFile(
            f"{source.file} of the package {source.package} has no body {source.root!r} with meshes."
        )
    root = model.body(source.root).id
    base, turn = data.xpos[root].copy(), data.xmat[root].reshape(3, 3)
    base[2] = min(vertices[:, 2].min() for group in meshes.values() for vertices, _ in group)
    return tuple(
        Part(*_decimated(*_joined(group, base, turn), cell), colour) for colour, group in meshes.items()
    )


def model_file(source: MeshSource) -> Path:
    """The file with the model of a robot; `MissingExtra` where its package is not installed."""
    spec = find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("look=camera", "robots")
    return Path(spec.submodule_search_locations[0]) / source.file


def _visual_geoms(model: Any, source: MeshSource) -> list[int]:
    """The mesh geoms of the robot that are meant to be seen: where a body has several groups, the last."""
    root = model.body(source.root).id
    meshes = [
        geom
        for geom in range(model.ngeom)
        if int(model.geom_type[geom]) == 7 and _below(model, int(model.geom_bodyid[geom]), root)
    ]
    group = max(int(model.geom_group[geom]) for geom in meshes) if meshes else 0
    if group >= 3:  # groups from 3 on are hidden by MuJoCo's own viewer
        group = min(int(model.geom_group[geom]) for geom in meshes)
    return [geom for geom in meshes if int(model.geom_group[geom]) == group]


def _below(model: Any, body: int, root: int) -> bool:
    while body > root:
        body = int(model.body_parentid[body])
    return body == root


def _colour(model: Any, geom: int) -> Colour:
    material = int(model.geom_matid[geom])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    red, green, blue = (round(float(level), 2) for level in rgba[:3])
    return red, green, blue


def _mesh(model: Any, data: Any, geom: int) -> tuple[Floats, Faces]:
    """Vertices in world coordinates, and faces."""
    mesh = int(model.geom_dataid[geom])
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    first, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    turn = data.geom_xmat[geom].reshape(3, 3)
    vertices = model.mesh_vert[start : start + count].astype(np.float64) @ turn.T + data.geom_xpos[geom]
    return vertices, model.mesh_face[first : first + faces].astype(np.int32)


def _joined(group: list[tuple[Floats, Faces]], base: Floats, turn: Floats) -> tuple[Floats, Faces]:
    """One mesh in the coordinates of the robot's root body, whose base is on the floor."""
    offsets = np.cumsum([0, *(len(vertices) for vertices, _ in group[:-1])])
    vertices = (np.vstack([vertices for vertices, _ in group]) - base) @ turn
    return vertices, np.vstack([faces + offset for (_, faces), offset in zip(group, offsets, strict=True)])


def _decimated(vertices: Floats, faces: Faces, cell: float) -> tuple[Floats, Faces]:
    """One vertex for each occupied cell of a grid: their mean; faces that collapse are dropped."""
    cells = np.floor(vertices / cell).astype(np.int64)
    _, inverse = np.unique(cells, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    counts = np.bincount(inverse)
    merged = np.stack([np.bincount(inverse, vertices[:, axis]) / counts for axis in range(3)], axis=1)
    a, b, c = inverse[faces].astype(np.int32).T
    whole = (a != b) & (b != c) & (a != c)
    return merged, np.unique(np.stack([a, b, c], axis=1)[whole], axis=0)
