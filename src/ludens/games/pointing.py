"""How bots that are imitated point at a place of a picture, for small models that then look there."""

from __future__ import annotations


def pointer(x: float, y: float, *, fine: bool = False) -> str:
    """A place of the unit square: `37:` is the fourth column and the eighth row of tenths.

    Args:
        x: From left to right.
        y: From top to bottom.
        fine: Whether to point at twentieths: `0714:` is the eighth column and the fifteenth row of these.
    """
    if fine:
        return f"{int(20 * x):02}{int(20 * y):02}:"
    return f"{int(10 * x)}{int(10 * y)}:"
