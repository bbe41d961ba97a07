"""Picture sets as Parquet in the layout of Hugging Face `datasets`, and back, bit for bit.

README.md                              card: which files are the data
picture_set.json                       header of the manifest
data/train-00000-of-00001.parquet      one row per entry; one column per role with the original files
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile, MissingExtra
from ludens.core.files import check_empty, file_error, write_atomically
from ludens.pictures.manifest import Entry, Header, read_header
from ludens.pictures.sets import PictureSet, open_set
from ludens.pictures.writer import PictureSetWriter, removed_if_bad

HEADER = "picture_set.json"
ROWS_PER_FILE = 2000
_ROW_GROUP = 100
_TEXTS = ("id", "scene", "changes", "licence")
_MAX_HEADER = 1 << 20


def export_set(pictures: PictureSet, folder: Path) -> list[Path]:
    """Write a set into an empty folder as Parquet; returns the data files."""
    arrow = _arrow()
    check_empty(folder)
    pictures.check()
    entries = pictures.entries
    roles = sorted({role for entry in entries for role in entry.files})
    starts = range(0, len(entries), ROWS_PER_FILE)
    paths = [folder / "data" / f"train-{k:05d}-of-{len(starts):05d}.parquet" for k in range(len(starts))]
    try:
        (folder / "data").mkdir(parents=True, exist_ok=True)
        for start, path in zip(starts, paths, strict=True):
            with arrow.parquet.ParquetWriter(path, _schema(arrow, roles), compression="zstd") as file:
                for first in range(start, min(start + ROWS_PER_FILE, len(entries)), _ROW_GROUP):
                    rows = entries[first : min(first + _ROW_GROUP, start + ROWS_PER_FILE)]
                    file.write_table(_table(arrow, pictures, rows, roles))
        write_atomically(folder / "README.md", _card(pictures).encode())
        write_atomically(folder / HEADER, orjson.dumps(pictures.header, option=orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise file_error("write", folder, error) from None
    return paths


def import_set(folder: Path, out: Path) -> PictureSet:
    """Write the set that was exported to a folder into another one."""
    arrow = _arrow()
    header = exported_header(folder)
    with removed_if_bad(out):
        writer = PictureSetWriter(out, replace(header, entries=0, sha256=""))
        try:
            for row in _rows(arrow, folder):
                _add(writer, row)
        except (arrow.ArrowException, orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise BadFile(f"{str(folder)!r} is not an exported picture set: {error}.") from None
        imported = open_set(writer.finish())
        if imported.header.sha256 != header.sha256:
            raise BadFile(f"{str(folder)!r} was changed after its export: the rows do not fit {HEADER}.")
    return imported


def _add(writer: PictureSetWriter, row: dict[str, Any]) -> None:
    files = {role: value["bytes"] for role, value in row.items() if role not in _TEXTS and value is not None}
    scene, changes = orjson.loads(row["scene"]), orjson.loads(row["changes"])
    writer.add(row["id"], files, scene=scene, changes=changes, licence=row["licence"])


def exported_header(folder: Path) -> Header:
    path = folder / HEADER
    try:
        if path.stat().st_size > _MAX_HEADER:
            raise BadFile(f"{str(path)!r} is larger than {_MAX_HEADER:,} bytes.")
        return read_header(path.read_bytes())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadFile(f"{str(folder)!r} is not an exported picture set: {HEADER}: {reason}.") from None
    except BadFile as error:
        raise BadFile(f"{str(path)!r}: {str(error).removesuffix('.')}.") from None


def _rows(arrow: Any, folder: Path) -> Iterator[dict[str, Any]]:
    paths = sorted((folder / "data").glob("train-*.parquet"))
    if not paths:
        raise BadFile(f"{str(folder)!r} has no data/train-*.parquet.")
    for path in paths:
        with arrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROW_GROUP):
                yield from batch.to_pylist()


def _table(arrow: Any, pictures: PictureSet, entries: Sequence[Entry], roles: Sequence[str]) -> Any:
    columns: dict[str, list[Any]] = {name: [] for name in (*_TEXTS, *roles)}
    for entry in entries:
        columns["id"].append(entry.id)
        columns["scene"].append(orjson.dumps(entry.scene).decode())
        columns["changes"].append(orjson.dumps(entry.changes).decode())
        columns["licence"].append(entry.licence)
        for role in roles:
            file = entry.files.get(role)
            data = file and {
                "bytes": pictures.picture(entry, role).encoded()[0],
                "path": Path(file.name).name,
            }
            columns[role].append(data)
    return arrow.table(columns, schema=_schema(arrow, roles))


def _schema(arrow: Any, roles: Sequence[str]) -> Any:
    image = arrow.struct({"bytes": arrow.binary(), "path": arrow.string()})
    features = {name: {"dtype": "string", "_type": "Value"} for name in _TEXTS}
    features |= {role: {"_type": "Image"} for role in roles}
    fields = [(name, arrow.string()) for name in _TEXTS] + [(role, image) for role in roles]
    return arrow.schema(fields, {"huggingface": json.dumps({"info": {"features": features}})})


def _card(pictures: PictureSet) -> str:
    header = pictures.header
    return (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: data/train-*\n"
        f"---\n\n# {header.name}\n\n"
        f"A picture set of Ludens: {header.entries} entries of kind {header.kind}, made by "
        f"{header.generator} {header.version}. `scene` and `changes` are JSON. "
        "`ludens data import FOLDER` restores the set.\n"
    )


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading or writing Parquet", "data") from None
    return pyarrow
