"""Reading a panel's picture: its PNG as pixels, and which of our own sprites fits best at a place."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ludens.core.state import State
from ludens.core.view import View
from ludens.draw import Kit, Sprite

Pixels = NDArray[np.int32]
T = TypeVar("T")


def pixels(view: View, state: State) -> Pixels:
    """What the Solver sees, as RGB, by way of the PNG."""
    with Image.open(BytesIO(view.image(state, "solver").png())) as image:
        return np.array(image.convert("RGB"), np.int32)


def best(seen: Pixels, kit: Kit, sprites: Mapping[T, Sprite], x: int, y: int) -> T:
    """Which sprite fits best with its upper left corner at this place."""
    misfits: dict[T, float] = {}
    for name, sprite in sprites.items():
        h, w = sprite.shape
        there = seen[y : y + h, x : x + w]
        misfits[name] = float(np.abs(there - kit.palette.colours[sprite].astype(int)).mean())
    return min(misfits, key=lambda name: misfits[name])


def best_centred(seen: Pixels, kit: Kit, sprites: Mapping[T, Sprite], x: int, y: int) -> T:
    """Which sprite fits best with its middle at this place; all of one size."""
    h, w = next(iter(sprites.values())).shape
    return best(seen, kit, sprites, x - w // 2, y - h // 2)
