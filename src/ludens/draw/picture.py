"""Finished pictures: what an agent is shown, as bytes, as a data URI and as a short hash of the pixels."""

from __future__ import annotations

import base64
import io
import struct
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ludens.core.errors import BadFile, BadOption
from ludens.draw import png
from ludens.draw.bands import Band, cut, joined

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]

LARGEST_SIDE = 8192
_GREY = 128
_NO_PALETTE = np.zeros((0, 3), np.uint8)


class Picture:
    """A palette picture. It keeps what it was made of: drawing on those pixels afterwards does not change it.

    Args:
        pixels: Palette indices, shape (height, width).
        palette: Colours, shape (n, 3).
    """

    def __init__(self, pixels: Bytes, palette: Bytes) -> None:
        self._pixels: Bytes | None = pixels.copy()
        self._pixels.setflags(write=False)
        self._bands: Sequence[Band] = ()
        self.palette = palette
        self.height, self.width = pixels.shape[:2]

    @staticmethod
    def of(bands: Sequence[Band], palette: Bytes) -> Picture:
        """The palette picture that these bands make."""
        picture = object.__new__(Picture)
        picture._pixels, picture._bands, picture.palette = None, bands, palette
        picture.height, picture.width = sum(band.height for band in bands), bands[0].width
        return picture

    @property
    def pixels(self) -> Bytes:
        """Palette indices, shape (height, width), not to be written on."""
        if self._pixels is None:
            self._pixels = joined(self._bands)
        return self._pixels

    @property
    def bands(self) -> Sequence[Band]:
        """The same pixels in bands of rows."""
        if not self._bands:
            self._bands = cut(self.pixels)
            self._pixels = None  # bands are shared, and many pictures may be held at once
        return self._bands

    @cached_property
    def hash(self) -> str:
        """16 hex digits over size, palette and pixels; the PNG encoder has no say in it."""
        measures = struct.pack("<II", self.width, self.height)
        rows = b"".join([band.digest for band in self.bands])
        return sha256(measures + self.palette.tobytes() + rows).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and type(self) is type(other) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)

    def png(self, fast: bool | None = None, remember: bool = False) -> bytes:
        """The picture as a PNG file.

        Args:
            fast: See `ludens.draw.png.write`.
            remember: See `ludens.draw.png.assemble`.
        """
        if remember:
            return png.assemble(self.bands, self.palette, fast)
        return png.write(self.pixels, self.palette, fast)

    def jpeg(self, quality: int = 90) -> bytes:
        """The picture as a JPEG file."""
        out = io.BytesIO()
        self.image().convert("RGB").save(out, "JPEG", quality=quality)
        return out.getvalue()

    def data_uri(self, format: str = "png") -> str:
        """`data:image/...;base64,...` in format "png" or "jpeg", as chat APIs take it."""
        if format not in ("png", "jpeg"):
            raise BadOption(f"a picture can be png or jpeg, not {format!r}.")
        body = base64.b64encode(self.png(remember=True) if format == "png" else self.jpeg())
        return (b"data:image/%b;base64,%b" % (format.encode(), body)).decode("ascii")

    def rgb(self) -> Bytes:
        """True-colour pixels, shape (height, width, 3)."""
        return self.palette[self.pixels]

    def image(self) -> Image:
        """The picture as a Pillow image."""
        from PIL import Image

        image = Image.fromarray(self.pixels)
        image.putpalette(self.palette.tobytes())
        return image

    def blank(self) -> Picture:
        """A flat grey picture of the same size: the blind control."""
        grey = np.full((1, 3), _GREY, np.uint8)
        return Picture(np.zeros((self.height, self.width), np.uint8), grey)

    def resized(self, px: int) -> Picture:
        """The picture scaled (smoothly, in true colour) so that its longer side is `px`."""
        from PIL import Image

        longest = max(self.width, self.height)
        size = max(1, round(self.width * px / longest)), max(1, round(self.height * px / longest))
        return FilePicture.from_colours(self.image().convert("RGB").resize(size, Image.Resampling.LANCZOS))

    @staticmethod
    def from_png(data: bytes) -> Picture:
        """The picture in a file's bytes (PNG, JPEG, WebP or GIF): untrusted, so bounded and checked."""
        from PIL import Image

        try:
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF")) as image:
                if max(image.size) > LARGEST_SIDE:
                    raise BadFile(
                        f"a picture may be {LARGEST_SIDE} pixels wide and high at most, not {image.size}."
                    )
                return Picture.from_image(image)
        except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
            raise BadFile(f"this is not a picture that can be read: {error}.") from error

    @staticmethod
    def from_image(image: Image) -> Picture:
        """A Pillow image as a picture: palette images keep their palette, others become a `FilePicture`."""
        if image.mode == "P" and "transparency" not in image.info:
            palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
            pixels = np.array(image, np.uint8)
            if len(palette) > int(pixels.max(initial=0)):
                return Picture(pixels, palette)
        return FilePicture.from_colours(image)


class FilePicture(Picture):
    """A true-colour picture, mostly from a file.

    Args:
        pixels: Colours, shape (height, width, 3).
    """

    def __init__(self, pixels: Bytes) -> None:
        super().__init__(pixels, _NO_PALETTE)

    @property
    def bands(self) -> Sequence[Band]:
        """The same colours in bands of rows, each pixel three bytes wide."""
        return cut(self.pixels.reshape(self.height, -1))

    @staticmethod
    def from_colours(image: Image) -> FilePicture:
        """A Pillow image; transparent parts lie on white."""
        from PIL import Image

        if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
            layer = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        return FilePicture(np.array(image.convert("RGB"), np.uint8))

    def png(self, fast: bool | None = None, remember: bool = False) -> bytes:
        """The picture as a PNG file; what it is given is for palette pictures and ignored here."""
        out = io.BytesIO()
        self.image().save(out, "PNG", compress_level=1)
        return out.getvalue()

    def rgb(self) -> Bytes:
        """True-colour pixels, shape (height, width, 3)."""
        return self.pixels

    def image(self) -> Image:
        """The picture as a Pillow image."""
        from PIL import Image

        return Image.fromarray(self.pixels)
