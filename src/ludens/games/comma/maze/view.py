"""The view of the maze from above: walls, spheres, the torus and the mouse."""

from __future__ import annotations

from collections.abc import Mapping

from PIL.ImageDraw import ImageDraw

from ludens.draw import Canvas, Overlay, Sprite
from ludens.draw.palette import edge_of, letter_on, mix
from ludens.draw.shapes import fill_shape, letters
from ludens.games.comma.frame import Box
from ludens.games.comma.maze.manual import COLOURS, MOVES, Cell
from ludens.games.comma.maze.manual import Maze as Plan
from ludens.games.comma.maze.rules import MazePanel
from ludens.games.comma.view import CommaView

LEFT, TOP, CELL = 66, 100, 44
"""Position of the first cell and size of a cell, in units."""
WALL, FREE = "#3d4450", "white"


class MazeView(CommaView):
    """Dark walls and white corridors, numbered at the edge; spheres are shiny discs, the torus is a ring."""

    inks = (*COLOURS, "white", "gray", WALL)
    grounds = ("page", "panel", FREE, WALL)

    def boxes(self, box: Box, puzzle: MazePanel) -> Mapping[str, Box]:
        """The cells beside the mouse, and its own to check the position."""
        row, column = puzzle.mouse
        cells = {f"move_{way}": (row + down, column + right) for way, (down, right) in MOVES.items()}
        cells["check_position"] = puzzle.mouse
        inside = range(puzzle.maze.size)
        return {
            action: (*self.corner(cell), self.cell, self.cell)
            for action, cell in cells.items()
            if cell[0] in inside and cell[1] in inside
        }

    def draw(self, canvas: Canvas, box: Box, puzzle: MazePanel) -> None:
        sheet, maze = self.sheet, puzzle.maze
        canvas.place(self._plan(maze), sheet.px(LEFT), sheet.px(TOP))
        for line in range(maze.size):
            along, label = line * self.cell + self.cell // 2, str(line + 1)
            canvas.text(
                sheet.px(LEFT) + along, sheet.px(TOP - 13), label, sheet.font_px(13), "muted", anchor="mm"
            )
            canvas.text(
                sheet.px(LEFT - 15), sheet.px(TOP) + along, label, sheet.font_px(13), "muted", anchor="mm"
            )
        canvas.place(self.ring(puzzle.torus), *self.corner(maze.torus))
        x, y = self.corner(puzzle.mouse)
        canvas.place(self.mouse, x, y)
        if puzzle.mouse in maze.spheres:
            letter = sheet.theme.letter(COLOURS[maze.spheres.index(puzzle.mouse)])
            if letter:
                canvas.text(x + 2, y + 1, letter, sheet.font_px(14), "black", FREE, "lt", bold=True)

    @property
    def cell(self) -> int:
        """The side of a cell in pixels."""
        return self.sheet.px(CELL)

    def corner(self, cell: Cell) -> tuple[int, int]:
        """The top left pixel of a cell."""
        return self.sheet.px(LEFT) + cell[1] * self.cell, self.sheet.px(TOP) + cell[0] * self.cell

    def _plan(self, maze: Plan) -> Sprite:
        """The maze without torus and mouse."""
        sheet, cell, side = self.sheet, self.cell, self.cell * maze.size

        def paint(draw: ImageDraw, s: float) -> None:
            for row, column in maze.free:
                x, y = column * cell * s, row * cell * s
                draw.rectangle((x, y, x + cell * s - 1, y + cell * s - 1), sheet.rgb(FREE))
            for line in range(1, maze.size):
                at, end = line * cell * s, side * s
                draw.line((at, 0, at, end), sheet.rgb("gray"), round(s))
                draw.line((0, at, end, at), sheet.rgb("gray"), round(s))
            for colour, (row, column) in zip(COLOURS, maze.spheres, strict=True):
                self._ball(draw, colour, (column + 0.5) * cell * s, (row + 0.5) * cell * s, cell * s * 0.41)

        return sheet.sprite(("comma maze", maze), side, side, WALL, paint)

    def _ball(self, draw: ImageDraw, colour: str, x: float, y: float, r: float) -> None:
        theme, fill = self.sheet.theme, self.sheet.rgb(colour)
        fill_shape(draw, "disc", x, y, r, edge_of(fill, self.sheet.rgb(FREE)))
        fill_shape(draw, "disc", x, y, r * 0.92, fill)
        if not theme.lettered:
            fill_shape(draw, "disc", x - r * 0.34, y - r * 0.4, r * 0.2, mix(fill, (255, 255, 255), 3, 5))
        letters(draw, theme.letter(colour), x, y, r * 1.2, r * 1.1, letter_on(fill))

    def ring(self, colour: str) -> Sprite:
        """The torus, on the wall it belongs to."""
        sheet, side = self.sheet, self.cell
        fill, light = sheet.rgb(colour), (255, 255, 255)

        def paint(draw: ImageDraw, s: float) -> None:
            r = side * s / 2
            for part, hue in ((0.96, light), (0.9, fill), (0.6, light), (0.54, sheet.rgb(WALL))):
                fill_shape(draw, "disc", r, r, r * part, hue)
            letters(draw, sheet.theme.letter(colour), r, r, r * 0.9, r * 0.86, light)

        return sheet.sprite(("comma torus", colour), side, side, WALL, paint)

    @property
    def mouse(self) -> Overlay:
        """A grey head with two ears, small enough to leave the edge of a sphere visible."""
        sheet, side = self.sheet, self.cell

        def paint(draw: ImageDraw, s: float) -> None:
            w = side * s
            for grow, hue in ((0.035, "black"), (0.0, "gray")):
                for x, y, r in ((0.36, 0.36, 0.115), (0.64, 0.36, 0.115), (0.5, 0.54, 0.2)):
                    radius = w * (r + grow)
                    draw.ellipse(
                        (w * x - radius, w * y - radius, w * x + radius, w * y + radius), sheet.rgb(hue)
                    )
            for x in (0.43, 0.57):
                draw.ellipse((w * x - w * 0.03, w * 0.47, w * x + w * 0.03, w * 0.53), sheet.rgb("black"))
            draw.ellipse((w * 0.46, w * 0.6, w * 0.54, w * 0.67), sheet.rgb("black"))

        return sheet.overlay("comma mouse", side, side, paint)
