"""Generates picture sets of kitchens: two views of the room, one from each robot, and paths of level 3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any

from ludens.core.options import option
from ludens.core.random import stream
from ludens.games.viki.camera.render import Projection, backend, rendered, unseen
from ludens.games.viki.camera.robots import SOURCES, model_file
from ludens.games.viki.camera.stage import Stage, build, metres
from ludens.games.viki.data import ROBOTS
from ludens.games.viki.floor import Floor, Snapshot
from ludens.games.viki.source import SPLIT_HELP, SPLITS, Shown, shown
from ludens.games.viki.trace import Errand, errands
from ludens.pictures.generate import Generator, Made

if TYPE_CHECKING:
    from PIL.Image import Image

ROOM, EGO = (800, 560), (512, 512)
"""Sizes of the views of the room and of those from robots."""
QUALITY = 80
MARGIN = 6
TRIES = 24
"""Pairs of errands that are tried until both paths are seen from the robot itself."""


@dataclass(frozen=True)
class Kitchens(Generator):
    """Kitchens with robots, rendered with MuJoCo.

    Pixels depend on the OpenGL driver, so sets made on two machines differ.
    """

    name = "viki"
    version = "1"
    kind = "scene"

    split: str = option("id", choices=SPLITS, help=SPLIT_HELP)
    seed: int = option(0, low=0, high=2**30, help="of the set; other seeds give other kitchens")

    def prepare(self) -> str:
        for source in SOURCES.values():
            model_file(source)
        shows = ", ".join(f"{kind}: {source.shows}" for kind, source in SOURCES.items())
        return f"OpenGL through {backend()}; meshes: {shows}."

    def make(self, number: int) -> Made:
        backend()
        given, floor, stage = next(self._drawn(number))
        pictures = {name: _jpeg(image) for name, image in rendered(stage, ROOM, EGO).items()}
        return Made(pictures, {"scene": given.scene.to_json(), "trace": _trace(given, floor, stage)})

    def _drawn(self, number: int) -> Iterator[tuple[Shown, Floor, Stage]]:
        """Scenes in which nothing is hidden in all views of the room."""
        for attempt in count():
            seed = stream(self.seed, "kitchen", number, attempt).bits() >> 16
            given = shown("viki/activate", "map", self.split, "", "", seed)
            floor = Floor(given.scene, Snapshot.at_start(given.scene))
            stage = build(floor, given.seed)
            if not unseen(stage):
                yield given, floor, stage


def _trace(given: Shown, floor: Floor, stage: Stage) -> dict[str, Any] | None:
    """The errands of level 3 and their paths in the first view in which both are seen."""
    seeds = [stream(given.seed, "errands", number).bits() >> 16 for number in range(TRIES)]
    for view in ("ego", "front"):
        for seed in seeds:
            both = errands(Shown(seed, given.scene))
            if both is None:
                return None
            name = f"ego_{both[0].robot.lower()}" if view == "ego" else view
            size = EGO if view == "ego" else ROOM
            points = [_projected(floor, errand, Projection(stage.cameras[name], *size)) for errand in both]
            if all(MARGIN <= x <= size[0] - MARGIN and MARGIN <= y <= size[1] - MARGIN
                   for path in points for x, y in path):  # fmt: skip
                project = Projection(stage.cameras[name], *size)
                return {
                    "seed": seed,
                    "view": name,
                    "points": points,
                    "positions": _seen(floor, stage, project),
                }
    return None


def _seen(floor: Floor, stage: Stage, project: Projection) -> dict[str, tuple[int, int]]:
    """Where labels and the feet of robots are in a picture, as far as they are in it."""
    points = {tag.words: tag.at for tag in stage.tags if tag.kind != "robot"}
    points |= {f"{name}, feet": metres(*floor.robots[name]) for name in floor.robots}
    found = {words: project(at) for words, at in points.items()}
    return {
        words: (round(at[0]), round(at[1]))
        for words, at in found.items()
        if at is not None and 0 <= at[0] < project.width and 0 <= at[1] < project.height
    }


def _projected(floor: Floor, errand: Errand, project: Projection) -> list[tuple[float, float]]:
    """A path in a picture; points behind the camera are far outside."""
    robot = next(one for one in floor.scene.robots if one.id == errand.robot)
    heights = [0.0] * len(errand.points)
    if not ROBOTS[robot.type].mobile:
        end = next(area.height for area in floor.scene.areas if area.name == robot.place)
        heights = [1.0 + (end - 1.0) * n / (len(heights) - 1) for n in range(len(heights))]
    pixels = [project(metres(x, y, z)) for (x, y), z in zip(errand.points, heights, strict=True)]
    return [(-1e6, -1e6) if at is None else (round(at[0], 1), round(at[1], 1)) for at in pixels]


def _jpeg(image: Image) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=QUALITY, optimize=True)
    return out.getvalue()
