"""The Color manual: the next group by the number of white squares and the group pressed before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.core.random import Stream
from ludens.games.comma.blocks import Block, Grid, Heading, Items, Paragraph
from ludens.games.comma.language import need
from ludens.games.comma.puzzle import Facts, Manual, Unclear

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
    left = [lines[n] for n, colour in enumerate(board) if colour != "white"]
    wanted = min(left) if side in ("top", "left") else max(left)
    return tuple(n for n, colour in enumerate(board) if lines[n] == wanted and colour != "white")


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
        intro = (
            f"A panel has {SQUARES} coloured squares, {SIDE} in a row. All of them must become white, group "
            "by group. Clicking any one square of the right group turns the whole group white. After that "
            "the squares that are not white yet may change colour. Clicking a square of any other group is a "
            "mistake: all squares go back to how they were at the start, and you begin again. White squares "
            "do nothing."
        )
        start = (
            f"The first group is the colour with the {'fewest' if self.fewest else 'most'} squares. Where "
            f"colours are equal in that, the one named first here: {', '.join(self.order)}."
        )
        groups = (
            "A colour: all squares that have it now.",
            f"Row: all squares not white in the {_most(self.row)} row that has any.",
            f"Column: all squares not white in the {_most(self.column)} column that has any.",
        )
        after = (
            "After that, the table names the group. Its line is the number of squares that are white now, "
            "its column the group that was pressed last."
        )
        halves = (slice(0, 4), slice(4, None))
        tables = [
            Grid(
                (
                    ("White now", *(f"{group} last" for group in GROUPS[half])),
                    *((str(white), *row[half]) for white, row in enumerate(self.table, 1)),
                )
            )
            for half in halves
        ]
        return (
            Heading("Squares"),
            Paragraph(intro),
            Heading("What is a group"),
            Items(groups),
            Heading("Where to begin"),
            Paragraph(start),
            Heading("How to go on"),
            Paragraph(after),
            *tables,
        )

    def advise(self, told: Sequence[Facts]) -> Facts:
        *rows, pressed = need(told[-1] if told else {}, _NEEDS)
        board = tuple(colour.strip().lower() for row in rows for colour in row.split(","))
        if len(board) != SQUARES or any(colour not in (*COLOURS, "white") for colour in board):
            raise Unclear(f"I know {SIDE} rows of {SIDE} squares, each {', '.join(COLOURS)} or white.")
        last = pressed.lower().split()[-1]
        if (last == "none") != ("white" not in board) or last not in ("none", *GROUPS):
            raise Unclear("What was pressed just before is none at the start, else a colour, row or column.")
        return {"press": ", ".join(self.plan(board, None if last == "none" else last))}


def _most(side: str) -> str:
    return {"top": "topmost", "bottom": "lowest", "left": "leftmost", "right": "rightmost"}[side]


_TABLE = """
blue column red yellow row green magenta
row green blue magenta red column yellow
yellow magenta green row blue red column
blue green yellow column red row magenta
yellow row blue magenta column red green
magenta red yellow green column blue row
green row column blue magenta yellow red
magenta red green blue yellow column row
column yellow red green row magenta blue
green column row red magenta blue yellow
red yellow row column green magenta blue
column row column row row column row
row column row column row column column
column column row row column row column
row row column row column column row
"""

PUBLISHED = ColorManual(tuple(tuple(line.split()) for line in _TABLE.split("\n") if line))


def draw_manual(random: Stream) -> ColorManual:
    """A random table, a random start, and possibly the lowest row or the rightmost column."""
    free = [tuple(random.sample(GROUPS, len(GROUPS))) for _ in range(1, COLOURED)]
    last = [tuple(random.choice(GROUPS[-2:]) for _ in GROUPS) for _ in range(COLOURED, SQUARES)]
    return ColorManual(
        (*free, *last),
        tuple(random.sample(COLOURS, len(COLOURS))),
        random.below(2) == 0,
        random.choice(("top", "bottom")),
        random.choice(("left", "right")),
    )
