"""Sudoku: puzzles have one solution, only rule-keeping digits are legal, and wrong digits are counted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ludens
from ludens.core.errors import BadOption, Illegal, MoveError, Unreadable
from ludens.core.random import stream
from ludens.core.state import Legal
from ludens.core.view import RenderOptions
from ludens.games.sudoku import (
    NAMES,
    PlaceFormat,
    Sudoku,
    SudokuPuzzle,
    SudokuState,
    SudokuView,
    Surest,
    full_grid,
    puzzle,
    solutions,
    solve,
)
from ludens.loop import play
from ludens.testing import check_game

HARD = "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......"
HARD_SOLVED = "417369825632158947958724316825437169791586432346912758289643571573291684164875293"


def digits(text: str) -> list[int]:
    return [0 if mark == "." else int(mark) for mark in text]


def constraints(cell: int, digit: int) -> list[tuple[str, int, int]]:
    row, column = divmod(cell, 9)
    box = row // 3 * 3 + column // 3
    return [("cell", row, column), ("row", row, digit), ("column", column, digit), ("box", box, digit)]


def exact_covers(grid: list[int]) -> Iterator[dict[int, int]]:
    """All solutions by Knuth's Algorithm X: nothing in common with the solver under test."""
    rows = {(cell, digit): constraints(cell, digit) for cell in range(81) for digit in range(1, 10)}
    columns: dict[tuple[str, int, int], set[tuple[int, int]]] = {}
    for name, covered in rows.items():
        for constraint in covered:
            columns.setdefault(constraint, set()).add(name)
    chosen: dict[int, int] = {}

    def select(name: tuple[int, int]) -> list[set[tuple[int, int]]]:
        removed = []
        for constraint in rows[name]:
            for other in columns[constraint]:
                for further in rows[other]:
                    if further != constraint:
                        columns[further].discard(other)
            removed.append(columns.pop(constraint))
        return removed

    def deselect(name: tuple[int, int], removed: list[set[tuple[int, int]]]) -> None:
        for constraint in reversed(rows[name]):
            columns[constraint] = removed.pop()
            for other in columns[constraint]:
                for further in rows[other]:
                    if further != constraint:
                        columns[further].add(other)

    def search() -> Iterator[dict[int, int]]:
        if not columns:
            yield dict(chosen)
            return
        fewest = min(columns.values(), key=len)
        for name in list(fewest):
            chosen[name[0]] = name[1]
            removed = select(name)
            yield from search()
            deselect(name, removed)
            del chosen[name[0]]

    for cell, digit in enumerate(grid):
        if digit:
            if any(constraint not in columns for constraint in rows[cell, digit]):
                return
            chosen[cell] = digit
            select((cell, digit))
    yield from search()


def as_grid(cover: dict[int, int]) -> tuple[int, ...]:
    return tuple(cover[cell] for cell in range(81))


def allowed(grid: list[int], cell: int, digit: int) -> bool:
    """The rule spelt out, cell by cell."""
    row, column = divmod(cell, 9)
    for other, held in enumerate(grid):
        r, c = divmod(other, 9)
        together = r == row or c == column or (r // 3, c // 3) == (row // 3, column // 3)
        if other != cell and together and held == digit:
            return False
    return grid[cell] == 0


def state_of(seed: int = 0, clues: int = 0) -> SudokuState:
    return Sudoku(clues=clues).start(seed)


def test_two_hundred_puzzles_have_exactly_one_solution() -> None:
    for seed in range(200):
        made = puzzle(seed, 0)
        found = [as_grid(cover) for cover in islice(exact_covers(list(made.clues)), 2)]
        assert found == [made.solution], f"seed {seed}"
        assert all(clue in (0, digit) for clue, digit in zip(made.clues, made.solution, strict=True))


def test_the_solver_counts_as_exact_cover_does() -> None:
    for seed in range(12):
        cells = list(puzzle(seed, 30).clues)
        for cell in ludens.stream(seed, "holes").sample([c for c, d in enumerate(cells) if d], 5):
            cells[cell] = 0
        ours = list(islice(solutions(cells), 40))
        theirs = {as_grid(cover) for cover in islice(exact_covers(cells), 41)}
        assert len(set(ours)) == len(ours) == min(40, len(theirs))
        if len(theirs) <= 40:
            assert set(ours) == theirs


def test_a_puzzle_famous_for_being_hard_and_one_that_has_no_solution() -> None:
    assert list(solutions(digits(HARD))) == [tuple(digits(HARD_SOLVED))]
    assert list(solutions(digits("55" + HARD[2:]))) == []
    assert solve(digits("12345678." + "." * 18 + "9" + "." * 53)) is not None
    assert solve(digits("12345678." + "........9" + "." * 63)) is None


@pytest.mark.parametrize("clues", [25, 30, 45, 60, 80])
def test_as_many_clues_as_asked_for(clues: int) -> None:
    for seed in range(3):
        assert sum(map(bool, puzzle(seed, clues).clues)) == clues


def test_the_seed_chooses_how_many_clues_and_which() -> None:
    counts = [state_of(seed).facts["clues"] for seed in range(120)]
    assert set(counts) == set(range(26, 46))
    assert len({puzzle(seed, 40).solution for seed in range(50)}) == 50
    corners = [full_grid(ludens.stream(seed, "test"))[0] for seed in range(200)]
    assert set(corners) == set(range(1, 10))


@pytest.mark.parametrize("clues", ["24", "1", "81", "-1", "many"])
def test_impossible_clues_are_rejected(clues: str) -> None:
    with pytest.raises(BadOption):
        ludens.make("sudoku", clues=clues)


def test_legal_is_what_breaks_no_rule() -> None:
    for seed in range(5):
        state, choose = state_of(seed), ludens.stream(seed, "test")
        while not state.over:
            expected = {
                f"{NAMES[cell]}={digit}"
                for cell in range(81)
                for digit in range(1, 10)
                if allowed(state.grid, cell, digit)
            }
            legal = state.legal("player")
            assert set(legal) == expected
            state.apply({"player": choose.choice(legal)})
        assert state.legal("player") == ()


@given(st.integers(0, 40), st.integers(0, 80), st.integers(1, 9))
def test_refused_exactly_when_not_allowed(seed: int, cell: int, digit: int) -> None:
    state = state_of(seed)
    refused = state.refusal("player", f"{NAMES[cell]}={digit}")
    assert (refused is None) == allowed(state.grid, cell, digit)


def test_a_refusal_names_the_conflicting_digit() -> None:
    state = SudokuState(SudokuPuzzle(tuple(digits("5.3" + "." * 78)), (0,) * 81))
    assert state.refusal("player", "A1=4") == "A1 already holds the digit 5."
    assert state.refusal("player", "A9=3") == "the row of A9 already holds the digit 3, at A3."
    assert state.refusal("player", "I1=5") == "the column of I1 already holds the digit 5, at A1."
    assert state.refusal("player", "B2=5") == "the box of B2 already holds the digit 5, at A1."
    for junk in ("A1", "A0=1", "J1=1", "A2=0", "A2=10", "a2=1", "A2 = 1"):
        assert "is not a legal action" in (state.refusal("player", junk) or "")


def test_every_cell_is_where_its_name_says_in_matrix_text_and_picture() -> None:
    view = Sudoku().view(RenderOptions())
    assert isinstance(view, SudokuView)
    blank = SudokuState(SudokuPuzzle((0,) * 81, (0,) * 81))
    empty = view.image(blank, "player").rgb()  # type: ignore[attr-defined]
    for row, letter in enumerate("ABCDEFGHI"):
        for column in range(9):
            state = blank.clone()
            state.apply(
                {"player": view.format(state, "player").read(f"Action: {letter}{column + 1} 7", Legal())}
            )
            assert [(r, c) for r in range(9) for c in range(9) if view.matrix(state)[r][c]] == [(row, column)]
            line = view.text(state, "player").splitlines()[row + 1].split()
            assert line[0] == letter
            assert line[column + 1] == "7"
            changed = np.argwhere((view.image(state, "player").rgb() != empty).any(2))  # type: ignore[attr-defined]
            x, y, px = view.board.cell(row, column)
            assert len(changed) > 50
            assert (changed >= (y, x)).all()
            assert (changed < (y + px, x + px)).all()


def test_clues_and_placed_digits_differ_in_picture_and_text() -> None:
    given = puzzle(3, 40)
    early, late = SudokuState(given), state_of(3, 40)
    cell = given.clues.index(0)
    late.apply({"player": f"{NAMES[cell]}={given.solution[cell]}"})
    early.grid[cell] = given.solution[cell]
    for theme in ("classic", "contrast", "plain", "random"):
        view = Sudoku().view(RenderOptions(theme), 5)
        assert view.matrix(early) == view.matrix(late)  # type: ignore[attr-defined]
        assert view.image(early, "player").hash != view.image(late, "player").hash
        assert view.text(early, "player") != view.text(late, "player")


@pytest.mark.parametrize(
    "reply",
    ["A1=5", "Action: A1=5", "Action: A1 5", "Action: a1: 5", "I think so.\nAction: **A 1 5**", "Action: A15",
     "Action: A1 = 5", "<think>Action: B2=3</think>Action: A1,5", "Action: A1-5", "Action: 1A=5", "1a 5"],
)  # fmt: skip
def test_accepted_placement_notations(reply: str) -> None:
    assert PlaceFormat().read(reply, Legal()) == "A1=5"


@pytest.mark.parametrize("reply", ["", "A1", "Perhaps A1=5 or so.", "A1=5 and B1=6", "I can see 5 at A1"])
def test_invalid_placements(reply: str) -> None:
    with pytest.raises(Unreadable):
        PlaceFormat().read(reply, Legal())


def test_a_cell_that_does_not_exist_and_two_answers_are_no_moves() -> None:
    with pytest.raises(Illegal):
        PlaceFormat().read("Action: J1=5", Legal())
    with pytest.raises(MoveError, match="several"):
        PlaceFormat().read("Action: A1=5\nAction: A1=6", Legal())


def test_right_and_wrong_digits_are_counted() -> None:
    state, solution = state_of(11, 30), puzzle(11, 30).solution
    right = [f"{NAMES[cell]}={solution[cell]}" for cell in range(81) if not state.grid[cell]]
    state.apply({"player": right[0]})
    state.apply({"player": right[1]})
    wrong = next(
        action for action in state.legal("player") if action not in right and not _after(state, action).over
    )
    state.apply({"player": wrong})
    assert state.facts["solvable_digits"] == 2
    assert state.facts["wrong_digits"] == 1
    assert state.facts["before_first_wrong"] == 2
    again = next(action for action in right if state.refusal("player", action) is None)
    state.apply({"player": again})
    assert state.facts["solvable_digits"] == 3
    assert state.facts["before_first_wrong"] == 2


def _after(state: SudokuState, action: str) -> SudokuState:
    after = state.clone()
    after.apply({"player": action})
    return after


def test_a_cell_without_a_digit_left_ends_the_game() -> None:
    state = SudokuState(SudokuPuzzle(tuple(digits("1234567.." + "." * 72)), (0,) * 81))
    assert state.returns == {"player": 0.0}
    state.apply({"player": "B8=8"})
    assert not state.over
    state.apply({"player": "C9=9"})
    assert state.over
    assert state.dead_cell in (7, 8)
    assert state.returns == {"player": -1.0}
    assert state.facts["winner"] is None


def test_a_forfeit_is_a_loss() -> None:
    assert state_of().forfeited("player") == {"player": -1.0}


async def test_the_solver_always_wins_and_random_play_hardly_ever() -> None:
    game = Sudoku()
    solver, random = ludens.agent("bot/oracle", game), ludens.agent("bot/random", game)
    for seed in range(20):
        solved = await play(game, {"player": solver}, seed)
        assert solved.returns == {"player": 1.0}
        assert solved.facts["solvable_digits"] == solved.facts["moves"] == 81 - solved.facts["clues"]
        assert solved.facts["winner"] == "player"
    lost = [await play(game, {"player": random}, seed) for seed in range(50)]
    assert sum(episode.returns["player"] for episode in lost) <= -48
    assert all(e.facts["wrong_digits"] > 0 for e in lost if e.returns["player"] < 0)


async def test_the_solver_plays_on_where_nothing_can_be_solved() -> None:
    game = Sudoku(clues=30)
    state, solution = game.start(2), puzzle(2, 30).solution
    wrong = next(
        action
        for action in state.legal("player")
        if solution[NAMES.index(action[:2])] != int(action[-1]) and not _after(state, action).over
    )
    state.apply({"player": wrong})
    solver = ludens.agent("bot/oracle", game).sit(game, "player", ludens.stream(0, "test"))
    asked = ludens.Ask("player", state.legal("player"), PlaceFormat(), state=state)
    assert (await solver.act(asked)).action in state.legal("player")


def test_positions_to_perceive_vary_from_empty_to_full() -> None:
    game = ludens.make("perceive", board="sudoku")
    counts = [game.start(seed).facts["pieces"] for seed in range(300)]
    assert min(counts) < 5
    assert max(counts) > 76
    assert "every other number as itself" in game.view(RenderOptions()).rules("viewer")


@pytest.mark.parametrize("name", ["perceive?board=sudoku", "sudoku?clues=60"])
def test_conformance_with_options(name: str) -> None:
    check_game(ludens.make(name), seeds=(3, 4))


async def test_the_surest_cell_first_solves_every_grid() -> None:
    game = Sudoku()
    for seed in range(3):
        episode = await play(game, {"player": ludens.agent("bot/surest", game)}, seed)
        assert episode.returns == {"player": 1.0}


def test_a_cell_with_one_digit_left_is_the_surest() -> None:
    solution = puzzle(1, 0).solution
    grid = [0 if cell in (0, 40, 41) else digit for cell, digit in enumerate(solution)]
    state = SudokuState(SudokuPuzzle(tuple(grid), solution))
    bot = Surest().sit(Sudoku(), "player", stream(0, "bot"))
    assert bot.choose(state) == f"A1={solution[0]}"  # nothing around it is empty


def test_a_bot_that_reasons_names_cells_with_the_digits_that_fit_and_ends_with_its_move() -> None:
    game = ludens.make("sudoku?clues=30")
    episode = ludens.play_sync(game, {"player": ludens.agent("bot/surest?reason=true", game)}, 3)
    assert episode.facts["winner"] == "player"
    state, tried = game.start(3), 0
    for move in episode.moves:
        *cells, action = move.tries[-1].text.splitlines()
        assert action == f"Action: {move.action}"
        assert cells[-1][:2] == str(move.action)[:2]
        for line in cells:
            name, _, fitting = line.partition(": ")
            legal = [digit for digit in "123456789" if f"{name}={digit}" in state.legal("player")]
            assert fitting.split() == legal
        assert all(len(line.split()) > 2 for line in cells[:-1])
        tried += len(cells) - 1
        state.apply({"player": str(move.action)})
    assert tried > len(episode.moves)
