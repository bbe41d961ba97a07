"""The paper's tables 2 to 4 and 6 to 8, one row per model, in our units."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ludens.run.task import Published

_FOLDER = Path(__file__).parent / "published"
_SHARES = frozenset({"perceive", "qa", "rule", "density", "variety"})


@lru_cache(maxsize=16)
def table(name: str) -> Mapping[str, Mapping[str, float]]:
    """A table as printed: model to column to value."""
    found: Mapping[str, Mapping[str, float]] = tomllib.loads((_FOLDER / f"{name}.toml").read_text("utf-8"))
    return found


def rows(
    source: str, *names: str, nobody_played: Sequence[str] = (), without: Sequence[str] = ()
) -> tuple[Published, ...]:
    """The rows of several tables merged, under our task names.

    Args:
        source: What tables say these numbers come from.
        names: Of the tables, which are also what our task names begin with.
        nobody_played: Tasks in which the paper says that every model, though not Random, scored 0.
        without: Tasks that are not played as in the paper.
    """
    merged: dict[str, dict[str, float]] = {}
    for name in names:
        unit = 100 if name in _SHARES else 1
        for model, values in table(name).items():
            row = merged.setdefault(model, {})
            found = {f"{name}/{column}": round(unit * value, 6) for column, value in values.items()}
            row |= {task: value for task, value in found.items() if task not in without}
    for model, row in merged.items():
        if model != "Random":
            row |= dict.fromkeys(nobody_played, 0.0)
    return tuple(Published(source, model, values) for model, values in merged.items())
