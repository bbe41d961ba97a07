"""Where the scenes of a level come from: the generator, a picture set, or released data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import cast

from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.draw import Picture
from ludens.games.viki.archive import index, row_at
from ludens.games.viki.floor import SIDE
from ludens.games.viki.generate import HELD_OUT_FAMILY, SPLITS, Split, generate
from ludens.games.viki.parquet import Level
from ludens.games.viki.scene import Robot, Scene, Task
from ludens.games.viki.stored import stored
from ludens.pictures import Entry, PictureSet, open_set

__all__ = ["LOOKS", "SPLITS", "SPLIT_HELP", "Shown", "shown"]

SPLIT_HELP = "train, in-domain (id), out-of-domain (ood: a family held out), or held-out layouts"
LOOKS = ("map", "camera")

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
    positions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Where things are in a picture that comes from a file, for the text twin of level 3."""
    prompt: str = ""
    """The question of released data; ours where it is empty."""
    size: tuple[int, int] = (SIDE, SIDE)
    """Width and height in the coordinates of level 3."""


@lru_cache(maxsize=512)
def shown(level: str, look: str, split: str, pictures: str, data: str, seed: int) -> Shown:
    """What a level shows for a seed."""
    if data:
        return _released(level, data, split, seed)
    if look == "camera":
        return _photographed(level, pictures, split, seed)
    made = stored("generate", split, seed)
    return Shown(*made) if made else Shown(seed, generate(seed, cast(Split, split)))


def _released(level: str, data: str, split: str, seed: int) -> Shown:
    """A row of released data; rows are taken in their order, so that as many seeds as rows play them all."""
    places = index(data, _LEVELS[level], split)
    row = row_at(places[seed % len(places)], seed)
    picture = Picture.from_bytes(row.image)
    robots = tuple(Robot(f"R{n}", kind, "room") for n, kind in enumerate(row.types, 1))
    task = Task(row.text, 0, "0-0", "released", ())
    scene = row.scene or Scene("", 0, 0.0, 0.0, (), (), robots, task)
    size = picture.width, picture.height
    return Shown(seed, scene, (picture,), row.traces or None, prompt=row.text, size=size)


_LEVELS: dict[str, Level] = {"viki/activate": 1, "viki/plan": 2, "viki/trace": 3}


def _photographed(level: str, pictures: str, split: str, seed: int) -> Shown:
    """An entry of a picture set: views of the room, or the view of one robot at level 3."""
    found = open_set(pictures)
    entries = _entries(found, level, split)
    entry = entries[stream(seed, "entry").below(len(entries))]
    scene, trace = Scene.from_json(entry.scene["scene"]), entry.scene["trace"]
    if level != "viki/trace":
        views = [role for role in entry.files if not role.startswith("ego_")]
        return Shown(seed, scene, tuple(found.picture(entry, role) for role in sorted(views, reverse=True)))
    picture = found.picture(entry, trace["view"])
    points = tuple(tuple((float(x), float(y)) for x, y in path) for path in trace["points"])
    positions = {str(name): (int(x), int(y)) for name, (x, y) in trace["positions"].items()}
    size = picture.width, picture.height
    return Shown(trace["seed"], scene, (picture,), points, positions, size=size)


@lru_cache(maxsize=64)
def _entries(found: PictureSet, level: str, split: str) -> tuple[Entry, ...]:
    entries = tuple(
        entry
        for entry in found.entries
        if isinstance(entry.scene, dict) and "scene" in entry.scene and _fits(entry, level, split)
    )
    if not entries:
        raise BadOption(f"the picture set {found.name!r} has no scene for {level} with split={split}.")
    return entries


def _fits(entry: Entry, level: str, split: str) -> bool:
    scene = entry.scene["scene"]
    chosen = (split == "ood") == (scene["task"]["family"] == HELD_OUT_FAMILY)
    return chosen and (level != "viki/trace" or entry.scene.get("trace") is not None)
