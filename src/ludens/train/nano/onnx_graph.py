"""Graphs of operators in the ONNX format, written without the package `onnx`: fields of protocol buffers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from ludens.train.nano.weights import Array

CONTRIBUTED = "com.microsoft"
"""The domain of operators that only onnxruntime has."""
IR, OPSET = 8, 17
_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "float16": 10}
FLOAT16, FLOAT32 = _TYPES["float16"], _TYPES["float32"]
Attribute = int | float | str | Sequence[int]


def _varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _before(number, len(data)) + data


def _before(number: int, size: int) -> bytes:
    """The beginning of a field with `size` bytes."""
    return _varint(number << 3 | 2) + _varint(size)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        data = _varint(2 << 3 | 5) + struct.pack("<f", value) + _field(20, 1)
    elif isinstance(value, int):
        data = _field(3, value) + _field(20, 2)
    elif isinstance(value, str):
        data = _field(4, value) + _field(20, 3)
    else:
        data = b"".join(_field(8, number) for number in value) + _field(20, 7)
    return _field(1, name) + data


def _tensor(name: str, array: Array) -> bytes:
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, _TYPES[array.dtype.name]) + _field(8, name) + _field(9, array.tobytes())


def _value(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    sizes = [_field(1, size) if isinstance(size, int) else _field(2, size) for size in shape]
    dims = b"".join(_field(1, size) for size in sizes)
    return _field(1, name) + _field(2, _field(1, _field(1, _TYPES[dtype]) + _field(2, dims)))


class Graph:
    """Operators in order; each method returns the name of the value that it adds."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._count = 0
        self._constants: dict[tuple[str, bytes], str] = {}

    def _name(self, text: str) -> str:
        self._count += 1
        return f"{text}_{self._count}"

    def input(self, name: str, dtype: str, shape: Sequence[int | str]) -> str:
        self._parts.append(_field(11, _value(name, dtype, shape)))
        return name

    def output(self, value: str, dtype: str, shape: Sequence[int | str]) -> None:
        self._parts.append(_field(12, _value(value, dtype, shape)))

    def constant(self, value: Any, dtype: str = "float32") -> str:
        array = np.asarray(value, dtype)
        key = f"{array.dtype.str} {array.shape}", sha256(array.tobytes()).digest()
        if key not in self._constants:
            self._constants[key] = self._name("constant")
            self._parts.append(_field(5, _tensor(self._constants[key], array)))
        return self._constants[key]

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Attribute) -> str:
        [name] = self.add_many(kind, 1, *inputs, domain=domain, **attributes)
        return name

    def add_many(
        self, kind: str, outputs: int, *inputs: str, domain: str = "", **attributes: Attribute
    ) -> list[str]:
        names = [self._name(kind) for _ in range(outputs)]
        self._parts.append(_field(1, self._node(kind, inputs, names, domain, attributes)))
        return names

    @staticmethod
    def _node(
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        domain: str,
        attributes: dict[str, Attribute],
    ) -> bytes:
        parts = [_field(1, name) for name in inputs] + [_field(2, name) for name in outputs]
        parts += [_field(4, kind), _field(7, domain)]
        parts += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        return b"".join(parts)

    def model(self) -> bytes:
        """The file, which onnxruntime reads from memory."""
        versions = [
            _field(1, domain) + _field(2, version) for domain, version in (("", OPSET), (CONTRIBUTED, 1))
        ]
        opsets = [_field(8, version) for version in versions]
        graph = [_field(2, "nano"), *self._parts]
        # Joined once: the weights are most of it.
        return b"".join([_field(1, IR), *opsets, _before(7, sum(map(len, graph))), *graph])
