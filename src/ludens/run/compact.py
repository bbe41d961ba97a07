"""Puts the shards of a run into one Parquet file, `compact.parquet`, which is smaller.

Its columns are the fields of rows, for tools that read Parquet, and `line`: lines of the shards, unchanged.
The index then points there. When the run is resumed, new shards are written beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from ludens.core.errors import BadFile, MissingExtra
from ludens.core.files import LineFile, file_error
from ludens.run.index import INDEX, RowDict, RowReader, ShardLines, StaleIndex, header, seal
from ludens.run.lines import LINE, PARQUET, parquet_column, shards_of
from ludens.run.rows import EPISODES, EpisodeRow, RowMaker
from ludens.run.store import Store, read_plan
from ludens.run.verify import hash_run, index_hash, read_verified, write_verified

_GROUP = 1_000
"""Rows that are written, and read back, at once."""
_TEXTS = ("key", "entrant", "task", "game", "status", "error")
_INTEGERS = (
    "seed", "seating", "sample", "moves", "fallbacks", "retried", "replies", "illegal", "unreadable", "late",
    "truncated",
)  # fmt: skip
_JSON = ("returns", "usage", "other_usage", "values")


@dataclass(frozen=True)
class CompactResult:
    episodes: int
    before: int
    """Bytes of the shards."""
    after: int


def compact(folder: Path) -> CompactResult:
    """Replace the shards of a run by a Parquet file, once it has been read back and compared."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("compacting a run", "data") from None
    plan = read_plan(folder)
    maker = RowMaker.of(plan)
    with Store(folder, plan):
        pass  # the index is complete now, and workers of a process that was killed store nothing more
    with LineFile(folder / EPISODES):
        read = read_verified(folder)
        names = shards_of(folder)
        before = sum((folder / name).stat().st_size for name in names)
        reader, checksums = RowReader(folder, plan, maker), list[int]()
        partial, index = folder / f"{PARQUET}.part", folder / f"{INDEX}.part"
        try:
            with (
                pq.ParquetWriter(
                    partial, _schema(pa), compression="zstd", write_page_checksum=True
                ) as writer,
                index.open("wb") as lines,
            ):
                lines.write(header(plan, maker))
                for rows, raw_lines in _groups(folder, reader):
                    for row in rows:
                        place = {"shard": PARQUET, "offset": len(checksums), "length": 1}
                        checksums.append(row["checksum"])
                        row.pop("measured", None)
                        lines.write(orjson.dumps({**row, **place}, option=orjson.OPT_APPEND_NEWLINE))
                    writer.write_table(_table(pa, rows, raw_lines), row_group_size=_GROUP)
            with partial.open("rb") as file:
                os.fsync(file.fileno())
            after = partial.stat().st_size
            final = folder / PARQUET
            _compare(partial, checksums)
            partial.replace(final)
            for name in names:
                if name == EPISODES:
                    os.truncate(folder / name, 0)
                elif name != PARQUET:
                    (folder / name).unlink()
            with index.open("ab") as lines:
                lines.write(seal(folder))
            index.replace(folder / INDEX)
        except OSError as error:
            raise file_error("write into", folder, error) from None
        except StaleIndex:
            raise BadFile(f"{str(folder)!r} was changed meanwhile; try again.") from None
        finally:
            partial.unlink(missing_ok=True)
            index.unlink(missing_ok=True)
        if read is not None and read[1]:
            write_verified(folder, replace(read[0], hash=hash_run(folder), index=index_hash(folder)))
    return CompactResult(len(checksums), before, after)


def _groups(folder: Path, reader: RowReader) -> Iterator[tuple[list[RowDict], list[bytes]]]:
    rows, lines = list[RowDict](), list[bytes]()
    with ShardLines(folder) as shards:
        for row in reader.read():
            line = shards.of(row)
            if crc32(line) != row["checksum"]:
                raise StaleIndex
            rows.append(row)
            lines.append(line)
            if len(rows) == _GROUP:
                yield rows, lines
                rows, lines = [], []
    if rows:
        yield rows, lines


def _schema(pa: Any) -> Any:
    kinds = {**dict.fromkeys(_TEXTS, pa.string()), **dict.fromkeys(_INTEGERS, pa.int64())}
    kinds |= {"seconds": pa.float64(), **dict.fromkeys(_JSON, pa.string()), LINE: pa.binary()}
    return pa.schema(list(kinds.items()))


def _table(pa: Any, rows: Sequence[RowDict], lines: Sequence[bytes]) -> Any:
    bare = EpisodeRow("", "", "", 0, 0)
    columns: dict[str, list[Any]] = {
        name: [row.get(name, getattr(bare, name)) for row in rows]
        for name in (*_TEXTS, *_INTEGERS, "seconds")
    }
    for name in _JSON:
        columns[name] = [orjson.dumps(row[name]).decode() if name in row else None for row in rows]
    return pa.table({**columns, LINE: lines}, schema=_schema(pa))


def _compare(path: Path, checksums: Sequence[int]) -> None:
    """Raise an error unless the lines of the file have these checksums."""
    read = [crc32(line) for line in parquet_column(path, LINE)]
    if read != checksums:
        raise BadFile(f"{str(path)!r} does not contain what was written; the run is unchanged.")
