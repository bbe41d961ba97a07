"""RGB colour arithmetic, and palettes: fixed tables of at most 256 colours.

A palette holds the named colours of a theme and blends between the inks and grounds that a view declares, for
anti-aliased edges. It never changes, so the pixels of a sprite do not depend on what was drawn before it.
Everything that decides a pixel is computed in integers, so that all machines agree.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

RGB = tuple[int, int, int]
Pixels = NDArray[np.uint8]

BLACK: RGB = (0, 0, 0)
WHITE: RGB = (255, 255, 255)

MIN_CONTRAST = 3.2
"""The least contrast of a shape with its ground: 3 by WCAG, and some more because edges are blended."""
OUTLINE_CONTRAST = 4.5
"""The same for a thin outline, most of whose pixels are blended."""

_MIN_DISTANCES = (24, 16, 10, 6)
_BLEND_LEVELS = ((1, 2), (1, 4), (3, 4), (1, 8), (3, 8), (5, 8), (7, 8))


def parse(text: str) -> RGB:
    """The colour of `#rrggbb`; raises ValueError on anything else."""
    if len(text) != 7 or text[0] != "#":
        raise ValueError(f"not a #rrggbb colour: {text!r}")
    value = int(text[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def hex_name(colour: RGB) -> str:
    """The name `#rrggbb` of a colour: what `parse` reads."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def mix(a: RGB, b: RGB, part: int, whole: int) -> RGB:
    """`a` moved `part/whole` of the way to `b`."""
    rest, half = whole - part, whole // 2
    return (
        (a[0] * rest + b[0] * part + half) // whole,
        (a[1] * rest + b[1] * part + half) // whole,
        (a[2] * rest + b[2] * part + half) // whole,
    )


_LINEAR = tuple((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in range(256))


def luminance(colour: RGB) -> float:
    """WCAG relative luminance, 0 (black) to 1 (white)."""
    red, green, blue = colour
    return 0.2126 * _LINEAR[red] + 0.7152 * _LINEAR[green] + 0.0722 * _LINEAR[blue]


def contrast(a: RGB, b: RGB) -> float:
    """WCAG contrast ratio, 1 (equal) to 21 (black on white); text needs 4.5."""
    first, second = luminance(a) + 0.05, luminance(b) + 0.05
    return first / second if first > second else second / first


def distance(a: RGB, b: RGB) -> int:
    """Perceived difference of two colours ("redmean"): 0 for equal, about 760 for black against white."""
    mean = (a[0] + b[0]) // 2
    red, green, blue = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    square = ((512 + mean) * red * red >> 8) + 4 * green * green + ((767 - mean) * blue * blue >> 8)
    return int(square**0.5)


def letter_on(fill: RGB) -> RGB:
    """Black or white, whichever has more contrast on `fill` (always above 4.5)."""
    return WHITE if contrast(WHITE, fill) >= contrast(BLACK, fill) else BLACK


@lru_cache(maxsize=8192)
def visible(colour: RGB, ground: RGB, least: float = MIN_CONTRAST) -> RGB:
    """The colour, moved towards black or white until it has the least contrast with the ground."""
    towards = letter_on(ground)
    steps = (mix(colour, towards, step, 20) for step in range(21))
    return next(moved for moved in steps if contrast(moved, ground) >= least)


@lru_cache(maxsize=8192)
def edge_of(fill: RGB, ground: RGB) -> RGB:
    """The outline colour of a fill: darker, or one that stands out where the fill itself does not."""
    edge = mix(fill, BLACK, 8, 20)
    return edge if contrast(fill, ground) >= MIN_CONTRAST else visible(edge, ground, OUTLINE_CONTRAST)


def shade(colour: RGB, hue: float = 0.0, saturation: float = 0.0, value: float = 0.0) -> RGB:
    """A colour with its hue rotated (in turns) and its saturation and value shifted and clipped."""
    h, s, v = colorsys.rgb_to_hsv(*(c / 255 for c in colour))
    s, v = min(1.0, max(0.0, s + saturation)), min(1.0, max(0.0, v + value))
    red, green, blue = (round(c * 255) for c in colorsys.hsv_to_rgb((h + hue) % 1.0, s, v))
    return red, green, blue


class Palette:
    """A fixed colour table with exact and nearest lookup.

    Args:
        theme: Every colour of the theme by name, with "ink", "muted", "page" and "panel" among them.
        inks: Colours that will be drawn with.
        grounds: Colours that will be drawn upon.
    """

    def __init__(self, theme: Mapping[str, RGB], inks: Sequence[RGB], grounds: Sequence[RGB]) -> None:
        entries = [*theme.values(), BLACK, WHITE, *inks, *grounds]
        for colour in (edge_of, visible):
            entries += [colour(ink, ground) for ink, ground in product(inks, grounds)]
        entries = list(dict.fromkeys(entries))[:256]
        pairs = _edge_pairs(theme, inks, grounds)
        blends = [mix(ink, ground, part, whole) for part, whole in _BLEND_LEVELS for ink, ground in pairs]
        entries += _distinct(entries, list(dict.fromkeys(blends)), 256 - len(entries))
        self._table = np.array(entries, np.int32)
        self.colours: Pixels = self._table.astype(np.uint8)
        self.colours.setflags(write=False)
        self._exact = {rgb: number for number, rgb in enumerate(entries)}

    def index(self, colour: RGB) -> int:
        """The entry of a colour, or the nearest there is."""
        index = self._exact.get(colour)
        return int(_nearest(np.array([colour], np.uint8), self._table)[0]) if index is None else index

    def quantise(self, rgb: Pixels) -> Pixels:
        """Palette indices of an RGB image of shape (height, width, 3)."""
        return nearest_indices(rgb, self._table)

    def ramp(self, ink: RGB, ground: RGB) -> Pixels:
        """256 entries from ground (0) to ink (255), to turn a coverage mask into indices."""
        levels = np.arange(256, dtype=np.int32)[:, None]
        blend = (np.array(ground, np.int32) * (255 - levels) + np.array(ink, np.int32) * levels + 127) // 255
        return _nearest(blend.astype(np.uint8), self._table)


def nearest_indices(rgb: Pixels, colours: NDArray[np.integer[Any]]) -> Pixels:
    """An RGB image of shape (height, width, 3) as indices into a table of colours."""
    wide = rgb.astype(np.uint32)
    packed = (wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]).ravel()
    unique, inverse = np.unique(packed, return_inverse=True)
    distinct = np.stack((unique >> 16, unique >> 8 & 255, unique & 255), 1).astype(np.uint8)
    return _nearest(distinct, colours.astype(np.int32))[inverse].reshape(rgb.shape[:2])


def _nearest(colours: Pixels, table: NDArray[np.int32]) -> Pixels:
    """The nearest entries for an (n, 3) array of colours; the lower number wins a tie."""
    out = np.empty(len(colours), np.uint8)
    for start in range(0, len(colours), 4096):
        part = colours[start : start + 4096].astype(np.int32)
        out[start : start + 4096] = _square_distance(part, table).argmin(1)
    return out


def _square_distance(colours: NDArray[np.int32], table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Squared "redmean" distance of every colour to every table entry."""
    mean = (colours[:, 0, None] + table[:, 0]) >> 1
    red, green, blue = (colours[:, channel, None] - table[:, channel] for channel in range(3))
    out: NDArray[np.int32] = (
        ((512 + mean) * red * red >> 8) + 4 * green * green + ((767 - mean) * blue * blue >> 8)
    )
    return out


def _edge_pairs(
    theme: Mapping[str, RGB], inks: Sequence[RGB], grounds: Sequence[RGB]
) -> list[tuple[RGB, RGB]]:
    """The colour pairs that meet at edges, most visible first: text, outlines, fills, letters."""
    pairs = [(theme[ink], theme[ground]) for ink, ground in product(("ink", "muted"), ("page", "panel"))]
    pairs += [(edge_of(ink, ground), ground) for ink, ground in product(inks, grounds)]
    pairs += product(inks, grounds)
    pairs += [(ink, letter_on(ink)) for ink in inks]
    pairs += [(ink, edge_of(ink, ground)) for ink, ground in product(inks, grounds)]
    return list(dict.fromkeys(pairs))


def _distinct(entries: list[RGB], blends: list[RGB], count: int) -> list[RGB]:
    """Up to `count` blends that differ from the entries and from each other, at ever smaller distances."""
    if not blends:
        return []
    candidates = np.array(blends, np.int32, order="F")  # each channel contiguous
    gap = _square_distance(candidates, np.array(entries, np.int32)).min(1)
    additions: list[RGB] = []
    for near in _MIN_DISTANCES:
        at = 0
        while len(additions) < count:
            far = gap[at:] > near * near
            ahead = int(far.argmax())
            if not far[ahead]:
                break
            at += ahead
            additions.append(blends[at])
            np.minimum(gap, _square_distance(candidates, candidates[at : at + 1])[:, 0], out=gap)
    return additions
