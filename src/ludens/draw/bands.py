"""Pictures in bands of rows. Most of a picture is as it was a move ago, or in another episode: what a band's
pixels hash to and deflate to is worked out once and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ludens.draw.shelves import Shelves

ROWS = 32
"""Rows of a band; the last band of a picture may have fewer. Every picture's hash depends on this number."""
KEPT_BYTES = 48 * 2**20


class Part(NamedTuple):
    """A piece of a PNG."""

    chunk: bytes
    """A whole IDAT chunk."""
    adler: int
    """The checksum of what is deflated in it."""
    rows: int


class Band:
    """Some rows of a picture: their digest and their part of a PNG, once they are wanted."""

    __slots__ = ("_digest", "height", "parts", "pixels", "width")

    def __init__(self, width: int, pixels: bytes) -> None:
        self.width, self.height, self.pixels = width, len(pixels) // width, pixels
        self._digest = b""
        self.parts: dict[bool, Part] = {}
        """By encoder (isal or not): what it was deflated to by itself."""

    @property
    def digest(self) -> bytes:
        """SHA-256 of the pixels."""
        if not self._digest:
            self._digest = sha256(self.pixels).digest()
        return self._digest


_KEPT: Shelves[tuple[int, bytes], Band] = Shelves(KEPT_BYTES)


def cut(pixels: NDArray[np.uint8]) -> Sequence[Band]:
    """The bands of a palette picture, top first; those seen lately are not made again."""
    return [one(pixels[top : top + ROWS]) for top in range(0, len(pixels), ROWS)]


def one(rows: NDArray[np.uint8]) -> Band:
    """The band of these rows."""
    key = (rows.shape[1], rows.tobytes())
    return _KEPT.get(key, rows.size) or _KEPT.put(key, Band(*key), rows.size)


def joined(bands: Sequence[Band]) -> NDArray[np.uint8]:
    """The pixels of a picture again, not to be written on."""
    return np.frombuffer(b"".join([band.pixels for band in bands]), np.uint8).reshape(-1, bands[0].width)
