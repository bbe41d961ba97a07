"""The panel of sixteen coloured squares, and the game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ludens.games.comma.color.manual import (
    COLOURS,
    PUBLISHED,
    SIDE,
    SQUARES,
    Board,
    ColorManual,
    draw_manual,
    squares,
    whiten,
)
from ludens.games.comma.dialogue import Comma
from ludens.games.comma.puzzle import Facts, Outcome, Puzzle, Setting


class ColorPanel(Puzzle[ColorManual]):
    """Squares that turn white by groups; all others then change colour. A mistake resets everything."""

    asks = "press = <the groups to press one after the other, with commas>"
    actions = tuple(f"click_row_{row}_col_{column}" for row in range(SIDE) for column in range(SIDE))

    def __init__(self, manual: ColorManual, setting: Setting) -> None:
        super().__init__(manual, setting)
        self.board: Board = ("?",) * SQUARES
        self._draw_colours()
        self._start = self.board
        self.pressed: str | None = None
        """The group pressed last: a colour, `row` or `column`."""
        self.best = 0
        """The most squares that were ever white."""

    def _draw_colours(self) -> None:
        """New colours for all squares that are not white; while five or more are left, every colour occurs.

        The released code put the five colours on the first five of these squares in reading order, so that
        one could click without looking; here they may be anywhere.
        """
        left = [n for n, colour in enumerate(self.board) if colour != "white"]
        board = list(self.board)
        for n in left:
            board[n] = self.random.choice(COLOURS)
        if len(left) >= len(COLOURS):
            sure = left if self.released else self.random.sample(left, len(COLOURS))
            for n, colour in zip(sure, COLOURS, strict=False):
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

    def tell(self, advice: Facts) -> Facts:
        rows = {f"row {row}": colours for row, colours in enumerate(self._rows())}
        return {**rows, "pressed": self.pressed or "none"}

    def follow(self, advice: Facts) -> Sequence[str]:
        actions: list[str] = []
        for group in filter(None, advice.get("press", "").split(", ")):
            found = squares(group, self.board)
            if not found:
                break
            actions.append(self.actions[found[0]])
            if self.act(actions[-1]) == "solved":
                break
        return actions

    def _rows(self) -> list[str]:
        return [", ".join(self.board[start : start + SIDE]) for start in range(0, SQUARES, SIDE)]


@dataclass(frozen=True)
class Color(Comma):
    """Turn sixteen coloured squares white, group by group, in the order a table gives.

    Seats: `solver` sees the panel and acts; `expert` reads the manual. They speak in turn, the Solver
    first.
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
    view_class = "ludens.games.comma.color.view:ColorView"
    skills = ("memory", "multi-step")
    published = PUBLISHED
    puzzle_class = ColorPanel
    random_manual = staticmethod(draw_manual)
