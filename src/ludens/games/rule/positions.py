"""Positions for the question which move is valid: reached by random legal moves, as far as is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.random import Stream, stream
from ludens.core.registry import make
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.games.boards import BoardView, TurnView
from ludens.games.open_spiel.adapter import SpielState

_RANGE = re.compile(r"(\d{1,4})-(\d{1,4})")
_ATTEMPTS = 1_000
"""Games tried for one position: cells of Minesweeper open many at a time, and games end early."""


def bounds(name: str, text: str) -> tuple[int, int]:
    """The bounds in an option such as `67-157`."""
    written = _RANGE.fullmatch(text)
    low, high = (int(written[1]), int(written[2])) if written else (1, 0)
    if low > high:
        raise BadOption(f"option {name!r} of rule must be a range such as 10-40, not {text!r}.")
    return low, high


@lru_cache(maxsize=64)
def board_game(board: str) -> Game:
    """The game whose rules are asked about: one seat at a time, named moves."""
    if board.split("?")[0] in ("rule", "perceive", "qa"):
        raise BadOption(f"rule needs a board game to ask about, not the question {board.split('?')[0]}.")
    game = make(board)
    state = game.start(0)
    if len(state.to_act) != 1 or state.legal(state.to_act[0]).is_text:
        raise BadOption(f"rule needs a game of turns with named moves; {board} is not one.")
    return game


@lru_cache(maxsize=64)
def board_view(board: str) -> BoardView | None:
    """The view of a game on a board of cells, which knows what is on them; None for other games."""
    view = board_game(board).view(RenderOptions())
    return view if isinstance(view, BoardView) else None


@lru_cache(maxsize=64)
def answers(board: str) -> frozenset[str]:
    """Every move that can be named on a board of cells, valid now or not; a pass is none of them."""
    view = board_view(board)
    return frozenset(view.answers()) if view else frozenset()


@lru_cache(maxsize=64)
def pointers(board: str) -> Mapping[str, str]:
    """How to point at each cell of a board in its picture; empty for other games."""
    view = board_view(board)
    if view is None:
        return {}
    return {name: view.point([number]) for number, name in enumerate(view.cells())}


def valid_moves(position: State) -> Legal:
    """The moves of the seat to act."""
    return position.legal(position.to_act[0])


def after_moves(board: str, seed: int, moves: str) -> State:
    """A position that is not over, after a number of random moves in this range.

    A game that ends before gives any of the positions in the range that it went through.
    """
    low, high = bounds("moves", moves)
    for attempt in range(_ATTEMPTS):
        choose, state = _opening(board, seed, attempt)
        passed = list[State]()
        for number in range(choose.between(low, high)):
            if number >= low:
                passed.append(state.clone())
            _make(state, choose.choice(_moves(state)))
            if state.over:
                break
        if state.over and passed:
            state = choose.choice(passed)
        if not state.over and _can_be_asked(board, state):
            return state
    raise BadOption(f"no position of {board} was found after {moves} moves; choose another range.")


def with_filled_cells(board: str, seed: int, filled: str) -> State:
    """A position with a number of filled cells in this range, after random moves none of which ends the game.

    Each number is as likely where every move fills one cell. In Minesweeper open cells count as filled, and
    a move that opens more cells than the range allows is the start of another game.
    """
    low, high = bounds("filled", filled)
    view = board_view(board)
    if view is None or high > view.rows * view.columns:
        raise BadOption(f"option 'filled' of rule does not fit {board}: it counts cells of a board.")
    for attempt in range(_ATTEMPTS):
        choose, state = _opening(board, seed, attempt)
        wanted, cells, stuck = choose.between(low, high), _filled(view, state), False
        while cells < wanted and not stuck:
            # A player who puts one piece needs as many moves as there are cells to fill.
            for _ in range(wanted - cells if isinstance(view, TurnView) else 1):
                following = _without_ending(view, state, choose)
                stuck = following is None
                state = following or state
            cells = _filled(view, state)
        if wanted <= cells <= high and _can_be_asked(board, state):
            return state
    raise BadOption(f"no position of {board} with {filled} filled cells was found; choose another range.")


def _opening(board: str, seed: int, attempt: int) -> tuple[Stream, State]:
    """The stream that chooses moves, and the start of a game; another game in every attempt."""
    choose = stream(seed, "position", *([attempt] if attempt else []))
    return choose, board_game(board).start(choose.fork("game").bits() if attempt else seed)


def _filled(view: BoardView, state: State) -> int:
    return sum(code != view.empty for row in view.matrix(state) for code in row)


def _without_ending(view: BoardView, state: State, choose: Stream) -> State | None:
    """The state after a random move that does not end the game; None where every move does."""
    untried = list(_moves(state))
    weights = [view.weight(move) if isinstance(move, str) else 1.0 for move in untried]
    while untried:
        place = choose.weighted(range(len(untried)), weights)
        following = state.clone()
        _make(following, untried.pop(place))
        del weights[place]
        if not following.over:
            return following
    return None


def _moves(state: State) -> Sequence[str | int]:
    """The moves of the seat to act; by number in games of OpenSpiel, whose names take time to make."""
    return state.spiel.legal_actions() if isinstance(state, SpielState) else valid_moves(state)


def _make(state: State, move: str | int) -> None:
    if isinstance(state, SpielState) and isinstance(move, int):
        state.apply_number(move)
    else:
        state.apply({state.to_act[0]: str(move)})


def _can_be_asked(board: str, position: State) -> bool:
    """Whether some valid move is one of those that can be named: where a player must pass, none is."""
    named = answers(board)
    return not named or not named.isdisjoint(valid_moves(position))
