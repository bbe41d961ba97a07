"""Scenes made in advance: labels come from a planner, which takes longer than a game of one answer.

Scenes are kept in blocks of 100 seeds in `LUDENS_DATA` or the user's cache folder. They are those that the
generator would make: the name of the folder is a hash of the generator's sources.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.games.viki.scene import Scene
from ludens.pictures.places import user_folder

BLOCK = 100
_IMPORT = re.compile(r"^from ludens\.games\.viki\.(\w+) import", re.MULTILINE)
_HERE = Path(__file__).parent

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
    return user_folder() / f"viki-scenes-{_hash(module)}" / split / f"{block}.json.z"


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


@cache
def _hash(module: str) -> str:
    """Of everything that determines scenes: a module, all modules of VIKI that it imports, and data."""
    names, todo = set[str](), [module]
    while todo:
        if (name := todo.pop()) not in names:
            names.add(name)
            todo += _IMPORT.findall((_HERE / f"{name}.py").read_text(encoding="utf-8"))
    files = [*(_HERE / f"{name}.py" for name in sorted(names)), *sorted(_HERE.glob("*.toml"))]
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()[:16]
