"""Perceive, a one-move question: write a random position of a board game as a matrix."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.options import Touch, option
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.games.boards import BoardView, Matrix

_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")


def bounds(board: BoardView, pieces: str) -> tuple[int, int]:
    """The bounds in an option `pieces` such as `46-90`."""
    written, cells = _RANGE.fullmatch(pieces), board.rows * board.columns
    low, high = (int(written[1]), int(written[2])) if written else (1, 0)
    if not low <= high <= cells:
        raise BadOption(f"option 'pieces' of perceive must be a range such as 0-{cells}, not {pieces!r}.")
    return low, high


def codes_of(board: BoardView, kinds: str) -> Sequence[int]:
    """The codes of the pieces whose letters are in `kinds`; all when it is empty."""
    known: dict[str, list[int]] = {}
    for code, mark in board.marks.items():
        if code != board.empty:
            known.setdefault(mark.upper(), []).append(code)
    for letter in kinds.upper():
        if letter not in known:
            raise BadOption(
                f"option 'kinds' of perceive has the letter {letter!r}; "
                f"the pieces of {board.game.name} are {''.join(known)}."
            )
    return [code for letter in (kinds.upper() or known) for code in known[letter]]


def scattered(board: BoardView, random: Stream, pieces: str, kinds: str) -> Matrix:
    """A random position with this number and these kinds of pieces, each piece equally likely.

    With kinds alone, as many pieces on the same cells as the board would scatter of all kinds.
    """
    if not pieces and not kinds:
        return board.scatter(random)
    codes, cells = codes_of(board, kinds), range(board.rows * board.columns)
    if pieces:
        filled = set(random.sample(cells, random.between(*bounds(board, pieces))))
    else:
        usual = [code for row in board.scatter(random) for code in row]
        filled = {cell for cell in cells if usual[cell] != board.empty}
    flat = [random.choice(codes) if cell in filled else board.empty for cell in cells]
    return [flat[start : start + board.columns] for start in range(0, len(flat), board.columns)]


SEAT = "viewer"


@dataclass(frozen=True)
class Perceive(Game):
    """Write the position on a board as a matrix of codes; every cell counts.

    Seats: `viewer`, alone, for one move.
    Observation: a random position of the board game named by the option `board`; play need not lead there.
    Actions: the matrix as nested lists, row by row from the top, as in `[[0, 1], [2, 0]]`.
    Rewards: the share of cells that are right; 0 for a reply that holds no matrix of the right shape.
    Facts: `by_code` has for each code on the board how many of its cells are right and how many there are.
    """

    name = "perceive"
    seats = (SEAT,)
    version = 3
    view_class = "ludens.games.perceive.view:PerceiveView"
    best = "bot/oracle"
    question = True

    board: str = option(
        "tic_tac_toe",
        help="the board game whose positions are shown, options included",
        touches=Touch.GAME,
    )
    pieces: str = option("", help="how many pieces are shown, as in 46-90; any number when empty")
    kinds: str = option("", help="the kinds of pieces shown, by letter, as in KQ; all when empty")

    def __post_init__(self) -> None:
        super().__post_init__()
        board = board_of(self.board, RenderOptions())
        codes_of(board, self.kinds)
        if self.pieces:
            bounds(board, self.pieces)

    def start(self, seed: int) -> Position:
        board = board_of(self.board, RenderOptions())
        return Position(board, scattered(board, stream(seed, "position"), self.pieces, self.kinds))


@lru_cache(maxsize=64)
def board_of(board: str, render: RenderOptions, seed: int = 0) -> BoardView:
    """The view of the board game that is shown."""
    if board.startswith("perceive"):
        raise BadOption("perceive needs a board game to show, not itself.")
    view = make(board).view(render, seed)
    if not isinstance(view, BoardView):
        raise BadOption(f"perceive needs a game on a board of cells; {board} is not one.")
    return view


class Position(State):
    """A position, and the matrix that was answered."""

    def __init__(self, board: BoardView, matrix: Matrix, answer: str | None = None) -> None:
        self.board = board
        self.matrix = matrix
        self.answer = answer

    @property
    def to_act(self) -> tuple[str, ...]:
        return () if self.answer is not None else (SEAT,)

    def legal(self, seat: str) -> Legal:
        return Legal.text() if seat in self.to_act else Legal()

    def refusal(self, seat: str, action: str) -> str | None:
        if not action:
            return None
        try:
            read = json.loads(action)
        except (ValueError, RecursionError):
            return "the answer is not a matrix of whole numbers."
        return shape_error(read, self.board.rows, self.board.columns)

    def _advance(self, actions: Mapping[str, str]) -> None:
        self.answer = actions[SEAT]

    def solution(self, seat: str) -> str | None:
        return canonical(self.matrix)

    def _by_code(self) -> dict[int, tuple[int, int]]:
        """For each code on the board, how many of its cells are right and how many there are."""
        truth = [code for row in self.matrix for code in row]
        said = (
            [code for row in json.loads(self.answer) for code in row] if self.answer else [None] * len(truth)
        )
        right = Counter(code for code, other in zip(truth, said, strict=True) if code == other)
        return {code: (right[code], count) for code, count in sorted(Counter(truth).items())}

    @property
    def returns(self) -> dict[str, float]:
        right = sum(right for right, _ in self._by_code().values())
        return {SEAT: right / (self.board.rows * self.board.columns)}

    @property
    def facts(self) -> dict[str, Any]:
        by_code, cells = self._by_code(), self.board.rows * self.board.columns
        right, (_, empty) = sum(right for right, _ in by_code.values()), by_code.get(self.board.empty, (0, 0))
        return {
            "right": right,
            "cells": cells,
            "pieces": cells - empty,
            "exact": right == cells,
            "readable": bool(self.answer),
            "empty": str(self.board.empty),
            "by_code": {str(code): list(counts) for code, counts in by_code.items()},
        }

    def clone(self) -> Self:
        return type(self)(self.board, self.matrix, self.answer)


def canonical(matrix: Matrix) -> str:
    """A matrix as the action that states it."""
    return json.dumps([list(row) for row in matrix])


def shape_error(matrix: Any, rows: int, columns: int) -> str | None:
    """What is wrong with the shape of an answer, or None."""
    if not isinstance(matrix, list) or not all(isinstance(row, list) for row in matrix):
        return "the answer is not a matrix: a list of rows, each a list of whole numbers."
    if len(matrix) != rows or any(len(row) != columns for row in matrix):
        widths = sorted({len(row) for row in matrix}) or [0]
        held = " or ".join(map(str, widths)) if len(widths) <= 3 else f"{widths[0]} to {widths[-1]}"
        return (
            f"the matrix must have {rows} rows of {columns} numbers; yours has {len(matrix)} rows of {held}."
        )
    if any(type(code) is not int for row in matrix for code in row):
        return "every entry of the matrix must be a whole number."
    return None
