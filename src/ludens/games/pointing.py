"""How bots that are imitated point at a place of a picture, for small models that then look there."""

from __future__ import annotations


def pointer(x: float, y: float) -> str:
    """A place of the unit square: `37:` is the fourth column and the eighth row of tenths."""
    return f"{int(10 * x)}{int(10 * y)}:"
