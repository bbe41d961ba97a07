"""Tables of rows as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any, get_type_hints

from ludens.core.errors import MissingExtra

Types = Mapping[str, type]
"""Column to the type of its values: str, int, float or bool; every value may also be None."""


def types_of(row_class: type) -> dict[str, type]:
    """The columns of a dataclass whose fields are `T` or `T | None`."""
    hints = get_type_hints(row_class)
    return {f.name: getattr(hints[f.name], "__args__", (hints[f.name],))[0] for f in fields(row_class)}


def csv_bytes(types: Types, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """A header line and one line per row; None is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_csv_field(name) for name in types])
    writer.writerows([_csv_field(row[name]) for name in types] for row in rows)
    return out.getvalue().encode()


def _csv_field(value: Any) -> Any:
    """The value; text that a spreadsheet would execute as a formula gets an apostrophe before it.

    A number that is not known is an empty field.
    """
    if isinstance(value, float) and not isfinite(value):
        return None
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        try:
            float(value)
        except ValueError:
            return "'" + value
    return value


def parquet_bytes(types: Types, rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Typed columns; needs the extra `data`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing Parquet", "data") from None
    known = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    schema = pa.schema([(name, known[kind]) for name, kind in types.items()])
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), sink)
    written: bytes = sink.getvalue().to_pybytes()
    return written
