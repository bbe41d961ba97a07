"""The view of Minesweeper: raised tiles, numbers in the usual colours, round mines with spikes."""

from __future__ import annotations

from string import ascii_uppercase

from PIL.ImageDraw import ImageDraw

from ludens.core.random import Stream
from ludens.core.view import RenderOptions
from ludens.draw import Picture, Sprite, Theme, draw_board, get_theme, sprite_sheet
from ludens.draw.palette import BLACK, WHITE, contrast, mix, visible
from ludens.draw.shapes import fill_shape, regular
from ludens.games.boards import BoardView, Matrix
from ludens.games.minesweeper.oracle import HIDDEN, MINE, around, names, neighbours
from ludens.games.minesweeper.rules import Minesweeper, MinesweeperState

_HUES = ("blue", "green", "red", "purple", "brown", "cyan", "black", "gray")
_READABLE = 4.5


def number_inks(theme: Theme, ground: str) -> tuple[str, ...]:
    """A colour for each number from 1 to 8, adjusted until it is legible on the ground.

    Where colour must not matter all numbers have the colour of ink: their shapes say enough.
    """
    if theme.lettered:
        return ("ink",) * 8
    inks = []
    for hue in _HUES:
        steps = (mix(theme.colour(hue), theme.colour("ink"), step, 20) for step in range(21))
        readable = (rgb for rgb in steps if contrast(rgb, theme.colour(ground)) >= _READABLE)
        inks.append("#{:02x}{:02x}{:02x}".format(*next(readable, theme.colour("ink"))))
    return tuple(inks)


class MinesweeperView(BoardView):
    """Rows are lettered from the top, columns numbered from the left."""

    codes = {
        HIDDEN: "hidden",
        0: "open and blank",
        **{number: str(number) for number in range(1, 9)},
        MINE: "a mine",
    }
    marks = {HIDDEN: "#", 0: ".", **{number: str(number) for number in range(1, 9)}, MINE: "*"}

    def __init__(self, game: Minesweeper, render: RenderOptions, seed: int = 0) -> None:
        super().__init__(game, render, seed)
        self._field = game
        self.rows, self.columns = game.rows, game.columns
        colours = get_theme(render.theme, seed)
        self._inks = number_inks(colours, "page")
        page = colours.colour("page")
        self._stone = "#{:02x}{:02x}{:02x}".format(*visible(mix(page, colours.colour("line"), 2, 5), page))
        inks = ("ink", "line", "red", self._stone, *dict.fromkeys(self._inks))
        self._sheet = sprite_sheet(render.theme, render.size, seed, inks=inks, grounds=("page", "red"))
        labels = ascii_uppercase[: self.rows], [self.column_label(column) for column in range(self.columns)]
        self.board = draw_board(self._sheet, self.rows, self.columns, *labels, style="lines", labels="lt")

    def values(self, seat: str) -> dict[str, object]:
        opening = self.templates.fill(f"opening {self._field.first}")
        return {**super().values(seat), "last": ascii_uppercase[self.rows - 1], "opening": opening}

    def matrix(self, state: MinesweeperState) -> Matrix:
        return [state.seen[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def image(self, state: MinesweeperState, seat: str) -> Picture:
        return self._picture(self.matrix(state), state.hit)

    def text(self, state: MinesweeperState, seat: str) -> str:
        field = super().text(state, seat)
        if state.hit is None:
            return field
        return f"{field}\nThe mine at {names(self.rows, self.columns)[state.hit]} was opened."

    def draw(self, matrix: Matrix) -> Picture:
        return self._picture(matrix, None)

    def weight(self, move: str) -> float:
        """The fewer cells touch a cell, the more seldom it opens together with another: corners would stay
        hidden most often, and to name one would be a good guess."""
        cell = names(self.rows, self.columns).index(move)
        return 1 / len(neighbours(self.rows, self.columns)[cell]) ** 2

    def scatter(self, random: Stream) -> Matrix:
        """Any number of open cells, mines among them, on a field with up to half its cells mined."""
        cells = range(self.rows * self.columns)
        mines = frozenset(random.sample(cells, random.between(0, len(cells) // 2)))
        shown = [HIDDEN for _ in cells]
        touching = neighbours(self.rows, self.columns)
        for cell in random.sample(cells, random.between(0, len(cells))):
            shown[cell] = MINE if cell in mines else around(mines, touching[cell])
        return [shown[row * self.columns : (row + 1) * self.columns] for row in range(self.rows)]

    def _picture(self, matrix: Matrix, hit: int | None) -> Picture:
        place, canvas = self.board, self.board.canvas()
        tile, px = self._tile(), round(place.px * 0.66)
        for row, codes in enumerate(matrix):
            for column, code in enumerate(codes):
                if code == HIDDEN:
                    place.put(canvas, row, column, tile)
                elif code == MINE:
                    ground = "red" if row * self.columns + column == hit else "page"
                    if ground == "red":
                        place.tint(canvas, row, column, ground)
                    place.put(canvas, row, column, self._mine(ground))
                elif code:
                    digit = self._sheet.text(str(code), px, self._inks[code - 1], "page", True)
                    place.put(canvas, row, column, digit)
        width = place.px * self.columns, place.px * self.rows
        canvas.frame(place.x, place.y, *width, "line", self._sheet.px(2))
        return canvas.picture()

    def _tile(self) -> Sprite:
        """A raised tile, lit from the top left."""
        side, sheet = self.board.room(0.94), self._sheet
        edge, fill = max(1.5, side * 0.09), sheet.rgb(self._stone)

        def paint(draw: ImageDraw, s: float) -> None:
            full, rim = side * s, edge * s
            draw.rectangle((0, 0, full, full), fill=mix(fill, BLACK, 2, 5))
            draw.polygon([(0, 0), (full, 0), (0, full)], fill=mix(fill, WHITE, 3, 5))
            draw.rectangle((rim, rim, full - 1 - rim, full - 1 - rim), fill=fill)

        return sheet.sprite("tile", side, side, "page", paint)

    def _mine(self, ground: str) -> Sprite:
        """A ball with eight spikes, in a colour that contrasts with its ground."""
        side, sheet = self.board.room(0.74), self._sheet
        body = max(BLACK, WHITE, key=lambda rgb: contrast(rgb, sheet.rgb(ground)))

        def paint(draw: ImageDraw, s: float) -> None:
            middle = side * s / 2
            for x, y in regular(8, middle, middle, middle * 0.98, 0.0):
                draw.line((middle, middle, x, y), fill=body, width=round(side * s * 0.09))
            fill_shape(draw, "disc", middle, middle, middle * 0.68, body)
            fill_shape(draw, "disc", middle * 0.78, middle * 0.78, middle * 0.17, sheet.rgb(ground))

        return sheet.sprite("mine", side, side, ground, paint)
