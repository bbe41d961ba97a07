"""The colours of skin and lesions, and how they become entries of a sheet's palette.

Colours are the same in every theme, save that `plain` has their greys. All are declared to the sheet, so
that gradients between them find close entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ludens.draw.palette import RGB, mix, parse

if TYPE_CHECKING:
    from ludens.draw import Sprite, SpriteSheet

SKINS = ("#f7ddcc", "#efc9ab", "#dfb08a", "#c59068", "#a2704d", "#7c523b")
"""By skin type, from I to VI."""

WHITE, PEARL, BLUSH, ROSE, RED, BLOOD, WINE = (
    "#ffffff", "#fdeae3", "#f6c9bf", "#e79a8f", "#d0706a", "#b3443f", "#7d2428",
)  # fmt: skip
TAN, BROWN, UMBER, COCOA, COFFEE, SOOT = "#b5875d", "#8f5f38", "#6f4527", "#54311b", "#3a2013", "#20130d"
STRAW, OCHRE, RUST, SLATE, STEEL = "#ead08f", "#cfa252", "#96682c", "#6d7a92", "#454f62"

_BROWNISH = "#5a2e20"
_GREYS = tuple(f"#{level:02x}{level:02x}{level:02x}" for level in range(8, 255, 16))


def darker(skin: str, part: int) -> RGB:
    """The skin, so many hundredths on the way to a deep brown."""
    return mix(parse(skin), parse(_BROWNISH), part, 100)


def lighter(skin: str, part: int) -> RGB:
    """The skin, so many hundredths on the way to white."""
    return mix(parse(skin), parse(WHITE), part, 100)


def _hex(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


INKS = (
    *SKINS, *(_hex(darker(skin, 18)) for skin in SKINS), *(_hex(lighter(skin, 22)) for skin in SKINS),
    WHITE, PEARL, BLUSH, ROSE, RED, BLOOD, WINE, TAN, BROWN, UMBER, COCOA, COFFEE, SOOT,
    STRAW, OCHRE, RUST, SLATE, STEEL, *_GREYS,
)  # fmt: skip


def ramp(sheet: SpriteSheet, stops: Sequence[str | RGB]) -> Sprite:
    """256 palette entries that run evenly from the first colour to the last."""
    colours = [parse(stop) if isinstance(stop, str) else stop for stop in stops]
    table = []
    for level in range(256):
        at, rest = divmod(level * (len(colours) - 1), 255)
        table.append(colours[at] if not rest else mix(colours[at], colours[at + 1], rest, 255))
    return _greys(sheet, table) if sheet.theme.plain else sheet.palette.nearest(np.array(table, np.uint8))


def _greys(sheet: SpriteSheet, colours: Sequence[RGB]) -> Sprite:
    """The entries without a tint that are as bright as these colours."""
    entries = sheet.palette.colours.astype(int)
    plain = np.flatnonzero((entries == entries[:, :1]).all(1))
    bright = np.array([(299 * red + 587 * green + 114 * blue) // 1000 for red, green, blue in colours])
    nearest: Sprite = plain[np.abs(entries[plain, 0] - bright[:, None]).argmin(1)].astype(np.uint8)
    return nearest
