"""Things of the kitchen as simple shapes, in metres, standing on z = 0 with their centre at the origin."""

from __future__ import annotations

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
