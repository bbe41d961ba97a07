"""Pictures: what an agent is shown, as pixels, as an encoded file and as a short hash of the pixels."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from ludens.core.errors import BadFile, BadOption
from ludens.draw import fonts
from ludens.draw.bands import Band, FilePart, join_bands, png_parts, split_bands
from ludens.draw.palette import Pixels, nearest_indices

MAX_PIXELS = 1 << 26
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_KEPT_FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg"}
_KEPT_MODES = ("1", "L", "P", "RGB")
_ORIENTATION = 0x0112
_JPEG_QUALITY = 90
_GREY = 128
_GAP = 8
_PAPER, _INK = 255, 30


class _Split(NamedTuple):
    """A palette picture in bands of rows."""

    bands: Sequence[Band]
    palette: Pixels
    digests: Callable[[], bytes]
    """Those of each `ROWS` rows."""


class Picture:
    """An immutable image. It holds its pixels or bands until it is encoded, and the file from then on.

    Args:
        pixels: Palette indices, shape (height, width), or true colours, shape (height, width, 3). Copied
            unless read-only.
        palette: Colours, shape (n, 3) with n at most 256; None for true colours. Every index must be below n.
    """

    width: int
    height: int
    _decoded: tuple[Pixels, Pixels | None] | None
    _encoded: tuple[bytes, str] | None
    _bands: _Split | None

    def __init__(self, pixels: Pixels, palette: Pixels | None = None) -> None:
        pixels = pixels.copy() if pixels.flags.writeable else np.ascontiguousarray(pixels)
        pixels.setflags(write=False)
        self.height, self.width = pixels.shape[:2]
        self._decoded, self._encoded, self._bands = (pixels, palette), None, None

    @staticmethod
    def of_bands(bands: Sequence[Band], palette: Pixels, digests: Callable[[], bytes]) -> Picture:
        """The palette picture with these bands of rows, from the top.

        Args:
            bands: Of any numbers of rows.
            palette: Colours, shape (n, 3).
            digests: The digests that the hash is made of, joined: one for each `bands.ROWS` rows.
        """
        picture = object.__new__(Picture)
        picture.width, picture.height = bands[0].width, sum([band.rows for band in bands])
        picture._decoded, picture._encoded, picture._bands = None, None, _Split(bands, palette, digests)
        return picture

    def __getstate__(self) -> dict[str, object]:
        """What another process is sent: bands and what is known of them belong to this one."""
        decoded, split = self._decoded, self._bands
        if split is not None and decoded is None:
            decoded = join_bands(split.bands), split.palette
        return {**vars(self), "_decoded": decoded, "_bands": None}

    @staticmethod
    def from_bytes(data: bytes) -> Picture:
        """The picture in a PNG, JPEG, WebP or GIF file.

        PNG and JPEG files are kept as they are and decoded when their pixels are needed. Files with
        transparency (put on white), CMYK colours, a rotation or several frames are decoded to RGB at once.
        """
        try:
            with _open(data) as image:
                if image.width * image.height > MAX_PIXELS:
                    size = f"{image.width} by {image.height}"
                    raise BadFile(f"a picture of {size} pixels is too large: {MAX_PIXELS:,} are allowed.")
                if not _is_kept(image):
                    return Picture(*_pixels(image))
                picture = object.__new__(Picture)
                picture.width, picture.height = image.size
                picture._decoded, picture._bands = None, None
                picture._encoded = data, _KEPT_FORMATS[str(image.format)]
                return picture
        except BadFile:
            raise
        except Exception as error:
            raise _unreadable(error) from error

    def _decode(self) -> tuple[Pixels, Pixels | None]:
        if (decoded := self._decoded) is not None:
            return decoded
        if (split := self._bands) is not None:
            decoded = self._decoded = join_bands(split.bands), split.palette
            return decoded
        assert self._encoded is not None
        try:
            with _open(self._encoded[0]) as image:
                return _pixels(image)
        except Exception as error:
            raise _unreadable(error) from error

    @property
    def pixels(self) -> Pixels:
        """Read-only palette indices, shape (height, width), or true colours, shape (height, width, 3)."""
        return self._decode()[0]

    @property
    def palette(self) -> Pixels | None:
        """Colours, shape (n, 3); None for a true-colour picture."""
        return self._decode()[1]

    @cached_property
    def hash(self) -> str:
        """16 hex digits of SHA-256 over size, palette and pixels, independent of the file's encoding.

        Of a palette picture, each `bands.ROWS` rows count by their own digest.
        """
        split = self._split()
        if isinstance(split, np.ndarray):
            return self._hash(None, split.data)
        return self._hash(split.palette, split.digests())

    def matches(self, recorded: str) -> bool:
        """Whether this is the picture whose hash an episode recorded.

        Earlier versions hashed all pixels of a palette picture at once.
        """
        if recorded == self.hash:
            return True
        pixels, palette = self._decode()
        return recorded == self._hash(palette, pixels.data)

    def _hash(self, palette: Pixels | None, content: bytes | memoryview) -> str:
        """16 hex digits of SHA-256 over the size, the palette and what stands for the pixels."""
        colours = b"" if palette is None else palette.tobytes()
        digest = sha256(struct.pack("<III", self.width, self.height, len(colours)) + colours)
        digest.update(content)
        return digest.hexdigest()[:16]

    def _split(self) -> _Split | Pixels:
        """Bands of rows and their palette; of a true-colour picture, its pixels."""
        if (split := self._bands) is not None:
            return split
        pixels, palette = self._decode()
        if palette is None:
            return pixels
        bands = split_bands(pixels)
        split = _Split(bands, palette, lambda: b"".join([band.digest for band in bands]))
        if self._decoded is not None:
            self._bands = split
        return split

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def encoded(self) -> tuple[bytes, str]:
        """An image file and its MIME type: the original file where the picture came from one, else a PNG."""
        if self._encoded is None:
            self._encode()
        assert self._encoded is not None
        return self._encoded

    def _encode(self) -> Sequence[FilePart]:
        """Write the file and hold it instead of the pixels; returns its parts."""
        _ = self.hash  # the pixels are at hand now
        parts = self._parts()
        self._encoded = b"".join([part.data for part in parts]), "image/png"
        # the file is about 15 times smaller, and many pictures may be held at once
        self._decoded = self._bands = None
        return parts

    def data_uri(self) -> str:
        """`data:image/...;base64,...` of the encoded file, as chat APIs take it."""
        if self._encoded is None:
            return "".join(["data:image/png;base64,", *[part.base64 for part in self._encode()]])
        data, mime = self._encoded
        return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"

    def png(self, fast: bool | None = None) -> bytes:
        """The picture as a PNG file.

        Args:
            fast: True for isal, False for zlib, None for isal where it is installed. The pixels are the same
                with both, the bytes are not.
        """
        if fast is None and self.encoded()[1] == "image/png":
            return self.encoded()[0]
        return b"".join([part.data for part in self._parts(fast)])

    def _parts(self, fast: bool | None = None) -> Sequence[FilePart]:
        """The parts of a PNG file."""
        split = self._split()
        if isinstance(split, np.ndarray):
            out = io.BytesIO()
            Image.fromarray(split).save(out, "PNG", compress_level=1)
            return [FilePart(out.getvalue())]
        return png_parts(split.bands, split.palette.tobytes(), fast)

    def jpeg(self) -> bytes:
        """The picture as a JPEG file."""
        if self._encoded is not None and self._encoded[1] == "image/jpeg":
            return self._encoded[0]
        out = io.BytesIO()
        Image.fromarray(self.rgb()).save(out, "JPEG", quality=_JPEG_QUALITY)
        return out.getvalue()

    def rgb(self) -> Pixels:
        """Read-only true-colour pixels, shape (height, width, 3)."""
        pixels, palette = self._decode()
        if palette is None:
            return pixels
        return np.asarray(_with_palette(pixels, palette).convert("RGB"))  # much faster than `palette[pixels]`

    def image(self) -> Image.Image:
        """The picture as a Pillow image, of mode "P" or "RGB"."""
        pixels, palette = self._decode()
        return Image.fromarray(pixels) if palette is None else _with_palette(pixels, palette)

    def blank(self) -> Picture:
        """A flat grey picture of the same size: the blind control."""
        return Picture(np.zeros((self.height, self.width), np.uint8), np.full((1, 3), _GREY, np.uint8))

    def within(self, px: int) -> Picture:
        """The picture itself where its longer side has at most `px` pixels, else scaled to that."""
        return self if max(self.width, self.height) <= px else self.resized(px)

    def resized(self, px: int) -> Picture:
        """The picture scaled smoothly, in true colour, so that its longer side is `px`."""
        longest = max(self.width, self.height)
        size = max(1, round(self.width * px / longest)), max(1, round(self.height * px / longest))
        return Picture(np.array(Image.fromarray(self.rgb()).resize(size, Image.Resampling.LANCZOS)))


def _with_palette(pixels: Pixels, palette: Pixels) -> Image.Image:
    image = Image.fromarray(pixels)
    image.putpalette(palette.tobytes())
    return image


def _open(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=_FORMATS)


def _unreadable(error: Exception) -> BadFile:
    reason = "" if isinstance(error, UnidentifiedImageError) else f": {str(error).removesuffix('.')}"
    return BadFile(f"not a readable PNG, JPEG, WebP or GIF file{reason}.")


def _is_kept(image: Image.Image) -> bool:
    """Whether every reader shows this file the same way, so that it need not be encoded again."""
    rotated = "exif" in image.info and image.getexif().get(_ORIENTATION, 1) != 1
    several = getattr(image, "n_frames", 1) > 1
    return (
        image.format in _KEPT_FORMATS
        and image.mode in _KEPT_MODES
        and not (rotated or several or "transparency" in image.info)
    )


def _pixels(image: Image.Image) -> tuple[Pixels, Pixels | None]:
    """The pixels of a Pillow image, upright and on white, with its palette where it has one."""
    if "exif" in image.info:
        image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    elif image.mode == "P":
        pixels = np.asarray(image)
        palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
        if len(palette) > int(pixels.max(initial=0)):
            return pixels, palette
    return np.asarray(image.convert("RGB")), None


def strip(
    pictures: Sequence[Picture], columns: int | None = None, captions: Sequence[str] | None = None
) -> Picture:
    """Pictures side by side on white, in reading order, each under its caption.

    The result keeps the palette where all pictures share one, and is a true-colour picture otherwise.
    """
    if not pictures:
        raise BadOption("a strip needs at least one picture.")
    if captions is not None and len(captions) != len(pictures):
        raise BadOption(f"a strip of {len(pictures)} pictures cannot have {len(captions)} captions.")
    across = min(len(pictures), max(1, columns or len(pictures)))
    down = -(-len(pictures) // across)
    width, height = max(p.width for p in pictures), max(p.height for p in pictures)
    px = max(11, width // 26)
    head = round(px * 1.5) if captions is not None else 0
    size = down * (height + head + _GAP) + _GAP, across * (width + _GAP) + _GAP
    rgb = np.full((*size, 3), _PAPER, np.uint8)
    for number, picture in enumerate(pictures):
        top, left = _GAP + number // across * (height + head + _GAP), _GAP + number % across * (width + _GAP)
        if captions is not None:
            line = _caption(captions[number], width, px)
            rgb[top : top + line.shape[0], left : left + width] = line
        top += head
        rgb[top : top + picture.height, left : left + picture.width] = picture.rgb()
    palettes = [picture.palette for picture in pictures]
    palette = palettes[0]
    if palette is not None and all(p is not None and np.array_equal(p, palette) for p in palettes):
        return Picture(nearest_indices(rgb, palette), palette)
    return Picture(rgb)


def _caption(string: str, width: int, px: int) -> Pixels:
    """Dark text on white as RGB, `width` wide."""
    mask = fonts.mask(fonts.fit(string, width, px, True), px, True)[:, :width].astype(np.int32)
    grey = (_PAPER * (255 - mask) + _INK * mask + 127) // 255
    out = np.full((mask.shape[0], width, 3), _PAPER, np.uint8)
    out[:, : mask.shape[1]] = grey[..., None]
    return out


def animate(pictures: Sequence[Picture], ms: int = 600) -> bytes:
    """The pictures as an endless GIF, each shown for `ms` milliseconds."""
    if not pictures:
        raise BadOption("an animation needs at least one picture.")
    if len({(p.width, p.height) for p in pictures}) > 1:
        raise BadOption("the pictures of an animation must all have one size.")
    images = [p.image() for p in pictures]
    out = io.BytesIO()
    images[0].save(out, "GIF", save_all=True, append_images=images[1:], duration=ms, loop=0, disposal=1)
    return out.getvalue()
