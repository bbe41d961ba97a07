"""Palette pictures in bands of rows: a band is hashed and compressed once and reused by later pictures.

Most rows of a picture are as they were a move ago, or in another episode of the same game.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import Generic, TypeVar

import numpy as np

from ludens.draw.palette import Pixels

try:
    from isal import isal_zlib
    from isal.isal_zlib import crc32 as _checksum
except ImportError:
    from zlib import crc32 as _checksum

    isal_zlib = None  # type: ignore[assignment]

ROWS = 32
"""Rows with a digest of their own; the last may be fewer. The hash of every picture depends on it."""
MAX_BYTES = 128 * 2**20
"""Pixels kept for later pictures: enough for 256 episodes in flight."""
MAX_DIGESTS = 2**16
"""Digests kept for later pictures, of about 300 bytes with their keys."""

V = TypeVar("V")

_ISAL_LEVEL, _ZLIB_LEVEL = 0, 1  # the fastest; isal's level 1 takes twice as long for files 25% smaller
_RAW_DEFLATE = -15
_ZLIB_HEADER, _EMPTY_BLOCK, _LAST_BLOCK = b"\x78\x01", b"\x00\x00\x00\xff\xff", b"\x03\x00"
_ADLER_BASE = 65521
_number = struct.Struct(">I").pack
_serials = count()


class FilePart:
    """A part of a file, of a multiple of three bytes: the Base64 of a file is that of its parts, joined.

    Attributes:
        adler: The Adler-32 checksum of the lines in it.
    """

    __slots__ = ("_base64", "adler", "data")

    def __init__(self, data: bytes, adler: int = 1) -> None:
        self.data, self.adler, self._base64 = data, adler, ""

    @property
    def base64(self) -> str:
        if not self._base64:
            self._base64 = b64encode(self.data).decode("ascii")
        return self._base64


class Band:
    """Some rows of a picture. Digest and compressed lines are computed when they are first needed."""

    __slots__ = ("_compressed", "_digest", "_tail", "pixels", "rows", "serial", "width")

    def __init__(self, pixels: bytes | memoryview, width: int) -> None:
        self.pixels, self.width, self.rows = pixels, width, len(pixels) // width
        self.serial = next(_serials)
        self._digest = b""
        self._tail: blake2b | None = None
        self._compressed: dict[bool, FilePart] = {}

    @property
    def array(self) -> Pixels:
        return np.frombuffer(self.pixels, np.uint8).reshape(self.rows, self.width)

    @property
    def digest(self) -> bytes:
        if not self._digest:
            self._digest = hasher(self.pixels).digest()
        return self._digest

    def tail(self, start: int) -> blake2b:
        """A hasher of the pixels from `start` on, always the same; copied before others are added."""
        if self._tail is None:
            self._tail = hasher(self.pixels[start:])
        return self._tail

    def compressed(self, fast: bool) -> FilePart:
        """The lines as deflate blocks that refer to no other band.

        Args:
            fast: True for isal, False for zlib.
        """
        if fast not in self._compressed:
            lines = np.zeros((self.rows, self.width + 1), np.uint8)  # a line begins with its filter: none
            lines[:, 1:] = self.array
            library = isal_zlib if fast else zlib
            deflate = library.compressobj(_ISAL_LEVEL if fast else _ZLIB_LEVEL, zlib.DEFLATED, _RAW_DEFLATE)
            blocks = deflate.compress(lines.data) + deflate.flush(zlib.Z_FULL_FLUSH)
            self._compressed[fast] = FilePart(_image_data(blocks), library.adler32(lines.data))
        return self._compressed[fast]


def hasher(pixels: bytes | memoryview) -> blake2b:
    """BLAKE2b of pixels: SHA-256 is slow on processors without an instruction for it."""
    return blake2b(pixels, digest_size=32)


class Cache(Generic[V]):
    """Values by a key of what they show; those that were not used lately are dropped.

    Args:
        limit: Most that all values measure together.
        measure: The size of a value.
    """

    def __init__(self, limit: int, measure: Callable[[V], int]) -> None:
        self._limit, self._measure = limit, measure
        self._recent: dict[Hashable, V] = {}
        self._older: dict[Hashable, V] = {}
        self._size = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> V | None:
        value = self._recent.get(key)
        if value is None:
            value = self._older.get(key)
            if value is not None:
                self.add(key, value)
        return value

    def add(self, key: Hashable, value: V) -> V:
        size = self._measure(value)
        with self._lock:
            self._size += size
            if self._size > self._limit // 2:
                self._older, self._recent, self._size = self._recent, {}, size
            self._recent[key] = value
        return value


band_cache: Cache[Band] = Cache(MAX_BYTES, lambda band: len(band.pixels))
digest_cache: Cache[bytes] = Cache(MAX_DIGESTS, lambda digest: 1)


def split_bands(pixels: Pixels) -> Sequence[Band]:
    """The bands of a palette picture, from the top."""
    height, width = pixels.shape
    return [_band(pixels[top : top + ROWS].tobytes(), width) for top in range(0, height, ROWS)]


def join_bands(bands: Sequence[Band]) -> Pixels:
    """The pixels of a palette picture, read-only."""
    return np.frombuffer(b"".join([band.pixels for band in bands]), np.uint8).reshape(-1, bands[0].width)


def _band(pixels: bytes, width: int) -> Band:
    """The band of these pixels; pixels are compared, so equal checksums do no harm."""
    key = len(pixels), width, _checksum(pixels)
    band = band_cache.get(key)
    if band is None or band.pixels != pixels:
        band = band_cache.add(key, Band(pixels, width))
    return band


def has_isal() -> bool:
    """Whether the fast deflate library is installed."""
    return isal_zlib is not None


def png_parts(bands: Sequence[Band], palette: bytes, fast: bool | None = None) -> Sequence[FilePart]:
    """The parts of a palette PNG without filters, which drawn pictures do not need.

    Args:
        bands: All rows of the picture.
        palette: The colours, three bytes each.
        fast: True for isal, False for zlib, None for isal where it is installed.
    """
    use_isal = fast is not False and isal_zlib is not None
    low, high, height, width, parts = 1, 0, 0, bands[0].width, []
    for band in bands:
        parts.append(part := band.compressed(use_isal))
        # as if all lines were checked at once
        high += (part.adler >> 16) + (width + 1) * band.rows * (low - 1)
        low += (part.adler & 0xFFFF) - 1
        height += band.rows
    checksum = struct.pack(">HH", high % _ADLER_BASE, low % _ADLER_BASE)
    end = FilePart(_image_data(_LAST_BLOCK + checksum) + _chunk(b"IEND", b""))
    return [_png_start(width, height, palette), *parts, end]


@lru_cache(maxsize=64)
def _png_start(width: int, height: int, palette: bytes) -> FilePart:
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
    colours = _chunk(b"PLTE", palette)
    return FilePart(b"\x89PNG\r\n\x1a\n" + header + colours + _image_data(_ZLIB_HEADER))


def _image_data(body: bytes) -> bytes:
    """An IDAT chunk of a multiple of three bytes."""
    return _chunk(b"IDAT", body + _EMPTY_BLOCK * (len(body) % 3))


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = _checksum(body, _checksum(kind))
    return b"".join((_number(len(body)), kind, body, _number(checksum)))
