"""The one palette of a kit: at most 256 colours, fixed before the first sprite is drawn.

Base colours come first; the rest are blends between the inks and grounds a view declares, so that
anti-aliased edges have somewhere to go. Because nothing is added later, the pixels of a sprite do not
depend on what was drawn before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ludens.draw.colour import BLACK, RGB, WHITE, edge_of, letter_on, mix
from ludens.draw.themes import GROUNDS, HUES, Theme

Indices = NDArray[np.uint8]

DEFAULT_INKS = ("ink", "line", "muted", "accent", *HUES)
_NEAR = (24, 16, 10, 6)
_LEVELS = ((1, 2), (1, 4), (3, 4), (1, 8), (3, 8), (5, 8), (7, 8))


def _square_distance(colours: NDArray[np.int32], table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Squared "redmean" distance of every colour to every table entry, in integers."""
    mean = (colours[:, None, 0] + table[None, :, 0]) >> 1
    gap = colours[:, None, :] - table[None, :, :]
    red, green, blue = gap[..., 0], gap[..., 1], gap[..., 2]
    out: NDArray[np.int32] = (
        ((512 + mean) * red * red >> 8) + 4 * green * green + ((767 - mean) * blue * blue >> 8)
    )
    return out


def _pairs(theme: Theme, inks: Sequence[str], grounds: Sequence[str]) -> list[tuple[RGB, RGB]]:
    """The colour pairs that meet at edges, most visible first: text, outlines, fills, letters."""
    colour = theme.colour
    pairs = [(colour(ink), colour(ground)) for ink, ground in product(("ink", "muted"), ("page", "panel"))]
    fills = [colour(ink) for ink in inks]
    floors = [colour(ground) for ground in grounds]
    pairs += [(edge_of(fill), floor) for fill, floor in product(fills, floors)]
    pairs += [(fill, floor) for fill, floor in product(fills, floors)]
    pairs += [(fill, letter_on(fill)) for fill in fills] + [(fill, edge_of(fill)) for fill in fills]
    return list(dict.fromkeys(pairs))


def _blends(pairs: list[tuple[RGB, RGB]]) -> Iterator[RGB]:
    for part, whole in _LEVELS:
        for ink, ground in pairs:
            yield mix(ink, ground, part, whole)


def _apart(entries: list[RGB], blends: list[RGB], room: int) -> list[RGB]:
    """The first blends that differ from every entry and from each other, at ever smaller distances."""
    if not blends:
        return []
    candidates = np.array(blends, np.int32)
    gap = _square_distance(candidates, np.array(entries, np.int32)).min(1)
    chosen: list[RGB] = []
    for near in _NEAR:
        at = 0
        while len(chosen) < room:
            far = np.flatnonzero(gap[at:] > near * near)[:1]
            if not len(far):
                break
            at += int(far[0])
            chosen.append(blends[at])
            np.minimum(gap, _square_distance(candidates, candidates[at : at + 1])[:, 0], out=gap)
    return chosen


def _nearest(colours: Indices, table: NDArray[np.int32]) -> Indices:
    out = np.empty(len(colours), np.uint8)
    for start in range(0, len(colours), 4096):
        part = colours[start : start + 4096].astype(np.int32)
        out[start : start + 4096] = _square_distance(part, table).argmin(1)
    return out


def nearest_indices(rgb: Indices, colours: NDArray[np.integer[Any]]) -> Indices:
    """An RGB image of shape (height, width, 3) as indices into a table of colours."""
    wide = rgb.astype(np.uint32)
    packed = (wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]).ravel()
    unique, inverse = np.unique(packed, return_inverse=True)
    found = np.stack((unique >> 16, unique >> 8 & 255, unique & 255), 1).astype(np.uint8)
    return _nearest(found, colours.astype(np.int32))[inverse].reshape(rgb.shape[:2])


class Palette:
    """A fixed colour table with exact and nearest lookup."""

    def __init__(
        self, theme: Theme, inks: Sequence[str] | None = None, grounds: Sequence[str] | None = None
    ) -> None:
        inks = DEFAULT_INKS if inks is None else inks
        grounds = GROUNDS if grounds is None else grounds
        named = [rgb for _, rgb in theme.palette] + [BLACK, WHITE]
        named += [theme.colour(name) for name in (*inks, *grounds)]
        named += [edge_of(theme.colour(ink)) for ink in inks]
        entries = list(dict.fromkeys(named))[:256]
        blends = list(dict.fromkeys(_blends(_pairs(theme, inks, grounds))))
        self._table = np.array(entries + _apart(entries, blends, 256 - len(entries)), np.int32)
        self.colours: Indices = self._table.astype(np.uint8)
        self.colours.setflags(write=False)
        self._exact: dict[RGB, int] = {}
        for number, rgb in enumerate(self._table.tolist()):
            self._exact.setdefault((rgb[0], rgb[1], rgb[2]), number)

    def index(self, colour: RGB) -> int:
        """The entry of a colour, or the nearest there is."""
        found = self._exact.get(colour)
        return int(self.nearest(np.array([colour], np.uint8))[0]) if found is None else found

    def nearest(self, colours: Indices) -> Indices:
        """The nearest entries for an (n, 3) array of colours; the lower number wins a tie."""
        return _nearest(colours, self._table)

    def quantise(self, rgb: Indices) -> Indices:
        """Palette indices of an RGB image of shape (height, width, 3)."""
        return nearest_indices(rgb, self._table)

    def ramp(self, ink: RGB, ground: RGB) -> Indices:
        """256 entries from ground (0) to ink (255), to turn a coverage mask into indices."""
        levels = np.arange(256, dtype=np.int32)[:, None]
        blend = (np.array(ground, np.int32) * (255 - levels) + np.array(ink, np.int32) * levels + 127) // 255
        return self.nearest(blend.astype(np.uint8))
