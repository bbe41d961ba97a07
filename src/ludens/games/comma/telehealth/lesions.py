"""Lesions drawn from a seed: six looks, no two drawings alike, and told apart without colour as well."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

import numpy as np
from PIL import ImageChops

from ludens.core.random import stream
from ludens.draw import Sprite, SpriteSheet
from ludens.games.comma.telehealth import tones
from ludens.games.comma.telehealth.outlines import Outline, Specks, inset, shifted, towards
from ludens.games.comma.telehealth.plate import Mask, Plate, add
from ludens.games.comma.telehealth.tones import SKINS, darker

Point = tuple[float, float]
_DEEP = (tones.SOOT, tones.COFFEE, tones.COCOA)
"""Browns that show on dark skin."""
KEPT = 32
"""How many drawings a sheet keeps: episodes running side by side show theirs again and again."""


def pearl(plate: Plate) -> None:
    """A shiny dome with a rolled pale rim, gleams, and fine branching vessels."""
    x, y, r = 150 + plate.within(-12, 12), 150 + plate.within(-12, 12), plate.within(82, 100)
    outline = plate.blob(x, y, r, r * plate.within(0.88, 1.0), 0.05, plate.within(0, 1))
    dome = plate.shape(outline)
    shade = plate.blur(dome, 9)
    plate.glow((plate.skin, darker(plate.skin, 40)), shade, 40)
    rim = ImageChops.subtract(
        plate.blur(dome, 4), plate.blur(plate.shape(inset(outline, x, y, 0.76)), 9), 3, 104
    )
    level = add(rim, plate.relief(dome, 26, 3), plate.grain(1, 12))
    plate.layer((tones.RED, tones.ROSE, tones.BLUSH, tones.PEARL, tones.WHITE), level, dome)
    vessels = [line for _ in range(plate.count(4, 5)) for line in _vessel(plate, x, y, r)]
    plate.ink(tones.BLOOD, ImageChops.darker(plate.strokes(vessels), dome))
    for _ in range(2):
        at = x - r * plate.within(0.3, 0.5), y - r * plate.within(0.3, 0.5)
        plate.ink(
            tones.WHITE, plate.shape(plate.blob(*at, plate.within(9, 15), plate.within(5, 8), 0.1, -0.12))
        )


def _vessel(plate: Plate, x: float, y: float, r: float) -> list[tuple[list[Point], float]]:
    """A line from the rim inwards that winds and forks."""
    angle = 2 * pi * plate.within(0, 1)
    at = (x + r * 0.92 * cos(angle), y + r * 0.92 * sin(angle))
    heading, branches, points = angle + pi + plate.within(-0.5, 0.5), [], [at]
    for step in range(7):
        heading += plate.within(-0.5, 0.5)
        at = (at[0] + r * 0.15 * cos(heading), at[1] + r * 0.15 * sin(heading))
        points.append(at)
        if step in (2, 4):
            side, branch, tip = heading + (-0.8, 0.8)[plate.count(0, 1)], [at], at
            for _ in range(3):
                side += plate.within(-0.3, 0.3)
                tip = (tip[0] + r * 0.12 * cos(side), tip[1] + r * 0.12 * sin(side))
                branch.append(tip)
            branches.append((branch, 2.0))
    return [(points, 3.0), *branches]


def crust(plate: Plate) -> None:
    """A raised red nodule with a thick crust of broken plates in its middle."""
    x, y, r = 150 + plate.within(-10, 10), 150 + plate.within(-10, 10), plate.within(92, 108)
    nodule = plate.shape(plate.blob(x, y, r, r * plate.within(0.85, 1.0), 0.08, plate.within(0, 1)))
    halo = plate.blur(nodule, 16)
    plate.glow((plate.skin, tones.ROSE), halo, 30)
    level = add(plate.relief(nodule, 24, 2), plate.grain(1, 6))
    plate.layer((tones.WINE, tones.BLOOD, tones.RED, tones.ROSE, tones.BLUSH), level, nodule)
    plate.ink(tones.COFFEE, plate.shape(plate.blob(x, y, r * 0.66, r * 0.58, 0.12, plate.within(0, 1))))
    places, corners, step = [], [], 25
    for row in range(-4, 5):
        for column in range(-4, 5):
            px = x + column * step + (row % 2) * step / 2 + plate.within(-4, 4)
            py = y + row * step * 0.9 + plate.within(-4, 4)
            if (px - x) ** 2 / 0.44 + (py - y) ** 2 / 0.34 < r * r:
                places.append((px, py))
                corners.append(_chunk(plate, px, py, plate.within(10, 13.5)))
    plates = np.array(corners)
    bodies = shifted(towards(plates, np.array(places)[:, None], 0.84), 1, 1)
    plate.ink(tones.SOOT, plate.shape(shifted(plates, 2, 2.5)))
    plate.ink(tones.STRAW, plate.shape(shifted(plates, -1, -1.5)))
    plate.ink(tones.OCHRE, plate.shape(bodies))
    plate.ink(tones.RUST, plate.shape(bodies[:: plate.count(2, 4)]))


def _chunk(plate: Plate, x: float, y: float, r: float) -> list[Point]:
    """The corners of one plate of crust."""
    turns = [corner + plate.within(0, 1) * 0.7 for corner in range(7)]
    radii = [r * (0.85 + 0.3 * plate.within(0, 1)) for _ in range(7)]
    corners = zip(radii, turns, strict=True)
    return [(x + q * cos(t * 2 * pi / 7), y + q * sin(t * 2 * pi / 7)) for q, t in corners]


def scale(plate: Plate) -> None:
    """A flat reddened patch without a clear border, strewn with pale dry flakes."""
    x, y = 150 + plate.within(-8, 8), 150 + plate.within(-8, 8)
    patch = plate.shape(
        plate.blob(x, y, plate.within(98, 112), plate.within(78, 94), 0.2, plate.within(0, 1))
    )
    soft = plate.blur(plate.blur(patch, 22), 16)
    rough = ImageChops.add(plate.grain(1, 2), plate.grain(2, 2), 1.0, -50)
    plate.glow((plate.skin, plate.skin, tones.ROSE, tones.RED), ImageChops.multiply(soft, rough), 24)
    flakes = plate.specks(plate.scatter(soft, plate.count(46, 60), 120), 4, 9, 0.4, 0.5)
    plate.ink(tones.BLOOD, plate.shape(shifted(flakes, 1.2, 1.8)))
    plate.ink(tones.PEARL, plate.shape(flakes))
    plate.ink(tones.WHITE, plate.shape(flakes[::2]))


def wax(plate: Plate) -> None:
    """A plaque with a sharp edge and a shadow, as if stuck on, with pits and beads on its dull surface."""
    x, y = 150 + plate.within(-8, 8), 150 + plate.within(-8, 8)
    outline = plate.blob(x, y, plate.within(98, 112), plate.within(74, 88), 0.05, plate.within(0, 1))
    plaque = plate.shape(outline)
    shadow = plate.blur(plate.shape(shifted(outline, 7, 9)), 5)
    plate.glow((plate.skin, darker(plate.skin, 75)), shadow, 40)
    plate.ink(tones.COFFEE, plaque)
    level = add(plate.relief(plaque, 7, 3), plate.grain(1, 5), plate.grain(2, 3))
    browns = (tones.COCOA, tones.BROWN, tones.TAN), (tones.COFFEE, tones.UMBER, tones.BROWN)
    chosen = browns[plate.count(0, 1)]
    plate.layer(_DEEP if _dark(plate) else chosen, level, plate.shape(inset(outline, x, y, 0.97)))
    inside = plate.shape(inset(outline, x, y, 0.88))
    plate.ink(
        tones.SOOT, plate.shape(plate.specks(plate.scatter(inside, plate.count(26, 34)), 3, 5, 0.9, 0.1))
    )
    places = plate.scatter(inside, plate.count(14, 20))
    beads = plate.specks(places, 4, 6, 0.9, 0.05)
    plate.ink(tones.COFFEE, plate.shape(towards(beads, places[:, None], 1.35)))
    plate.ink(tones.STRAW, plate.shape(beads))


def _dark(plate: Plate) -> bool:
    """Whether brown would be lost on this skin."""
    return plate.skin in SKINS[4:]


def notch(plate: Plate) -> None:
    """A flat patch, lopsided and notched, in blotches of several shades."""
    x, y, turn = 150 + plate.within(-6, 6), 150 + plate.within(-6, 6), 2 * pi * plate.within(0, 1)
    c, s = cos(turn), sin(turn)
    parts = ((-26, 0, 72), (46, 26, 50), (62, -30, 34), (-66, 42, 34))
    middles = np.array([(x + dx * c - dy * s, y + dx * s + dy * c) for dx, dy, _ in parts])
    lobes = plate.blobs(middles, np.array([(r, r * 0.85) for *_, r in parts]), 0.16, np.zeros(len(parts)))
    border = _border(plate, plate.shape(lobes), lobes, plate.count(6, 7))
    patch = plate.shape(lobes, holes=plate.blobs_within(border, (11, 17), (9, 13), 0.1))
    level = add(plate.grain(0, 3), plate.grain(2, 5))
    plate.layer(_DEEP if _dark(plate) else (tones.UMBER, tones.BROWN, tones.TAN), level, patch)
    shades = (tones.SOOT, tones.SLATE, tones.BLOOD, tones.TAN, tones.COFFEE, tones.STEEL)
    blotches = plate.blobs_within(plate.scatter(patch, len(shades), tries=20), (24, 40), (20, 30), 0.3)
    for shade, blotch in zip(shades, blotches, strict=False):
        plate.ink(shade, ImageChops.darker(plate.shape(blotch), patch))


def _border(plate: Plate, whole: Mask, lobes: Specks, number: int) -> Outline:
    """Corners of the lobes that lie at the border of the whole, some way from each other."""
    corners, chosen = lobes.reshape(-1, 2), list[Point]()
    tried = corners[(plate.draw(60) * len(corners)).astype(int)]
    for x, y in tried[plate.cover(plate.blur(whole, 12), tried) < 150].tolist():
        if all((x - a) ** 2 + (y - b) ** 2 > 40**2 for a, b in chosen):
            chosen.append((x, y))
    return np.array(chosen[:number])


def mole(plate: Plate) -> None:
    """A small round or oval spot, smooth at the border and of one even shade."""
    x, y, r = 150 + plate.within(-14, 14), 150 + plate.within(-14, 14), plate.within(40, 54)
    spot = plate.shape(plate.blob(x, y, r, r * plate.within(0.82, 1.0), 0.015, plate.within(0, 1)))
    shades = (tones.COFFEE, tones.SOOT) if _dark(plate) else (tones.UMBER, tones.COCOA)
    soft = plate.blur(spot, 3)
    plate.glow((plate.skin, shades[plate.count(0, 1)]), soft, 24)
    hairs = []
    for _ in range(plate.count(0, 2)):
        tilt = plate.within(-18, 18)
        hairs.append(([(x + tilt * t * t / 4, y - r * 0.6 * t) for t in (0.0, 1.0, 2.0, 3.0)], 1.6))
    plate.ink(tones.SOOT, plate.strokes(hairs))


PAINTERS: dict[str, Callable[[Plate], None]] = {
    "pearl": pearl, "crust": crust, "scale": scale, "wax": wax, "notch": notch, "mole": mole,
}  # fmt: skip


def draw_lesion(sheet: SpriteSheet, look: str, skin_type: int, seed: int, side: int) -> Sprite:
    """The lesion of a seed, `side` pixels wide and high; skin types run from 1 to 6."""
    shelf = sheet.cache.setdefault("telehealth lesions", {})
    assert isinstance(shelf, dict)
    key = (look, skin_type, seed, side)
    found: Sprite | None = shelf.get(key)
    if found is None:
        plate = Plate(sheet, side, SKINS[skin_type - 1], stream(seed, "lesion", look))
        PAINTERS[look](plate)
        found = plate.pixels
        found.setflags(write=False)
        if len(shelf) >= KEPT:
            del shelf[next(iter(shelf))]
        shelf[key] = found
    return found
