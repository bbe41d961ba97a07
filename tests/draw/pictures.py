"""Pictures that several tests draw."""

from __future__ import annotations

from ludens.draw import HUES, Kit, Picture, board


def gomoku(pens: Kit, backwards: bool = False) -> Picture:
    """A 15 by 15 board with labels and 60 stones, laid in either order."""
    grid = board(pens, 15, 15, [str(15 - row) for row in range(15)], "abcdefghijklmno", style="points")
    canvas = grid.canvas()
    moves = [((n * 37) % 225 // 15, (n * 37) % 225 % 15, "black" if n % 2 else "white") for n in range(60)]
    for row, column, hue in reversed(moves) if backwards else moves:
        grid.put(canvas, row, column, pens.stone(hue, grid.room(0.9), grid.ground(row, column)))
    return canvas.picture()


def chess(pens: Kit) -> Picture:
    """A chess board with a few pieces and a marked square."""
    grid = board(pens, 8, 8, "87654321", "abcdefgh", style="checkered")
    canvas = grid.canvas()
    grid.tint(canvas, 4, 4)
    for column, name in enumerate(("rook", "knight", "bishop", "queen", "king", "pawn")):
        for row, fill, outline in ((0, "black", "white"), (7, "white", "black")):
            sprite = pens.piece(name, fill, outline, grid.room(), grid.ground(row, column))
            grid.put(canvas, row, column, sprite)
    return canvas.picture()


def everything(pens: Kit) -> Picture:
    """Every kind of sprite and block of text at least once."""
    canvas, px, side = pens.canvas(), pens.px, pens.px(36)
    for number, hue in enumerate(HUES):
        x = px(10) + number * px(41)
        canvas.place(pens.token(hue, side, "page"), x, px(5))
        canvas.place(pens.pawn(hue, side, "page"), x, px(45))
        canvas.place(pens.led(hue, side, "page", number % 2 == 0), x, px(85))
        canvas.place(pens.split(hue, HUES[number - 1], side, "page"), x, px(125))
    for number, direction in enumerate(("up", "down-right", "left")):
        canvas.place(pens.arrow(direction, "accent", side, "page"), px(10) + number * px(41), px(165))
    canvas.place(pens.mark("x", "blue", side, "page"), px(140), px(165))
    canvas.place(pens.mark("o", "red", side, "page"), px(180), px(165))
    canvas.place(pens.coin(side, "page"), px(220), px(165))
    canvas.place(pens.button("Press me", px(120), px(36), "green", "page"), px(260), px(165))
    canvas.place(pens.wire("red", px(120), px(18), "page"), px(385), px(165))
    canvas.place(pens.wire("blue", px(18), px(120), "page", cut=True), px(485), px(190))
    canvas.place(pens.card("10", "hearts", px(100), "page"), px(10), px(210))
    canvas.place(pens.card("K", "", px(100), "page"), px(90), px(210))
    canvas.place(pens.card_back(px(100), "page"), px(170), px(210))
    known = pens.hint_card("red", "3", px(100), "page", may_hues=("red", "blue"), may_ranks="34")
    canvas.place(known, px(250), px(210))
    canvas.place(pens.hint_card(None, None, px(100), "page"), px(330), px(210))
    x, y, w, _ = canvas.panel(px(10), px(330), px(240), px(150), "Scores")
    rows = [["Player", "Coins"], ["Red", "12"], ["Blue", "7"]]
    canvas.table(x, y, w, rows, pens.font_px(14), align="lr", ground="panel")
    canvas.wrap(
        px(270), px(330), px(220), "A paragraph that is long enough to be wrapped. " * 3, pens.font_px(13)
    )
    canvas.line(px(270), px(500), px(480), px(450), "red", px(3))
    canvas.frame(px(268), px(448), px(220), px(56), "line", px(2))
    return canvas.picture()
