"""Outlines of what is painted on a plate: uneven ellipses, many at once, and outlines made from outlines."""

from __future__ import annotations

from functools import cache
from math import cos, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outline = NDArray[np.float64]
"""Corners, shape (n, 2), in units."""
Specks = NDArray[np.float64]
"""Several outlines with as many corners each, shape (m, n, 2)."""

_TURN = 1024
_COS = np.array([cos(2 * pi * step / _TURN) for step in range(_TURN)])


def inset(outline: Outline, x: float, y: float, part: float) -> Outline:
    """An outline drawn towards a point, to so much of its size."""
    return towards(outline, np.array((x, y)), part)


def towards(outlines: Specks, at: NDArray[np.float64], part: float) -> Specks:
    """Outlines drawn towards a point, or each towards its own, to so much of their size."""
    drawn: Specks = at + (outlines - at) * part
    return drawn


def shifted(outline: Outline, dx: float, dy: float) -> Outline:
    """An outline moved."""
    moved: Outline = outline + np.array((dx, dy))
    return moved


def uneven(
    corners: int,
    drawn: NDArray[np.float64],
    middles: NDArray[np.float64],
    sizes: NDArray[np.float64],
    wobble: float,
    turns: NDArray[np.float64],
) -> Specks:
    """Uneven ellipses, by a table of cosines.

    Args:
        corners: Corners of each.
        drawn: Numbers drawn for them, shape (number, waves, 2): how high each wave is, and where it begins.
        middles: Where they lie.
        sizes: Half their width and height.
        wobble: How uneven they are.
        turns: How far each is turned, in turns.
    """
    number, waves, _ = drawn.shape
    angles, roots, flat = _waves(corners, waves)
    heights, phases = drawn.transpose(2, 1, 0)[..., None]
    swings = np.ones((1 + waves, number, corners))
    np.multiply(
        wobble / roots * heights, _COS[(angles + (phases * _TURN).astype(int)) % _TURN], out=swings[1:]
    )
    dx, dy = (sizes[:, :, None] * np.add.reduce(swings)[:, None] * flat).transpose(1, 0, 2)
    turned = np.rint(turns * _TURN).astype(int)[:, None]
    c, s = _COS[turned % _TURN], _COS[(turned - _TURN // 4) % _TURN]
    outlines = np.empty((number, corners, 2))
    np.subtract(middles[:, :1] + dx * c, dy * s, out=outlines[:, :, 0])
    np.add(middles[:, 1:] + dx * s, dy * c, out=outlines[:, :, 1])
    return outlines


@cache
def _waves(corners: int, waves: int) -> tuple[NDArray[Any], ...]:
    """What uneven ellipses share: the angles of every wave, the root of its number, a flat ellipse."""
    steps = np.arange(corners) * (_TURN // corners)
    lengths = np.arange(2, 2 + waves)[:, None, None]
    roots = np.array([k**0.5 for k in range(2, 2 + waves)])[:, None, None]
    return lengths * steps, roots, np.stack((_COS[steps], _COS[steps - _TURN // 4]))
