"""Several pictures as one: frame strips for memory and reports, GIFs for people."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludens.core.errors import BadOption
from ludens.draw.palette import nearest_indices
from ludens.draw.picture import FilePicture, Picture

_GAP = 8
_PAPER, _INK = 255, 30


def _caption(string: str, width: int, px: int) -> NDArray[np.uint8]:
    """Dark text on white as RGB, `width` wide."""
    from ludens.draw import fonts

    mask = fonts.mask(fonts.fit(string, width, px, True), px, True)[:, :width].astype(np.int32)
    grey = (_PAPER * (255 - mask) + _INK * mask + 127) // 255
    out = np.full((mask.shape[0], width, 3), _PAPER, np.uint8)
    out[:, : mask.shape[1]] = grey[..., None]
    return out


def _shared(pictures: Sequence[Picture]) -> bool:
    first = pictures[0].palette
    return len(first) > 0 and all(
        len(p.palette) == len(first) and (p.palette == first).all() for p in pictures
    )


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
    if _shared(pictures):
        return Picture(nearest_indices(rgb, pictures[0].palette), pictures[0].palette)
    return FilePicture(rgb)


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
