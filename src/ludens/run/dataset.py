"""Datasets of questions on disk: Parquet with pictures inside, the pictures as PNG files, a manifest.

A suite brings a builder, found by name (in its catalogue, or through the entry-point group
`ludens.datasets`): it takes an order and gives rows; everything about files is here. The same order gives
the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ludens.core.errors import BadOption, MissingExtra
from ludens.core.files import check_empty, save_file
from ludens.core.game import Game
from ludens.core.processes import cores, run_in_processes
from ludens.core.registry import Registry, make
from ludens.core.view import Picture, RenderOptions
from ludens.run.plan import versions

if TYPE_CHECKING:
    import pyarrow as pa


ColumnType = Literal["text", "texts", "number", "pictures"]


@dataclass(frozen=True)
class DatasetOrder:
    spec: str
    """Which of the builder's datasets, such as the name of a game."""
    n: int
    seed: int = 0
    render: RenderOptions = field(default_factory=RenderOptions)
    run: Path | None = None
    """The run whose episodes the rows come from; without it, the builder plays episodes."""


@dataclass(frozen=True)
class Share:
    """How often a value occurs, and how often it should."""

    of: str
    value: str
    count: int
    wanted: float | None = None


@dataclass(frozen=True)
class Dataset:
    """What a builder returns: rows, which may be lazy, and their description."""

    name: str
    about: str
    columns: Mapping[str, ColumnType]
    rows: Iterable[Mapping[str, Any]]
    """Column to value; pictures are a sequence."""
    shares: Sequence[Share]
    made_from: Mapping[str, Any]
    """Everything that determines the rows, as JSON values."""


Builder = Callable[[DatasetOrder], Dataset]

DATASETS = Registry("dataset", "ludens.datasets")


def build_dataset(name: str, order: DatasetOrder) -> Dataset:
    if order.n < 1:
        raise BadOption(f"-n must be at least 1, not {order.n}.")
    builder: Builder = DATASETS.get(name)
    return builder(order)


def count_shares(of: str, values: Iterable[str], wanted: Mapping[str, float] | None = None) -> list[Share]:
    """How often each value occurs; the wanted ones first, even if they never occur."""
    counts = Counter(values)
    names = [*(wanted or ()), *sorted(set(counts) - set(wanted or ()))]
    return [Share(of, name, counts[name], (wanted or {}).get(name)) for name in names]


def check_folder(folder: Path) -> None:
    """Raise an error if the folder is not empty, before anything is played or drawn."""
    arrow()
    check_empty(folder)


def write(dataset: Dataset, folder: Path) -> dict[str, Any]:
    check_folder(folder)
    pa = arrow()
    hashes: dict[str, str] = {}
    columns: dict[str, list[Any]] = {name: [] for name in dataset.columns}

    def save(name: str, data: bytes) -> None:
        save_file(folder / name, data)
        hashes[name] = sha256(data).hexdigest()

    for number, row in enumerate(dataset.rows):
        for name, kind in dataset.columns.items():
            if kind != "pictures":
                columns[name].append(row[name])
                continue
            files = []
            for place, picture in enumerate(row[name]):
                path, data = f"images/{number:06d}-{place}.png", _png(picture)
                save(path, data)
                files.append({"bytes": data, "path": path})
            columns[name].append(files)
    table = pa.table(columns, schema=_schema(dataset.columns))
    save("samples.parquet", _parquet(table))
    save("README.md", _card(dataset).encode())
    manifest = {
        "dataset": dataset.name,
        "about": dataset.about,
        "samples": table.num_rows,
        "made_from": dict(dataset.made_from),
        "made_with": {**versions(), "pyarrow": pa.__version__},
        "distribution": [
            {"of": share.of, "value": share.value, "samples": share.count, "wanted": share.wanted}
            for share in dataset.shares
        ],
        "sha256": dict(hashes),
    }
    save("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return manifest


def arrow() -> Any:
    """pyarrow, or an error that names the extra."""
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing a dataset", "data") from None
    return pa


def _png(picture: Picture) -> bytes:
    """Always written by zlib, so that the bytes do not depend on what is installed."""
    from ludens.draw import Picture as Drawn

    return picture.png(fast=False) if isinstance(picture, Drawn) else picture.png()


_TEXT = {"dtype": "string", "_type": "Value"}
_FEATURES: dict[ColumnType, dict[str, Any]] = {
    "text": _TEXT,
    "texts": {"feature": _TEXT, "_type": "List"},
    "number": {"dtype": "int64", "_type": "Value"},
    "pictures": {"feature": {"_type": "Image"}, "_type": "List"},
}
"""The types in Hugging Face's `datasets`, which reads them from the file to decode the pictures."""


def _schema(columns: Mapping[str, ColumnType]) -> pa.Schema:
    pa = arrow()
    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "number": pa.int64(),
        "pictures": pa.list_(pa.struct({"bytes": pa.binary(), "path": pa.string()})),
    }
    features = {name: _FEATURES[kind] for name, kind in columns.items()}
    metadata = json.dumps({"info": {"features": features}})
    return pa.schema([(name, types[kind]) for name, kind in columns.items()], {"huggingface": metadata})


def _parquet(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression="zstd", row_group_size=100)
    data: bytes = out.getvalue().to_pybytes()
    return data


def _card(dataset: Dataset) -> str:
    return (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: test\n    path: samples.parquet\n"
        f"---\n\n# {dataset.name}\n\n{dataset.about}\n\n"
        "Each row is one question: pictures and text, the possible answers (`options`), the answer that "
        "was played (`answer`) and all right answers (`answers`). `manifest.json` says how the dataset was "
        "made, and has its distribution and the SHA-256 of every file.\n"
    )


CHUNK = 100
"""Seeds of one task of a worker; games that keep blocks of seeds keep blocks of this size."""


def prepare(spec: str, seeds: range, workers: int = 0) -> None:
    """Prepare a game for a range of seeds, in `workers` processes (0: one per core)."""
    game = make(spec)
    if type(game).prepare is Game.prepare:
        raise BadOption(f"{game.name} starts fast: there is nothing to prepare.")
    starts = range(seeds.start - seeds.start % CHUNK, seeds.stop, CHUNK)
    processes = min(workers or cores(), len(starts))
    began = reported = monotonic()
    results = run_in_processes(partial(_chunk, spec), starts, processes, ordered=False)
    for number, _ in enumerate(results, 1):
        if monotonic() - reported > 10 or number == len(starts):
            reported = monotonic()
            minutes = (reported - began) / number * (len(starts) - number) / 60
            counts = f"{number * CHUNK:,} of {len(starts) * CHUNK:,} seeds"
            print(f"{spec}: {counts}, {minutes:.1f} minutes left")


def _chunk(spec: str, start: int) -> None:
    make(spec).prepare(range(start, start + CHUNK))
