"""Where weights come from: recipe, source, seeds, data and losses of a training run, kept with the weights.

Everything is in the metadata of the safetensors file, and `ludens verify nano` checks the file against it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

PROVENANCE = "provenance.json"
"""In the folder of a run."""
STATE, IMITATION = "training.json", "imitation.json"
"""Of a checkpoint, and of a whole imitation."""
COMMIT = "LUDENS_COMMIT"
"""The variable that names the commit where the code runs without its repository."""
PARTS = 20
"""Of the losses: the mean of each is kept."""


def recipe_hash(recipe: Mapping[str, Any]) -> str:
    return sha256(orjson.dumps(recipe, option=orjson.OPT_SORT_KEYS)).hexdigest()


def source_hash() -> str:
    """Of all Python files and templates of the package, which decide what data is made."""
    package = Path(__file__).parents[2]
    hashed = sha256()
    for file in sorted(path for path in package.rglob("*") if path.suffix in (".py", ".md", ".toml")):
        hashed.update(f"{file.relative_to(package).as_posix()}\n".encode())
        hashed.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return hashed.hexdigest()


def commit() -> str:
    """The commit of the code; empty where it is not known."""
    if name := os.environ.get(COMMIT):
        return name
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def file_hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def means(losses: Sequence[float], parts: int = PARTS) -> list[float]:
    """The mean loss in each of `parts` equal parts of a training."""
    count = min(parts, len(losses))
    edges = [len(losses) * part // count for part in range(count + 1)] if count else []
    return [round(fmean(losses[a:b]), 4) for a, b in pairwise(edges)]


def origin_of_run(
    recipe: Mapping[str, Any], parent: Path | None, seeds: Mapping[str, range]
) -> dict[str, Any]:
    """The origin of weights, as far as it is known when a run begins.

    Args:
        parent: The weights from which it continues.
        seeds: First and last seed of each use.
    """
    return {
        "recipe": dict(recipe),
        "recipe_sha256": recipe_hash(recipe),
        "commit": commit(),
        "source_sha256": source_hash(),
        "parent_sha256": file_hash(parent) if parent is not None else "",
        "seeds": {name: [of.start, of.stop] for name, of in seeds.items()},
    }


def origin_of_imitation(rounds: int, losses: Sequence[float], seconds: float, digest: str) -> dict[str, Any]:
    """The origin that an imitation adds after some rounds."""
    return {
        "rounds": rounds,
        "updates": len(losses),
        "seconds": round(seconds),
        "losses": means(losses),
        "data_sha256": digest,
    }


def of_checkpoint(folder: Path) -> dict[str, Any]:
    """All that is known of the weights in a folder that training has written; nothing of others."""
    run = next(
        (place for place in (folder, *folder.resolve().parents[:2]) if (place / PROVENANCE).is_file()), None
    )
    if run is None:
        return {}
    origin, state, whole = (_read(file) for file in (run / PROVENANCE, folder / STATE, run / IMITATION))
    if "done" in state:
        origin |= origin_of_imitation(state["done"], state["losses"], state["spent"], state["digest"])
    elif "rounds" in whole:
        origin |= origin_of_imitation(whole["rounds"], whole["losses"], whole["seconds"], whole["data"])
    return origin | {"iterations": state.get("iteration", 0)}


def _read(file: Path) -> dict[str, Any]:
    try:
        read = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return read if isinstance(read, dict) else {}
