"""Boards: a grid with labels outside it, drawn once; a frame is a copy of it with sprites put into cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.errors import BadOption, UnknownName
from ludens.draw import fonts
from ludens.draw.canvas import Canvas
from ludens.draw.kits import Kit
from ludens.draw.studio import Overlay, Sprite

STYLES = ("squares", "checkered", "lines", "points")
KEPT_BOARDS = 32
_STARS = {9: (2, 4, 6), 13: (3, 6, 9), 15: (3, 7, 11), 19: (3, 9, 15)}

Labels = tuple[str, ...]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Board:
    """A drawn grid and where its cells are. Row 0 is the top row, column 0 the left one.

    Attributes:
        x: Left edge of the grid.
        y: Top edge of the grid.
        px: Side of a cell in pixels.
    """

    kit: Kit
    rows: int
    columns: int
    style: str
    x: int
    y: int
    px: int
    base: Canvas

    def canvas(self) -> Canvas:
        """A fresh canvas with the empty board on it."""
        return self.base.copy()

    def cell(self, row: int, column: int) -> tuple[int, int, int]:
        """Left edge, top edge and side of a cell; on "points" the intersection is its middle."""
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            raise IndexError(f"no cell ({row}, {column}) on a board of {self.rows} by {self.columns}")
        return self.x + column * self.px, self.y + row * self.px, self.px

    def middle(self, row: int, column: int) -> tuple[int, int]:
        """The pixel in the middle of a cell."""
        x, y, px = self.cell(row, column)
        return x + px // 2, y + px // 2

    def ground(self, row: int, column: int) -> str:
        """The name of the colour a sprite in this cell lies on."""
        if self.style == "checkered":
            return "dark" if (row + column) % 2 else "light"
        return {"squares": "light", "lines": self.base.ground, "points": "wood"}[self.style]

    def room(self, part: float = 0.8) -> int:
        """The side of a sprite that fills this part of a cell and can be centred in it exactly."""
        side = max(1, round(self.px * part))
        return side - (self.px - side) % 2 if side > 1 else side

    def put(self, canvas: Canvas, row: int, column: int, sprite: Sprite | Overlay) -> None:
        """Put a sprite into the middle of a cell."""
        x, y, px = self.cell(row, column)
        h, w = sprite.pixels.shape if isinstance(sprite, Overlay) else sprite.shape
        canvas.place(sprite, x + (px - w) // 2, y + (px - h) // 2)

    def tint(self, canvas: Canvas, row: int, column: int, colour: str = "highlight") -> None:
        """Fill a cell up to its lines, to mark it; sprites put there afterwards lie on that colour."""
        x, y, px = self.cell(row, column)
        if self.style == "checkered":
            canvas.fill(x, y, px, px, colour)
            return
        width = _line(self.kit)
        before, after = width // 2, width - width // 2
        canvas.fill(x + after, y + after, px - before - after, px - before - after, colour)


def _line(kit: Kit, units: float = 1.5) -> int:
    return max(1, round(units * kit.size / 512 * kit.theme.line_weight))


def board(
    kit: Kit,
    rows: int,
    columns: int,
    row_labels: Sequence[str] | None = None,
    column_labels: Sequence[str] | None = None,
    style: str = "squares",
    labels: str = "lb",
    box: Box | None = None,
    ground: str = "page",
) -> Board:
    """The board with these measures, drawn at the first call and kept by the kit.

    Args:
        kit: What to draw with.
        rows: Number of rows.
        columns: Number of columns.
        row_labels: From the top row down; None for none.
        column_labels: From the left; None for none.
        style: "squares" (equal cells), "checkered", "lines" (only the lines between cells) or "points"
            (pieces lie on the crossings of lines, as in go).
        labels: The sides that carry labels: any of l, r, t and b.
        box: The part (x, y, w, h) of the picture for grid and labels; the whole of it unless given.
        ground: The colour around the grid.
    """
    marks = tuple(row_labels or ()), tuple(column_labels or ())
    key = ("board", rows, columns, marks, style, labels, box, ground)
    found = kit.kept.get(key)
    if not isinstance(found, Board):
        if len(kit.kept) >= KEPT_BOARDS:
            kit.kept.clear()
        found = _draw(kit, rows, columns, *marks, style, labels, box or (0, 0, kit.size, kit.size), ground)
        kit.kept[key] = found
    return found


def _draw(
    kit: Kit,
    rows: int,
    columns: int,
    down: Labels,
    across: Labels,
    style: str,
    labels: str,
    box: Box,
    ground: str,
) -> Board:
    if style not in STYLES:
        raise UnknownName("board style", style, STYLES)
    if rows < 1 or columns < 1 or len(down) not in (0, rows) or len(across) not in (0, columns):
        raise BadOption(
            f"a board of {rows} by {columns} cannot have {len(down)} row and {len(across)} column labels."
        )
    pad = kit.px(10)
    rough = min((box[2] - 2 * pad) / (columns + 0.7), (box[3] - 2 * pad) / (rows + 0.7))
    px = round(min(kit.px(18), max(9, rough * 0.45)))
    bold, gap = kit.theme.bold_labels, max(3, round(px * 0.4))
    wide = max((fonts.width(label, px, bold) for label in down), default=0)
    side = wide + gap if down else 0
    end = round(px * 0.95) + gap if across else 0
    left, right, top, bottom = (
        side * ("l" in labels),
        side * ("r" in labels),
        end * ("t" in labels),
        end * ("b" in labels),
    )
    inner_w, inner_h = box[2] - 2 * pad - left - right, box[3] - 2 * pad - top - bottom
    cell = min(inner_w // columns, inner_h // rows)
    if cell < 4:
        raise BadOption(f"a board of {rows} by {columns} does not fit into {box[2]} by {box[3]} pixels.")
    x = box[0] + pad + left + (inner_w - cell * columns) // 2
    y = box[1] + pad + top + (inner_h - cell * rows) // 2
    base = kit.canvas(ground)
    made = Board(kit, rows, columns, style, x, y, cell, base)
    _grid(made)
    width, height = cell * columns, cell * rows
    for number, label in enumerate(down):
        at = y + number * cell + cell // 2
        if "l" in labels:
            base.text(x - gap, at, label, px, "ink", None, "rm", bold)
        if "r" in labels:
            base.text(x + width + gap, at, label, px, "ink", None, "lm", bold)
    for number, label in enumerate(across):
        at = x + number * cell + cell // 2
        if "t" in labels:
            base.text(at, y - gap - round(px * 0.4), label, px, "ink", None, "mm", bold, room=max(cell, px))
        if "b" in labels:
            base.text(
                at,
                y + height + gap + round(px * 0.42),
                label,
                px,
                "ink",
                None,
                "mm",
                bold,
                room=max(cell, px),
            )
    base.pixels.setflags(write=False)
    return made


def _grid(board: Board) -> None:
    canvas, kit, x, y, px = board.base, board.kit, board.x, board.y, board.px
    width, height, line = px * board.columns, px * board.rows, _line(kit)
    if board.style == "checkered":
        rim = kit.px(2)
        canvas.fill(x - rim, y - rim, width + 2 * rim, height + 2 * rim, "line")
        for row in range(board.rows):
            for column in range(board.columns):
                canvas.fill(x + column * px, y + row * px, px, px, board.ground(row, column))
        return
    if board.style == "points":
        canvas.rounded(x, y, width, height, "wood", radius=kit.px(6))
        half, line = px // 2, _line(kit, 1.2)
        for row in range(board.rows):
            canvas.line(
                x + half, y + half + row * px, x + half + width - px, y + half + row * px, "line", line
            )
        for column in range(board.columns):
            canvas.line(
                x + half + column * px, y + half, x + half + column * px, y + half + height - px, "line", line
            )
        if board.rows == board.columns and board.rows in _STARS:
            star = max(3, round(px * 0.2)) | 1
            for row in _STARS[board.rows]:
                for column in _STARS[board.rows]:
                    canvas.centre(kit.dot("line", star, "wood"), *board.middle(row, column))
        return
    if board.style == "squares":
        canvas.fill(x, y, width, height, "light")
    outer = board.style == "squares"
    for row in range(not outer, board.rows + outer):
        canvas.line(x, y + row * px, x + width, y + row * px, "line", line)
    for column in range(not outer, board.columns + outer):
        canvas.line(x + column * px, y, x + column * px, y + height, "line", line)
