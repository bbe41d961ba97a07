"""Palette pictures in bands of rows: a band is hashed and compressed once and reused by later pictures.

Most rows of a picture are as they were a move ago, or in another episode of the same game.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Hashable, Sequence
from functools import lru_cache
from hashlib import blake2b
from threading import Lock

import numpy as np

from ludens.draw.palette import Pixels

try:
    from isal import isal_zlib
    from isal.isal_zlib import crc32 as _checksum
except ImportError:
    from zlib import crc32 as _checksum

    isal_zlib = None  # type: ignore[assignment]

ROWS = 32
"""Rows of a band; the last band of a picture may have fewer. The hash of every picture depends on it."""
MAX_BYTES = 128 * 2**20
"""Pixels kept for later pictures: enough for 256 episodes in flight. A band with two keys counts twice."""

_ISAL_LEVEL, _ZLIB_LEVEL = 0, 1  # the fastest; isal's level 1 takes twice as long for files 25% smaller
_RAW_DEFLATE = -15
_ZLIB_HEADER, _LAST_BLOCK = b"\x78\x01", b"\x03\x00"
_ADLER_BASE = 65521


class Band:
    """Some rows of a picture. Digest and compressed lines are computed when they are first needed."""

    __slots__ = ("_compressed", "_digest", "pixels", "rows", "width")

    def __init__(self, pixels: bytes, width: int) -> None:
        self.pixels, self.width, self.rows = pixels, width, len(pixels) // width
        self._digest = b""
        self._compressed: dict[bool, tuple[bytes, int]] = {}

    @property
    def digest(self) -> bytes:
        """BLAKE2b of the pixels: SHA-256 is slow on processors without an instruction for it."""
        if not self._digest:
            self._digest = blake2b(self.pixels, digest_size=32).digest()
        return self._digest

    def compressed(self, fast: bool) -> tuple[bytes, int]:
        """The lines as deflate blocks that refer to no other band, and their Adler-32 checksum.

        Args:
            fast: True for isal, False for zlib.
        """
        if fast not in self._compressed:
            lines = np.zeros((self.rows, self.width + 1), np.uint8)  # a line begins with its filter: none
            lines[:, 1:] = np.frombuffer(self.pixels, np.uint8).reshape(self.rows, self.width)
            library = isal_zlib if fast else zlib
            deflate = library.compressobj(_ISAL_LEVEL if fast else _ZLIB_LEVEL, zlib.DEFLATED, _RAW_DEFLATE)
            blocks = deflate.compress(lines.data) + deflate.flush(zlib.Z_FULL_FLUSH)
            self._compressed[fast] = blocks, library.adler32(lines.data)
        return self._compressed[fast]


class _BandCache:
    """Bands by a key of what they show; those that were not used lately are dropped."""

    def __init__(self) -> None:
        self._recent: dict[Hashable, Band] = {}
        self._older: dict[Hashable, Band] = {}
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: Hashable) -> Band | None:
        band = self._recent.get(key)
        if band is None:
            band = self._older.get(key)
            if band is not None:
                self.add(key, band)
        return band

    def add(self, key: Hashable, band: Band) -> Band:
        with self._lock:
            self._bytes += len(band.pixels)
            if self._bytes > MAX_BYTES // 2:
                self._older, self._recent, self._bytes = self._recent, {}, len(band.pixels)
            self._recent[key] = band
        return band


_cache = _BandCache()


def find_band(key: Hashable) -> Band | None:
    """The band that was kept with this key, unless it was dropped."""
    return _cache.get(key)


def keep_band(key: Hashable, pixels: bytes, width: int) -> Band:
    """The band of these pixels, kept for pictures that show the same by the same key."""
    return _cache.add(key, _band(pixels, width))


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
    band = _cache.get(key)
    if band is None or band.pixels != pixels:
        band = _cache.add(key, Band(pixels, width))
    return band


def has_isal() -> bool:
    """Whether the fast deflate library is installed."""
    return isal_zlib is not None


def write_png(bands: Sequence[Band], palette: bytes, fast: bool | None = None) -> bytes:
    """A palette PNG without filters, which drawn pictures do not need.

    Args:
        bands: All rows of the picture.
        palette: The colours, three bytes each.
        fast: True for isal, False for zlib, None for isal where it is installed.
    """
    use_isal = fast is not False and isal_zlib is not None
    low, high, height, width, data = 1, 0, 0, bands[0].width, [_ZLIB_HEADER]
    for band in bands:
        blocks, adler = band.compressed(use_isal)
        data.append(blocks)
        high += (adler >> 16) + (width + 1) * band.rows * (low - 1)  # as if all lines were checked at once
        low += (adler & 0xFFFF) - 1
        height += band.rows
    data += (_LAST_BLOCK, struct.pack(">HH", high % _ADLER_BASE, low % _ADLER_BASE))
    start, end = _png_start(width, height, palette), _chunk(b"IEND", b"")
    return b"".join([start, _chunk(b"IDAT", b"".join(data)), end])


@lru_cache(maxsize=64)
def _png_start(width: int, height: int, palette: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return b"%b%b%b%b" % (
        struct.pack(">I", len(body)),
        kind,
        body,
        struct.pack(">I", _checksum(body, _checksum(kind))),
    )
