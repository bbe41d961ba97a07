"""Robots as rigid meshes in a standing pose, taken from the model files of installed packages.

ANYmal C and Stompy are in no package: other robots with the same embodiment stand in for them, in colours of
their own. Meshes are decimated, because a software rasteriser draws them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludens.core.errors import BadFile, MissingExtra

Floats = NDArray[np.float64]
Faces = NDArray[np.int32]
Colour = tuple[float, float, float]

_MODELS = "assets/robots"
_FRANKA = "envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml"


@dataclass(frozen=True)
class Source:
    """Where the mesh of a robot type comes from.

    Attributes:
        shows: The robot that is seen.
        package: The installed package that has its model.
        file: The model in that package.
        root: The body of the model that is the robot.
        pose: Joint positions that differ from the model's own.
        tint: Colour of all its parts; the model's own where None.
    """

    shows: str
    package: str
    file: str
    root: str
    pose: dict[str, float] = field(default_factory=dict)
    tint: Colour | None = None


_DOG = {
    f"{leg}_{joint}_leg_joint": angle
    for leg in ("FR", "FL", "RR", "RL")
    for joint, angle in (("thigh", 0.75), ("calf", -1.5))
}
_ARMS = {f"{side}_shoulder_pitch_joint": -0.25 for side in ("left", "right")}

SOURCES = {
    "panda": Source(
        "Franka Panda",
        "gymnasium_robotics",
        _FRANKA,
        "panda0_link0",
        {"robot:panda0_joint2": -0.4, "robot:panda0_joint4": -2.2, "robot:panda0_joint6": 1.9},
    ),
    "fetch": Source(
        "Fetch",
        "gymnasium_robotics",
        "envs/assets/fetch/reach.xml",
        "robot0:base_link",
        {
            "robot0:torso_lift_joint": 0.1,
            "robot0:shoulder_lift_joint": 0.5,
            "robot0:elbow_flex_joint": -1.2,
            "robot0:wrist_flex_joint": 0.9,
        },
    ),
    "unitree_h1": Source(
        "Unitree H1",
        "robosuite_models",
        f"{_MODELS}/h1/robot.xml",
        "pelvis",
        {**_ARMS, "left_elbow_joint": 0.5, "right_elbow_joint": 0.5},
    ),
    "stompy": Source(
        "Unitree G1, in orange, in place of Stompy",
        "robosuite_models",
        f"{_MODELS}/g1/robot.xml",
        "pelvis",
        {"l_shoulder_roll_joint": 0.3, "r_shoulder_roll_joint": -0.3},
        (0.93, 0.5, 0.12),
    ),
    "unitree_go2": Source("Unitree Go2", "robosuite_models", f"{_MODELS}/go2/robot.xml", "body", _DOG),
    "anymal_c": Source(
        "Unitree B1, in red, in place of ANYmal C",
        "robosuite_models",
        f"{_MODELS}/b1/robot.xml",
        "base",
        _DOG,
        (0.75, 0.12, 0.12),
    ),
}
"""Robot type to its mesh."""


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
    found: dict[Colour, list[tuple[Floats, Faces]]] = {}
    for geom in _visual_geoms(model, source):
        colour = source.tint or _colour(model, geom)
        found.setdefault(colour, []).append(_mesh(model, data, geom))
    if not found:
        raise BadFile(
            f"{source.file} of the package {source.package} has no body {source.root!r} with meshes."
        )
    root = model.body(source.root).id
    base, turn = data.xpos[root].copy(), data.xmat[root].reshape(3, 3)
    base[2] = min(vertices[:, 2].min() for group in found.values() for vertices, _ in group)
    return tuple(
        Part(*_decimated(*_joined(group, base, turn), cell), colour) for colour, group in found.items()
    )


def model_file(source: Source) -> Path:
    """The file with the model of a robot; `MissingExtra` where its package is not installed."""
    spec = find_spec(source.package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("look=camera", "robots")
    return Path(spec.submodule_search_locations[0]) / source.file


def _visual_geoms(model: Any, source: Source) -> list[int]:
    """The mesh geoms of the robot that are meant to be seen: where a body has several groups, the last."""
    root = model.body(source.root).id
    meshes = [
        geom
        for geom in range(model.ngeom)
        if int(model.geom_type[geom]) == 7 and _below(model, int(model.geom_bodyid[geom]), root)
    ]
    shown = max(int(model.geom_group[geom]) for geom in meshes) if meshes else 0
    if shown >= 3:  # groups from 3 on are hidden by MuJoCo's own viewer
        shown = min(int(model.geom_group[geom]) for geom in meshes)
    return [geom for geom in meshes if int(model.geom_group[geom]) == shown]


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
    kept = inverse[faces].astype(np.int32)
    kept = kept[(kept[:, 0] != kept[:, 1]) & (kept[:, 1] != kept[:, 2]) & (kept[:, 0] != kept[:, 2])]
    return merged, np.unique(kept, axis=0)
