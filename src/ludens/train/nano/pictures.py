"""Pictures at the size of a small model."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from ludens.core.view import Picture
from ludens.draw import Picture as Drawn

GREY = 127


def shrink(picture: Picture | None, side: int) -> np.ndarray[Any, Any]:
    """A picture as bytes, (3, side, side), by averaging; grey where there is none."""
    if picture is None:
        return np.full((3, side, side), GREY, np.uint8)
    image = picture.image() if isinstance(picture, Drawn) else Image.fromarray(picture.rgb())
    image = image.convert("RGB")
    if image.width % side or image.height % side:
        image = image.resize((side, side), Image.Resampling.BOX)
    else:
        image = image.reduce((image.width // side, image.height // side))
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))
