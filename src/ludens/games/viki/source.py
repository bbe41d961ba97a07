"""Where the scenes of a level come from: the generator, a picture set, or released data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ludens.draw import Picture
from ludens.games.viki.floor import SIDE
from ludens.games.viki.scene import Scene

LOOKS = ("map", "camera")
SPLITS = ("any", "in-domain", "out-of-domain", "layouts")

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Shown:
    """A scene as one seed shows it."""

    seed: int
    scene: Scene
    pictures: tuple[Picture, ...] = ()
    """Where they come from files; drawn as a map where there are none."""
    points: tuple[Points, ...] | None = None
    """The paths of level 3 where they come with the pictures."""
    size: tuple[int, int] = (SIDE, SIDE)
    """Width and height in the coordinates of level 3."""


@lru_cache(maxsize=512)
def shown(level: str, look: str, split: str, pictures: str, data: str, seed: int) -> Shown:
    """What a level shows for a seed."""
    from ludens.games.viki.generator import generate

    return Shown(seed, generate(seed, split))
