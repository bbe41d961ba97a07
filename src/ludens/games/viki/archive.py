"""Released data by number: an index of Parquet files, from which single rows are read when needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.errors import BadFile, BadOption, MissingExtra
from ludens.games.viki.generate import HELD_OUT_FAMILY
from ludens.games.viki.parquet import Level, Row, read_row

_NO_PICTURE = [{"bytes": b""}]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row is."""

    file: Path
    group: int
    row: int
    """Within its group."""
    number: int
    """Within its file, from 1."""


@lru_cache(maxsize=16)
def index(folder: str, level: Level, split: str) -> tuple[Place, ...]:
    """The rows of a level, in the order of file names; of level 2 only those of the split, `id` or `ood`."""
    files = sorted(Path(folder).rglob("*.parquet"))
    if not files:
        raise BadFile(f"{folder!r} has no Parquet files.")
    found = []
    for file in files:
        number = 0
        parquet = _opened(file)
        for group in range(parquet.num_row_groups):
            for row, values in enumerate(_read(file, parquet, group, ["prompt", "reward_model"])):
                number += 1
                read = read_row({**values, "images": _NO_PICTURE}, f"{file.name}, row {number}")
                if read.level == level and _in_split(read, split):
                    found.append(Place(file, group, row, number))
    if not found:
        raise BadOption(f"{folder!r} has no rows of level {level} for split={split}.")
    return tuple(found)


def row_at(place: Place, seed: int) -> Row:
    """One row with its picture."""
    values = _read(place.file, _opened(place.file), place.group, ["prompt", "reward_model", "images"])[
        place.row
    ]
    return read_row(values, f"{place.file.name}, row {place.number}", seed)


def _in_split(row: Row, split: str) -> bool:
    return row.scene is None or (split == "ood") == (row.scene.task.family == HELD_OUT_FAMILY)


def _opened(file: Path) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet files", "data") from None
    try:
        return pq.ParquetFile(file)
    except (OSError, ValueError) as error:
        raise BadFile(f"{str(file)!r} cannot be read as Parquet: {str(error)[:200]}.") from None


def _read(file: Path, parquet: Any, group: int, columns: list[str]) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = parquet.read_row_group(group, columns=columns).to_pylist()
    except (OSError, ValueError) as error:
        raise BadFile(f"{str(file)!r} cannot be read as Parquet: {str(error)[:200]}.") from None
    return rows
