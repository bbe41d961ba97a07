"""Furniture and things as simple shapes, in metres; x to the right, y to the back wall, z up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Colour = tuple[float, float, float]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Shape:
    """One `sphere`, `ellipsoid`, `box`, `cylinder` or `capsule`, with half sizes as MuJoCo has them."""

    form: str
    size: Triple
    at: Triple
    colour: Colour
    turn: Triple = (0.0, 0.0, 0.0)
    """Rotation around x, y and z, in degrees."""


RED, GREEN, YELLOW, ORANGE = (0.8, 0.1, 0.1), (0.2, 0.6, 0.2), (0.95, 0.82, 0.15), (0.95, 0.5, 0.1)
PURPLE, BROWN, WHITE, BLACK = (0.4, 0.15, 0.5), (0.45, 0.28, 0.14), (0.96, 0.96, 0.96), (0.1, 0.1, 0.1)
STEEL, PINK, CREAM, TAN = (0.7, 0.72, 0.76), (0.95, 0.6, 0.55), (0.95, 0.88, 0.7), (0.8, 0.62, 0.4)
BLUE, CYAN = (0.2, 0.35, 0.8), (0.3, 0.75, 0.85)


def _darker(colour: Colour) -> Colour:
    red, green, blue = colour
    return red * 0.82, green * 0.82, blue * 0.82


def _ball(colour: Colour, r: float = 0.05, tall: float = 1.0, leaf: bool = True) -> tuple[Shape, ...]:
    body = Shape("ellipsoid", (r, r, r * tall), (0, 0, r * tall), colour)
    stem = Shape("cylinder", (0.005, 0.015, 0), (0, 0, 2 * r * tall + 0.005), BROWN)
    return (body, stem) if leaf else (body,)


def _long(colour: Colour, length: float = 0.09, r: float = 0.025) -> tuple[Shape, ...]:
    return (Shape("capsule", (r, length, 0), (0, 0, r), colour, (0, 90, 0)),)


def _pear() -> tuple[Shape, ...]:
    return (
        Shape("ellipsoid", (0.045, 0.045, 0.045), (0, 0, 0.045), GREEN),
        Shape("ellipsoid", (0.026, 0.026, 0.045), (0, 0, 0.095), GREEN),
    )


def _banana() -> tuple[Shape, ...]:
    bends = ((-0.055, 0.015, 35.0), (0.0, 0.0, 0.0), (0.055, 0.015, -35.0))
    return tuple(
        Shape("capsule", (0.02, 0.035, 0), (x, y, 0.02), YELLOW, (0, 90, -yaw)) for x, y, yaw in bends
    )


def _carrot() -> tuple[Shape, ...]:
    leaves = Shape("ellipsoid", (0.035, 0.02, 0.012), (0.11, 0, 0.02), GREEN)
    return (*_long(ORANGE, 0.08, 0.02), leaves)


def _dish(r: float, high: float, colour: Colour) -> tuple[Shape, ...]:
    return (
        Shape("cylinder", (r * 0.6, high / 2, 0), (0, 0, high / 2), colour),
        Shape("cylinder", (r, 0.006, 0), (0, 0, high), colour),
        Shape("cylinder", (r * 0.7, 0.002, 0), (0, 0, high + 0.006), _darker(colour)),
    )


def _bowl() -> tuple[Shape, ...]:
    return (
        Shape("cylinder", (0.05, 0.012, 0), (0, 0, 0.012), CYAN),
        Shape("cylinder", (0.075, 0.02, 0), (0, 0, 0.04), CYAN),
        Shape("cylinder", (0.092, 0.012, 0), (0, 0, 0.07), CYAN),
        Shape("cylinder", (0.08, 0.002, 0), (0, 0, 0.083), (0.2, 0.5, 0.58)),
    )


def _blade(handle: Colour) -> tuple[Shape, ...]:
    return (
        Shape("box", (0.075, 0.014, 0.003), (0.05, 0, 0.008), STEEL),
        Shape("box", (0.045, 0.012, 0.009), (-0.07, 0, 0.009), handle),
    )


def _fork() -> tuple[Shape, ...]:
    tines = (Shape("box", (0.035, 0.004, 0.003), (0.085, y, 0.008), STEEL) for y in (-0.018, 0.0, 0.018))
    handle = Shape("box", (0.07, 0.007, 0.004), (-0.03, 0, 0.008), STEEL)
    return (handle, Shape("box", (0.012, 0.024, 0.004), (0.045, 0, 0.008), STEEL), *tines)


def _spoon() -> tuple[Shape, ...]:
    return (
        Shape("box", (0.07, 0.007, 0.004), (-0.03, 0, 0.008), STEEL),
        Shape("ellipsoid", (0.035, 0.024, 0.008), (0.07, 0, 0.009), STEEL),
    )


def _bread() -> tuple[Shape, ...]:
    return (
        Shape("box", (0.08, 0.05, 0.035), (0, 0, 0.035), TAN),
        Shape("capsule", (0.045, 0.045, 0), (0, 0, 0.065), (0.65, 0.42, 0.2), (0, 90, 0)),
    )


def _cup(colour: Colour) -> tuple[Shape, ...]:
    return (
        Shape("cylinder", (0.042, 0.05, 0), (0, 0, 0.05), colour),
        Shape("cylinder", (0.035, 0.002, 0), (0, 0, 0.1), WHITE),
        Shape("box", (0.02, 0.008, 0.025), (0.055, 0, 0.05), colour),
    )


def _bottle(colour: Colour) -> tuple[Shape, ...]:
    return (
        Shape("cylinder", (0.038, 0.08, 0), (0, 0, 0.08), colour),
        Shape("cylinder", (0.015, 0.035, 0), (0, 0, 0.19), colour),
    )


def _tray(w: float, d: float, colour: Colour) -> tuple[Shape, ...]:
    rims = (Shape("box", (w, 0.008, 0.02), (0, side * d, 0.02), colour) for side in (-1, 1))
    ends = (Shape("box", (0.008, d, 0.02), (side * w, 0, 0.02), colour) for side in (-1, 1))
    return (Shape("box", (w, d, 0.006), (0, 0, 0.006), colour), *rims, *ends)


def _carton() -> tuple[Shape, ...]:
    return (
        Shape("box", (0.2, 0.16, 0.14), (0, 0, 0.14), TAN),
        Shape("box", (0.2, 0.012, 0.001), (0, 0, 0.281), (0.9, 0.85, 0.7)),
    )


def _board() -> tuple[Shape, ...]:
    return (
        Shape("box", (0.16, 0.11, 0.01), (0, 0, 0.01), TAN),
        Shape("box", (0.04, 0.025, 0.01), (0.2, 0, 0.01), TAN),
    )


def _spatula() -> tuple[Shape, ...]:
    return (
        Shape("box", (0.08, 0.008, 0.006), (-0.05, 0, 0.008), BLACK),
        Shape("box", (0.04, 0.032, 0.003), (0.07, 0, 0.008), STEEL),
    )


def _kettle() -> tuple[Shape, ...]:
    return (
        Shape("cylinder", (0.075, 0.07, 0), (0, 0, 0.07), STEEL),
        Shape("capsule", (0.01, 0.05, 0), (0, 0, 0.17), BLACK, (0, 90, 0)),
        Shape("box", (0.03, 0.012, 0.012), (0.09, 0, 0.1), STEEL),
    )


def _kiwi() -> tuple[Shape, ...]:
    return (
        Shape("ellipsoid", (0.04, 0.04, 0.035), (0, 0, 0.035), BROWN),
        Shape("cylinder", (0.028, 0.003, 0), (0, 0, 0.068), (0.5, 0.75, 0.25)),
    )


def _meat() -> tuple[Shape, ...]:
    return (
        Shape("ellipsoid", (0.085, 0.06, 0.02), (0, 0, 0.02), (0.7, 0.2, 0.2)),
        Shape("ellipsoid", (0.03, 0.015, 0.004), (0.01, 0, 0.039), WHITE),
    )


THINGS: dict[str, tuple[Shape, ...]] = {
    "apple": _ball(RED), "orange": _ball(ORANGE, leaf=False), "peach": _ball(PINK), "pear": _pear(),
    "banana": _banana(), "lemon": _ball(YELLOW, 0.04, 0.8, leaf=False), "kiwi": _kiwi(),
    "pumpkin": _ball(ORANGE, 0.1, 0.75), "tomato": _ball(RED, 0.045, 0.8), "carrot": _carrot(),
    "cucumber": _long(GREEN), "bread": _bread(), "meat": _meat(), "egg": _ball(WHITE, 0.028, 1.4, False),
    "cheese": (Shape("box", (0.06, 0.04, 0.03), (0, 0, 0.03), YELLOW),), "plate": _dish(0.12, 0.015, WHITE),
    "bowl": _bowl(), "tray": _tray(0.2, 0.14, BROWN), "knife": _blade(BLACK), "fork": _fork(),
    "spoon": _spoon(), "spatula": _spatula(), "cup": _cup(BLUE), "mug": _cup(PURPLE),
    "bottle": _bottle(GREEN), "kettle": _kettle(),
    "can": (Shape("cylinder", (0.035, 0.06, 0), (0, 0, 0.06), RED),),
    "cardboardbox": _carton(), "cutting board": _board(),
}  # fmt: skip
"""Kind of thing to its shapes."""

TOPS = {"plate": 0.02, "bowl": 0.05, "tray": 0.012, "cutting board": 0.02, "cardboardbox": 0.28}
"""How high above its foot a thing carries what is in or on it."""


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
