"""Weights as safetensors files, read and written without torch: float32, bfloat16 or int8.

A file is eight bytes with the length of the header, the header as JSON, and the numbers. In int8 every row of
a matrix has a scale of its own, stored as `NAME.scale`; vectors stay float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ludens.core.errors import BadFile, UnknownName

Array = np.ndarray[Any, Any]

DTYPES = ("float32", "bfloat16", "int8")
SCALE = ".scale"
_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "BF16": np.dtype("<u2"), "I8": np.dtype("i1")}
"""How numbers are stored; numpy has no bfloat16."""


def read_weights(file: Path) -> dict[str, Array]:
    """Every tensor of a file as float32."""
    try:
        stored = _tensors(file.read_bytes())
    except (OSError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFile(f"{file} is not a safetensors file of weights: {error}.") from None
    scales = {name: array for name, array in stored.items() if name.endswith(SCALE)}
    read = {}
    for name, array in stored.items():
        if name in scales:
            continue
        if array.dtype == np.int8:
            scale = scales.get(name + SCALE)
            if scale is None or scale.shape != array.shape[:1]:
                raise BadFile(f"{file} has no scale for each row of {name}.")
            array = array * scale.reshape(-1, *[1] * (array.ndim - 1))
        elif array.dtype == np.uint16:
            array = (array.astype(np.uint32) << 16).view(np.float32)
        read[name] = array
    return read


def _tensors(data: bytes) -> dict[str, Array]:
    length = int.from_bytes(data[:8], "little")
    if length > len(data) - 8:
        raise ValueError("it is too short")
    header, body = orjson.loads(data[8 : 8 + length]), memoryview(data)[8 + length :]
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] not in _STORED:
            raise ValueError(f"{name} is {entry['dtype']}, which is not one of {', '.join(_STORED)}")
        begin, end = entry["data_offsets"]
        if not 0 <= begin <= end <= len(body) or min(entry["shape"], default=0) < 0:
            raise ValueError(f"{name} lies outside the file")
        tensors[name] = np.frombuffer(body[begin:end], _STORED[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def packed(weights: Mapping[str, Array], dtype: str) -> bytes:
    """A file of float32 tensors in this number format, rounded to the nearest."""
    if dtype not in DTYPES:
        raise UnknownName("number format", dtype, DTYPES)
    stored: dict[str, tuple[str, Array]] = {}
    for name, array in weights.items():
        if dtype == "int8" and array.ndim > 1:
            numbers, scale = _int8(array)
            stored[name], stored[name + SCALE] = ("I8", numbers), ("F32", scale)
        elif dtype == "bfloat16":
            stored[name] = ("BF16", _bfloat16(array))
        else:
            stored[name] = ("F32", array)
    # Wide numbers first: every tensor then begins at a multiple of its own width.
    ordered = sorted(stored.items(), key=lambda item: (-item[1][1].itemsize, item[0]))
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (kind, array) in ordered:
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": (at, at + array.nbytes)}
        at += array.nbytes
    text = orjson.dumps(header)
    text += b" " * (-len(text) % 8)
    parts = [array.astype(_STORED[kind]).tobytes() for _, (kind, array) in ordered]
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _int8(array: Array) -> tuple[Array, Array]:
    """Whole numbers from -127 to 127, and the scale of each row."""
    rows = array.reshape(len(array), -1)
    largest = np.abs(rows).max(1, initial=0)
    scale = np.where(largest > 0, largest / np.float32(127), np.float32(1)).astype(np.float32)
    return np.rint(rows / scale[:, None]).astype(np.int8).reshape(array.shape), scale


def _bfloat16(array: Array) -> Array:
    """The upper half of each float32, rounded to the nearest, to even where two are as near."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
