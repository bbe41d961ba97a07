"""Color: turn sixteen squares white group by group, in an order given by a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL.ImageDraw import ImageDraw

from ludens.core.random import Stream
from ludens.draw import Canvas, Sprite
from ludens.draw.palette import edge_of, letter_on
from ludens.draw.shapes import letters
from ludens.games.comma.dialogue import Comma, need
from ludens.games.comma.pages import Block, read_blocks, table
from ludens.games.comma.puzzle import Facts, Manual, Outcome, Puzzle, Unclear, read_tables
from ludens.games.comma.view import Box, CommaView

COLOURS = ("red", "blue", "green", "yellow", "magenta")
GROUPS = (*COLOURS, "row", "column")
SIDE = 4
SQUARES = SIDE * SIDE
COLOURED = SQUARES - len(COLOURS) + 1
"""From this many white squares on, some colour may be missing: only rows and columns can be next."""
_HIDDEN = "?"

Board = tuple[str, ...]
"""The squares in reading order: a colour, `white`, or `?` where the colour is unknown."""

_NEEDS = {
    **{f"row {row}": "the colours from left to right, with commas, white included" for row in range(SIDE)},
    "pressed": "the group that was pressed just before; none at the start and after a mistake",
}


def squares(group: str, board: Sequence[str]) -> tuple[int, ...]:
    """The squares of a group: a colour, or `top row`, `bottom row`, `left column`, `right column`."""
    side, _, line = group.partition(" ")
    if not line:
        return tuple(n for n, colour in enumerate(board) if colour == group)
    lines = [n // SIDE if line == "row" else n % SIDE for n in range(SQUARES)]
    coloured = [lines[n] for n, colour in enumerate(board) if colour != "white"]
    edge = min(coloured) if side in ("top", "left") else max(coloured)
    return tuple(n for n, colour in enumerate(board) if lines[n] == edge and colour != "white")


def whiten(group: str, board: Board) -> Board:
    """The board after this group turned white; the colours of the others become unknown."""
    turned = squares(group, board)
    return tuple("white" if n in turned or colour == "white" else _HIDDEN for n, colour in enumerate(board))


@dataclass(frozen=True)
class ColorManual(Manual):
    """How to start, which row and column are meant, and the table of next groups."""

    table: tuple[tuple[str, ...], ...]
    """For 1 to 15 white squares, for the group pressed before, in the order of `GROUPS`."""
    order: tuple[str, ...] = COLOURS
    """Among colours with equally many squares, the earlier one counts at the start."""
    fewest: bool = True
    row: str = "top"
    column: str = "left"

    def due(self, board: Board, pressed: str | None) -> str:
        """The group to press, as named in `squares`; `pressed` is the one before, as in `GROUPS`."""
        if pressed is None:
            sign = 1 if self.fewest else -1
            return min(self.order, key=lambda colour: sign * board.count(colour))
        group = self.table[board.count("white") - 1][GROUPS.index(pressed)]
        return {"row": f"{self.row} row", "column": f"{self.column} column"}.get(group, group)

    def plan(self, board: Board, pressed: str | None) -> list[str]:
        """The next groups, as far as they can be known.

        Squares change colour after every press, but rows and columns are known without seeing colours. So
        the plan goes on to the first colour after the first press, or to the end.
        """
        groups: list[str] = []
        while set(board) != {"white"}:
            group = self.due(board, pressed)
            groups.append(group)
            if _HIDDEN in board and group in COLOURS:
                break
            board, pressed = whiten(group, board), group.split()[-1]
        return groups

    def blocks(self) -> tuple[Block, ...]:
        tables = []
        for half in (slice(0, 4), slice(4, None)):
            head = ("White now", *(f"{group} last" for group in GROUPS[half]))
            tables.append(table(head, *((str(white), *row[half]) for white, row in enumerate(self.table, 1))))
        return read_blocks(
            __file__,
            row=_MOST[self.row],
            column=_MOST[self.column],
            fewest="fewest" if self.fewest else "most",
            order=", ".join(self.order),
            groups="\n\n".join(tables),
        )

    def advise(self, messages: Sequence[Facts]) -> Facts:
        *rows, pressed = need(messages, _NEEDS)
        board = tuple(colour.strip().lower() for row in rows for colour in row.split(","))
        if len(board) != SQUARES or any(colour not in (*COLOURS, "white") for colour in board):
            raise Unclear(f"I know {SIDE} rows of {SIDE} squares, each {', '.join(COLOURS)} or white.")
        last = pressed.lower().split()[-1]
        if (last == "none") != ("white" not in board) or last not in ("none", *GROUPS):
            raise Unclear("What was pressed just before is none at the start, else a colour, row or column.")
        return {"press": ", ".join(self.plan(board, None if last == "none" else last))}


_MOST = {"top": "topmost", "bottom": "lowest", "left": "leftmost", "right": "rightmost"}
_TABLE = read_tables(__file__)["table"].strip().split("\n")
PUBLISHED = ColorManual(tuple(tuple(line.split()) for line in _TABLE))


def draw_manual(random: Stream) -> ColorManual:
    free = [tuple(random.sample(GROUPS, len(GROUPS))) for _ in range(1, COLOURED)]
    last = [tuple(random.choice(GROUPS[-2:]) for _ in GROUPS) for _ in range(COLOURED, SQUARES)]
    return ColorManual(
        (*free, *last),
        tuple(random.sample(COLOURS, len(COLOURS))),
        random.below(2) == 0,
        random.choice(("top", "bottom")),
        random.choice(("left", "right")),
    )


class ColorPanel(Puzzle[ColorManual]):
    """Squares that turn white by groups; all others then change colour. A mistake resets everything."""

    redraws = True
    asks = "press = <the groups to press one after the other, with commas>"
    actions = tuple(f"click_row_{row}_col_{column}" for row in range(SIDE) for column in range(SIDE))

    def set_up(self) -> None:
        self.board: Board = ("?",) * SQUARES
        self._draw_colours()
        self._start = self.board
        self.pressed: str | None = None
        """The group pressed last: a colour, `row` or `column`."""
        self.best = 0

    def _draw_colours(self) -> None:
        """New colours for all squares that are not white; while five or more are left, every colour occurs.

        The released code put the five colours on the first five of these squares in reading order, so that
        one could click without looking; here they may be anywhere.
        """
        coloured = [n for n, colour in enumerate(self.board) if colour != "white"]
        board = list(self.board)
        for n in coloured:
            board[n] = self.random.choice(COLOURS)
        if len(coloured) >= len(COLOURS):
            certain = coloured if self.released else self.random.sample(coloured, len(COLOURS))
            for n, colour in zip(certain, COLOURS, strict=False):
                board[n] = colour
        self.board = tuple(board)

    def act(self, action: str) -> Outcome:
        square = self.actions.index(action)
        if self.board[square] == "white":
            return "nothing"
        group = self.manual.due(self.board, self.pressed)
        if square not in squares(group, self.board):
            self.board, self.pressed = self._start, None
            return "mistake"
        self.board, self.pressed = whiten(group, self.board), group.split()[-1]
        white = self.board.count("white")
        self.best = max(self.best, white)
        if white == SQUARES:
            return "solved"
        self._draw_colours()
        return "done"

    @property
    def progress(self) -> float:
        return self.best / SQUARES

    def describe(self) -> str:
        return "\n".join(f"Row {row}: {colours}" for row, colours in enumerate(self._rows()))

    def tell(self) -> Facts:
        rows = {f"row {row}": colours for row, colours in enumerate(self._rows())}
        return {**rows, "pressed": self.pressed or "none"}

    def working(self) -> Sequence[str]:
        """How many squares have each colour, the group that is due, and the first of its squares."""
        counts = ", ".join(f"{self.board.count(colour)} {colour}" for colour in (*COLOURS, "white"))
        group = self.manual.due(self.board, self.pressed)
        row, column = divmod(squares(group, self.board)[0], SIDE)
        return [counts, f"press = {group}", f"row {row} col {column}"]

    def follow(self, advice: Facts) -> Sequence[str]:
        actions: list[str] = []
        for group in filter(None, advice.get("press", "").split(", ")):
            group_squares = squares(group, self.board)
            if not group_squares:
                break
            actions.append(self.actions[group_squares[0]])
            if self.act(actions[-1]) == "solved":
                break
        return actions

    def _rows(self) -> list[str]:
        return [", ".join(self.board[start : start + SIDE]) for start in range(0, SQUARES, SIDE)]


@dataclass(frozen=True)
class Color(Comma):
    """Turn sixteen coloured squares white, group by group, in the order a table gives.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver first.
    Observation: the Solver gets a picture of the squares with rows and columns numbered from 0, the serial
        number, the status light, mistakes and turns, and reads its actions, their results and the
        conversation; the Expert reads the manual and the conversation, without the results of the actions.
    Actions: messages. A line of the Solver's that is `click_row_0_col_0` to `click_row_3_col_3` clicks that
        square. White squares do nothing; a square of the wrong group undoes everything.
    Rewards: both seats get the partial score: the most squares that were ever white / 16.
    Manuals: random ones have another table, begin with the colour that is rarest or most frequent, by
        another order, and take rows from the top or bottom and columns from the left or right.
    Released: the first five squares that are not white are always red, blue, green, yellow and magenta in
        reading order; otherwise every colour occurs somewhere as long as five squares are left.
    """

    name = "comma/color"
    view_class = "ludens.games.comma.color:ColorView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = ColorPanel
    random_manual = staticmethod(draw_manual)


LEFT, TOP, STEP, SQUARE = 84, 112, 96, 88
"""Position of the first square, distance to the next, and size of one, in units."""


class ColorView(CommaView):
    """Squares on a plate; in themes with letters, each coloured one has its letter."""

    inks = (*COLOURS, "white")
    grounds = ("page", "panel", "white")

    def boxes(self, box: Box, puzzle: ColorPanel) -> Mapping[str, Box]:
        px, side = self.sheet.px, self.sheet.px(SQUARE)
        places = ((action, *divmod(n, SIDE)) for n, action in enumerate(puzzle.actions))
        return {action: (px(LEFT + c * STEP), px(TOP + r * STEP), side, side) for action, r, c in places}

    def draw(self, canvas: Canvas, box: Box, puzzle: ColorPanel) -> None:
        sheet, px = self.sheet, self.sheet.px
        rim = px(8)
        plate, size = px(4 * STEP - 8) + 2 * rim, sheet.font_px(17)
        canvas.rounded(px(LEFT) - rim, px(TOP) - rim, plate, plate, "panel")
        for line in range(SIDE):
            middle, label = px(line * STEP + SQUARE / 2), str(line)
            canvas.text(px(LEFT) + middle, px(TOP - 22), label, size, "muted", anchor="mm", bold=True)
            canvas.text(px(LEFT - 26), px(TOP) + middle, label, size, "muted", anchor="mm", bold=True)
        canvas.text(px(LEFT - 26), px(TOP - 22), "row", sheet.font_px(11), "muted", anchor="mm")
        canvas.text(px(LEFT + 4 * STEP + 4), px(TOP - 22), "col", sheet.font_px(11), "muted", anchor="mm")
        for colour, (x, y, _, _) in zip(puzzle.board, self.boxes(box, puzzle).values(), strict=True):
            canvas.place(self.square(colour), x, y)

    def square(self, colour: str) -> Sprite:
        sheet, side = self.sheet, self.sheet.px(SQUARE)
        fill = sheet.rgb(colour)

        def paint(draw: ImageDraw, s: float) -> None:
            w, line = side * s, max(1.0, side * 0.025) * s
            draw.rounded_rectangle((0, 0, w - 1, w - 1), w * 0.1, fill=edge_of(fill, sheet.rgb("panel")))
            draw.rounded_rectangle((line, line, w - 1 - line, w - 1 - line), w * 0.1 - line, fill=fill)
            letters(draw, sheet.theme.letter(colour), w / 2, w / 2, w * 0.7, w * 0.5, letter_on(fill))

        return sheet.sprite(("comma square", colour), side, side, "panel", paint)
