"""Scenes made in advance: labels come from a planner, which takes longer than a game of one answer.

Scenes are kept in blocks of 100 seeds in `LUDENS_DATA` or the user's cache folder. They are those that the
generator would make: the name of the folder has the versions of VIKI's games, which share the scenes, and of
random streams.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.core.random import STREAMS_VERSION
from ludens.core.registry import GAMES
from ludens.games.viki.scene import Scene
from ludens.pictures.places import user_folder

BLOCK = 100

Numbered = tuple[int, Scene]
"""A scene and its seed."""


def stored(module: str, split: str, seed: int) -> Numbered | None:
    """The scene for a seed; None where it was not made in advance.

    Args:
        module: The module that makes such scenes: "generate", or "trace" for scenes that have paths.
        split: Of the generator.
        seed: Of the game.
    """
    return _read(_file(module, split, seed // BLOCK), seed % BLOCK)


def store(module: str, split: str, seeds: Iterable[int], make: Callable[[int], Numbered]) -> int:
    """Make the blocks of these seeds that are missing; returns how many were made."""
    made = 0
    for block in sorted({seed // BLOCK for seed in seeds}):
        file = _file(module, split, block)
        if not file.exists():
            found = [make(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
            rows = [{"seed": seed, "scene": scene.to_json()} for seed, scene in found]
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, zlib.compress(orjson.dumps(rows)))
            made += 1
    return made


def _file(module: str, split: str, block: int) -> Path:
    games = [name for name in GAMES.names() if name.startswith("viki/")]
    versions = ".".join(str(GAMES.get(name).version) for name in games)
    folder = f"viki-scenes-{module}-{versions}-{STREAMS_VERSION}"
    return user_folder() / folder / split / f"{block}.json.z"


def _read(file: Path, number: int) -> Numbered | None:
    if not file.exists():
        return None
    try:
        row = _rows(file)[number]
        return int(row["seed"]), Scene.from_json(row["scene"])
    except (OSError, zlib.error, LookupError, TypeError, ValueError):
        raise BadFile(f"{file} does not hold scenes of VIKI: delete it.") from None


@lru_cache(maxsize=64)
def _rows(file: Path) -> list[dict[str, Any]]:
    return list(orjson.loads(zlib.decompress(file.read_bytes())))
