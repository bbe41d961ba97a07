"""Arithmetic on RGB colours: mixing, contrast and distance, in whole numbers wherever pixels depend on it."""

from __future__ import annotations

import colorsys

RGB = tuple[int, int, int]

BLACK: RGB = (0, 0, 0)
WHITE: RGB = (255, 255, 255)


def parse(text: str) -> RGB:
    """The colour of `#rrggbb`; raises ValueError on anything else."""
    if len(text) != 7 or text[0] != "#":
        raise ValueError(f"not a #rrggbb colour: {text!r}")
    value = int(text[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def mix(a: RGB, b: RGB, part: int, whole: int) -> RGB:
    """`a` moved `part/whole` of the way to `b`, in integers so that every machine gets the same colour."""
    red, green, blue = (
        (x * (whole - part) + y * part + whole // 2) // whole for x, y in zip(a, b, strict=True)
    )
    return red, green, blue


def luminance(colour: RGB) -> float:
    """WCAG relative luminance, 0 (black) to 1 (white)."""
    red, green, blue = ((c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: RGB, b: RGB) -> float:
    """WCAG contrast ratio, 1 (same) to 21 (black on white); text needs 4.5."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def distance(a: RGB, b: RGB) -> int:
    """How different two colours look: a whole number, 0 for equal, about 760 for black against white.

    The "redmean" weights follow the eye far better than plain RGB at the same price.
    """
    mean = (a[0] + b[0]) // 2
    red, green, blue = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    square = ((512 + mean) * red * red >> 8) + 4 * green * green + ((767 - mean) * blue * blue >> 8)
    return int(square**0.5)


def letter_on(fill: RGB) -> RGB:
    """Black or white, whichever reads better on `fill`; one of the two always has a contrast above 4.5."""
    return WHITE if contrast(WHITE, fill) >= contrast(BLACK, fill) else BLACK


def edge_of(fill: RGB) -> RGB:
    """The outline that goes with a fill: darker, or lighter where the fill is nearly black."""
    return mix(fill, WHITE, 9, 20) if luminance(fill) < 0.03 else mix(fill, BLACK, 8, 20)


def shade(colour: RGB, hue: float = 0.0, saturation: float = 0.0, value: float = 0.0) -> RGB:
    """A colour with its hue turned (in turns) and its saturation and value shifted and clipped."""
    h, s, v = colorsys.rgb_to_hsv(*(c / 255 for c in colour))
    s, v = min(1.0, max(0.0, s + saturation)), min(1.0, max(0.0, v + value))
    red, green, blue = (round(c * 255) for c in colorsys.hsv_to_rgb((h + hue) % 1.0, s, v))
    return red, green, blue
