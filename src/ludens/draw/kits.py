"""The kit: palette, sprites and canvases for one theme and one picture size. Views hold one and draw with it.

Coordinates are pixels, with (0, 0) at the top left. To be independent of the picture's size, think of it as
512 units wide and convert with `kit.px(units)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ludens.draw.canvas import Canvas
from ludens.draw.props import Props
from ludens.draw.themes import theme
from ludens.draw.tokens import Tokens


class Kit(Tokens, Props):
    """What a view draws with.

    Args:
        theme: The look.
        size: Side of the picture in pixels, 256 to 1024.
        inks: Colours that will be drawn with. Declaring the few a view needs makes smoother edges, since the
            palette has only 256 entries; colours outside the list still work.
        grounds: Colours that will be drawn upon.
    """

    def canvas(self, ground: str = "page", width: int | None = None, height: int | None = None) -> Canvas:
        """A fresh canvas, `size` by `size` unless said otherwise."""
        return Canvas(self, ground, width or self.size, height or self.size)


@lru_cache(maxsize=64)
def _kit(
    name: str, size: int, seed: int, inks: tuple[str, ...] | None, grounds: tuple[str, ...] | None
) -> Kit:
    return Kit(theme(name, seed), size, inks, grounds)


def kit(
    theme_name: str = "classic",
    size: int = 512,
    seed: int = 0,
    inks: Sequence[str] | None = None,
    grounds: Sequence[str] | None = None,
) -> Kit:
    """The shared kit of a theme and size; the 64 used last stay ready for episodes running side by side."""
    seed = seed if theme_name == "random" else 0
    return _kit(theme_name, size, seed, inks and tuple(inks), grounds and tuple(grounds))
