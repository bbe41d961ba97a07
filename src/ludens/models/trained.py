"""On which games a model was trained by Ludens, as the files of its checkpoint say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import UsageError
from ludens.core.spec import parse_spec

TRAINED_ON = "trained_on"
"""In the file of settings of a small model: the names of the games."""


def trained_remark(model: str, game: str) -> str:
    """What an episode records of a model, named as in its spec, that was trained on the game."""
    return f"{model} was trained on {game}."


def games_of_checkpoint(folder: Path, settings: str = "") -> frozenset[str]:
    """The games on which a checkpoint was trained; empty for a folder that training did not write.

    The settings of a model that was exported for play name them; else they are in its recipe, which is in the
    folder, or beside it where the checkpoint was made by demonstrations alone.
    """
    games = _read(folder / settings).get(TRAINED_ON) if settings else None
    if isinstance(games, list):
        return frozenset(name for name in games if isinstance(name, str))
    return games_of_recipe(
        _read(folder / "training.json").get("recipe") or _read(folder.parent / "recipe.json")
    )


def games_of_recipe(recipe: Any) -> frozenset[str]:
    """The names of the games that a recipe plays and demonstrates."""
    if not isinstance(recipe, dict):
        return frozenset()
    sections = [recipe.get("play"), *(recipe.get("demonstrations") or ())]
    specs = [section.get("game") for section in sections if isinstance(section, dict)]
    try:
        return frozenset(parse_spec(spec).name for spec in specs if isinstance(spec, str) and spec)
    except UsageError:
        return frozenset()


def _read(file: Path) -> dict[str, Any]:
    try:
        read = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return read if isinstance(read, dict) else {}
