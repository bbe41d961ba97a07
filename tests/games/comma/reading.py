"""Reading a panel's picture: its PNG as pixels, and which of our own sprites fits best at a place."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ludens.core.state import State
from ludens.core.view import View
from ludens.draw import Sprite, SpriteSheet

Pixels = NDArray[np.int16]
T = TypeVar("T")


def pixels(view: View, state: State) -> Pixels:
    """What the Solver sees, as RGB, by way of the PNG."""
    with Image.open(BytesIO(view.image(state, "solver").png())) as image:
        return np.array(image.convert("RGB"), np.int16)


class Known(Generic[T]):
    """Sprites of one size, each of which stands for something."""

    def __init__(self, sheet: SpriteSheet, sprites: Mapping[T, Sprite]) -> None:
        self.names = list(sprites)
        self.colours = sheet.palette.colours[np.stack(list(sprites.values()))].astype(np.int16)
        self.height, self.width = self.colours.shape[1:3]

    def at(self, seen: Pixels, x: int, y: int) -> T:
        """What fits best with its upper left corner at this place."""
        there = seen[y : y + self.height, x : x + self.width]
        return self.names[int(np.abs(self.colours - there).sum((1, 2, 3), dtype=np.int64).argmin())]

    def around(self, seen: Pixels, x: int, y: int) -> T:
        """What fits best with its middle at this place."""
        return self.at(seen, x - self.width // 2, y - self.height // 2)


def best(seen: Pixels, sheet: SpriteSheet, sprites: Mapping[T, Sprite], x: int, y: int) -> T:
    """Which sprite, of whatever size, fits best with its upper left corner at this place."""
    misfits: dict[T, float] = {}
    for name, sprite in sprites.items():
        h, w = sprite.shape
        there = seen[y : y + h, x : x + w]
        misfits[name] = float(np.abs(there - sheet.palette.colours[sprite].astype(np.int16)).mean())
    return min(misfits, key=lambda name: misfits[name])


def best_centred(seen: Pixels, sheet: SpriteSheet, sprites: Mapping[T, Sprite], x: int, y: int) -> T:
    """Which sprite fits best with its middle at this place; all of one size."""
    return Known(sheet, sprites).around(seen, x, y)
