"""Surfaces and furniture as boxes, in metres; x to the right, y to the back wall, z up."""

from __future__ import annotations

from collections.abc import Iterator

from ludens.games.viki.camera.things import BLACK, STEEL, WHITE, Colour, Shape, Triple

BOARD = 0.04
"""Thickness of boards."""
RACK = 1.0
"""Surfaces from this height on are open shelves; lower ones are counters."""


def surface(
    name: str, x: float, y: float, w: float, d: float, height: float, colour: Colour
) -> Iterator[Shape]:
    """A mat on the floor, a table, a counter or an open shelf; (x, y) is its centre."""
    if height == 0:
        yield Shape("box", (w / 2, d / 2, 0.004), (x, y, 0.004), (0.55, 0.6, 0.62))
        return
    top = Shape("box", (w / 2, d / 2, BOARD / 2), (x, y, height - BOARD / 2), colour)
    yield top
    if height < RACK and name != "table":
        body = (height - BOARD) / 2
        yield Shape("box", (w / 2 - 0.03, d / 2 - 0.03, body), (x, y, body), _mixed(colour, 0.85))
        return
    legs = (height - BOARD) / 2
    for sx in (-1, 1):
        for sy in (-1, 1):
            at = (x + sx * (w / 2 - 0.05), y + sy * (d / 2 - 0.05), legs)
            yield Shape("box", (0.03, 0.03, legs), at, _mixed(colour, 0.7))
    if height >= RACK:
        yield Shape("box", (w / 2, d / 2, BOARD / 2), (x, y, height / 2), _mixed(colour, 0.85))


def furniture(kind: str, state: str, x: float, y: float, z: float, front: float) -> Iterator[Shape]:
    """Furniture on a surface of height z, whose front edge is at y = front."""
    if kind == "cabinet":
        yield from _cabinet(state, x, y, z)
    elif kind == "drawer":
        yield from _drawer(state, x, z, front)
    elif kind == "sink":
        yield Shape("box", (0.2, 0.16, 0.012), (x, y, z + 0.012), STEEL)
        yield Shape("box", (0.16, 0.12, 0.002), (x, y, z + 0.025), (0.35, 0.45, 0.5))
        yield Shape("cylinder", (0.014, 0.13, 0), (x, y + 0.14, z + 0.13), STEEL)
        yield Shape("capsule", (0.012, 0.06, 0), (x, y + 0.08, z + 0.26), STEEL, (90, 0, 0))
    elif kind == "toaster":
        yield Shape("box", (0.13, 0.08, 0.09), (x, y, z + 0.09), (0.75, 0.2, 0.2))
        for side in (-1, 1):
            yield Shape("box", (0.09, 0.014, 0.002), (x, y + side * 0.03, z + 0.181), BLACK)
    elif kind == "fridge":
        yield Shape("box", (0.17, 0.17, 0.32), (x, y, z + 0.32), WHITE)
        yield Shape("box", (0.17, 0.002, 0.006), (x, y - 0.171, z + 0.42), BLACK)
        yield Shape("box", (0.012, 0.012, 0.08), (x + 0.12, y - 0.18, z + 0.28), STEEL)
    elif kind == "oven":
        yield Shape("box", (0.18, 0.16, 0.16), (x, y, z + 0.16), (0.3, 0.3, 0.32))
        yield Shape("box", (0.12, 0.002, 0.08), (x - 0.03, y - 0.161, z + 0.14), BLACK)
        for number in range(3):
            yield Shape("sphere", (0.016, 0, 0), (x + 0.14, y - 0.165, z + 0.08 + 0.06 * number), WHITE)


_WOOD: Colour = (0.5, 0.32, 0.18)
_INSIDE: Colour = (0.85, 0.8, 0.7)


def _cabinet(state: str, x: float, y: float, z: float) -> Iterator[Shape]:
    """A box with two doors, shut, or open at right angles."""
    w, d, h = 0.22, 0.14, 0.24
    if state == "closed":
        yield Shape("box", (w, d, h), (x, y, z + h), _WOOD)
        for side in (-1, 1):
            door = (x + side * w / 2, y - d - 0.01, z + h)
            yield Shape("box", (w / 2 - 0.008, 0.01, h - 0.015), door, _mixed(_WOOD, 1.25))
            yield Shape("sphere", (0.018, 0, 0), (x + side * 0.04, y - d - 0.03, z + h), (0.9, 0.8, 0.3))
        return
    yield Shape("box", (w, 0.01, h), (x, y + d, z + h), _INSIDE)
    for side in (-1, 1):
        yield Shape("box", (0.01, d, h), (x + side * w, y, z + h), _WOOD)
        yield Shape("box", (0.01, w / 2, h), (x + side * w, y - d - w / 2, z + h), _mixed(_WOOD, 1.25))
    yield Shape("box", (w, d, 0.01), (x, y, z + 0.01), _INSIDE)
    yield Shape("box", (w, d, 0.01), (x, y, z + 2 * h), _WOOD)


def _drawer(state: str, x: float, z: float, front: float) -> Iterator[Shape]:
    """A front in the side of the surface; pulled out it is a tray."""
    high, low = z - 0.03, z - 0.2
    middle, half = (high + low) / 2, (high - low) / 2
    out = 0.02 if state == "closed" else 0.32
    yield Shape("box", (0.2, 0.012, half), (x, front - out, middle), _mixed(_WOOD, 1.3))
    yield Shape("box", (0.06, 0.012, 0.012), (x, front - out - 0.02, middle), (0.9, 0.8, 0.3))
    if state == "closed":
        return
    yield Shape("box", (0.19, out / 2, 0.008), (x, front - out / 2, low + 0.01), _INSIDE)
    for side in (-1, 1):
        yield Shape("box", (0.008, out / 2, half - 0.02), (x + side * 0.19, front - out / 2, middle), _WOOD)


def inside(kind: str, x: float, y: float, z: float, front: float) -> Triple | None:
    """Where things in furniture lie: its middle; None for kinds that hold nothing."""
    return {
        "cabinet": (x, y - 0.02, z + 0.02),
        "drawer": (x, front - 0.16, z - 0.18),
        "sink": (x, y, z + 0.027),
        "toaster": (x, y, z + 0.18),
    }.get(kind)


def _mixed(colour: Colour, light: float) -> Colour:
    red, green, blue = (min(1.0, level * light) for level in colour)
    return red, green, blue
