"""Pictures that several tests draw."""

from __future__ import annotations

from ludens.draw import HUES, Canvas, Picture, SpriteSheet, draw_board


def gomoku(sheet: SpriteSheet, backwards: bool = False) -> Picture:
    """A 15 by 15 board with labels and 60 stones, laid in either order."""
    grid = draw_board(sheet, 15, 15, [str(15 - row) for row in range(15)], "abcdefghijklmno", style="points")
    canvas = grid.canvas()
    moves = [((n * 37) % 225 // 15, (n * 37) % 225 % 15, "black" if n % 2 else "white") for n in range(60)]
    for row, column, hue in reversed(moves) if backwards else moves:
        grid.put(canvas, row, column, sheet.stone(hue, grid.room(0.9), grid.ground(row, column)))
    return canvas.picture()


def chess(sheet: SpriteSheet) -> Picture:
    """A chess board with a few pieces and a marked square."""
    grid = draw_board(sheet, 8, 8, "87654321", "abcdefgh", style="checkered")
    canvas = grid.canvas()
    grid.tint(canvas, 4, 4)
    for column, name in enumerate(("rook", "knight", "bishop", "queen", "king", "pawn")):
        for row, fill, outline in ((0, "black", "white"), (7, "white", "black")):
            sprite = sheet.piece(name, fill, outline, grid.room(), grid.ground(row, column))
            grid.put(canvas, row, column, sprite)
    return canvas.picture()


def everything(sheet: SpriteSheet) -> Picture:
    """Every kind of sprite and text at least once."""
    canvas, px, side = Canvas(sheet), sheet.px, sheet.px(36)
    for number, hue in enumerate(HUES):
        x = px(10) + number * px(41)
        canvas.place(sheet.token(hue, side, "page"), x, px(5))
        canvas.place(sheet.pawn(hue, side, "page"), x, px(45))
        canvas.place(sheet.led(hue, side, "page", number % 2 == 0), x, px(85))
        canvas.place(sheet.dot(hue, side, "page"), x, px(125))
    for number, direction in enumerate(("up", "down-right", "left")):
        canvas.place(sheet.arrow(direction, "accent", side, "page"), px(10) + number * px(41), px(165))
    canvas.place(sheet.mark("x", "blue", side, "page"), px(140), px(165))
    canvas.place(sheet.mark("o", "red", side, "page"), px(180), px(165))
    canvas.place(sheet.coin(side, "page"), px(220), px(165))
    canvas.place(sheet.button("Press me", px(120), px(36), "green", "page"), px(260), px(165))
    canvas.place(sheet.wire("red", px(120), px(18), "page"), px(385), px(165))
    canvas.place(sheet.wire("blue", px(18), px(120), "page", cut=True), px(485), px(190))
    canvas.place(sheet.card("10", "hearts", px(100), "page"), px(10), px(210))
    canvas.place(sheet.card("K", "", px(100), "page"), px(90), px(210))
    canvas.place(sheet.card_back(px(100), "page"), px(170), px(210))
    known = sheet.hint_card("red", "3", px(100), "page", may_hues=("red", "blue"), may_ranks="34")
    canvas.place(known, px(250), px(210))
    canvas.place(sheet.hint_card(None, None, px(100), "page"), px(330), px(210))
    x, y, w, _ = canvas.panel(px(10), px(330), px(240), px(150), "Scores")
    canvas.text(x, y + px(20), "Red has 12 coins and Blue has 7", sheet.font_px(14), ground="panel", room=w)
    canvas.line(px(270), px(500), px(480), px(450), "red", px(3))
    canvas.frame(px(268), px(448), px(220), px(56), "line", px(2))
    return canvas.picture()
