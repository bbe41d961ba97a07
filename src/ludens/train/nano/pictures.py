"""Pictures at the size of a small model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludens.core.view import Picture

GREY = 127


def shrink(picture: Picture | None, side: int) -> np.ndarray[Any, Any]:
    """A picture as bytes, (3, side, side), by averaging; grey where there is none."""
    if picture is None:
        return np.full((3, side, side), GREY, np.uint8)
    pixels = np.asarray(picture.rgb())
    height, width = pixels.shape[:2]
    if height % side or width % side:
        from PIL import Image

        pixels = np.asarray(Image.fromarray(pixels).resize((side, side), Image.Resampling.BOX))
    elif (height, width) != (side, side):
        blocks = pixels.reshape(side, height // side, side, width // side, 3)
        pixels = (blocks.mean((1, 3), dtype=np.float32) + 0.5).astype(np.uint8)
    return np.ascontiguousarray(pixels.transpose(2, 0, 1))
