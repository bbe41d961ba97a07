"""Pixels: themes, sprites, canvases, boards and pictures.

    from ludens.draw import draw_board, sprite_sheet

    sheet = sprite_sheet("classic", 512)
    board = draw_board(sheet, 3, 3, "321", "abc", style="lines")
    canvas = board.canvas()
    board.put(canvas, 1, 1, sheet.mark("x", "blue", board.room(0.7), board.ground(1, 1)))
    canvas.picture().png()

The pixels of a picture depend on the theme, the size and what was drawn, and on nothing else.
"""

from ludens.draw.board import Board, CellCache, draw_board
from ludens.draw.canvas import Canvas
from ludens.draw.picture import Picture, animate, strip
from ludens.draw.pieces import SpriteSheet, sprite_sheet
from ludens.draw.sprites import Overlay, Sprite
from ludens.draw.theme import HUES, THEMES, Theme, get_theme

__all__ = [
    "HUES", "THEMES", "Board", "Canvas", "CellCache", "Overlay", "Picture", "Sprite", "SpriteSheet", "Theme",
    "animate", "draw_board", "get_theme", "sprite_sheet", "strip",
]  # fmt: skip
