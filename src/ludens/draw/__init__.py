"""Pixels: themes, sprites, canvases, boards and pictures.

    from ludens.draw import board, kit

    pens = kit("classic", 512)
    grid = board(pens, 3, 3, "321", "abc", style="lines")
    canvas = grid.canvas()
    grid.put(canvas, 1, 1, pens.mark("x", "blue", grid.room(0.7), grid.ground(1, 1)))
    canvas.picture().png()

The pixels of a picture are a function of theme, size and what was drawn, and of nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ludens.draw.boards import Board, board
    from ludens.draw.canvas import Canvas
    from ludens.draw.kits import Kit, kit
    from ludens.draw.picture import FilePicture, Picture
    from ludens.draw.strips import animate, strip
    from ludens.draw.studio import Overlay, Sprite
    from ludens.draw.themes import HUES, THEMES, Theme, theme

_HOME = {
    "Board": "boards", "board": "boards", "Canvas": "canvas", "Kit": "kits", "kit": "kits",
    "Picture": "picture", "FilePicture": "picture", "strip": "strips", "animate": "strips",
    "Overlay": "studio", "Sprite": "studio", "HUES": "themes",
    "THEMES": "themes", "Theme": "themes", "theme": "themes",
}  # fmt: skip

__all__ = [
    "HUES", "THEMES", "Board", "Canvas", "FilePicture", "Kit", "Overlay", "Picture", "Sprite", "Theme",
    "animate", "board", "kit", "strip", "theme",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
