"""Minesweeper: opening, winning and losing, and an oracle that counts as brute force does."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ludens
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.draw import get_theme
from ludens.draw.palette import contrast
from ludens.games.boards import neighbours
from ludens.games.minesweeper import (
    HIDDEN,
    MINE,
    Codes,
    Minesweeper,
    MinesweeperState,
    MinesweeperView,
    infer,
    names,
    number_inks,
    opened_with,
)
from ludens.loop import play
from ludens.testing import check_game


def touch(a: int, b: int, columns: int) -> bool:
    """Whether two cells are neighbours, straight from the definition."""
    (r, c), (s, d) = divmod(a, columns), divmod(b, columns)
    return a != b and max(abs(r - s), abs(c - d)) == 1


def count(mines: tuple[int, ...] | frozenset[int], cell: int, columns: int) -> int:
    return sum(touch(cell, mine, columns) for mine in mines)


def layouts(rows: int, columns: int, mines: int, seen: Codes) -> list[tuple[int, ...]]:
    """Every layout of mines that agrees with what is seen, by trying all."""
    fitting = []
    for layout in combinations(range(rows * columns), mines):
        laid = set(layout)
        if all(
            code == HIDDEN
            or (code == MINE and cell in laid)
            or (0 <= code < MINE and cell not in laid and count(layout, cell, columns) == code)
            for cell, code in enumerate(seen)
        ):
            fitting.append(layout)
    return fitting


def field(picture: str) -> tuple[Minesweeper, MinesweeperState]:
    """A state whose mines stand where the picture has a star, and nothing open yet."""
    lines = picture.split()
    mines = frozenset(n for n, mark in enumerate("".join(lines)) if mark == "*")
    game = Minesweeper(rows=len(lines), columns=len(lines[0]), mines=len(mines))
    state = game.start(0)
    state.mines = mines
    return game, state


def opened(state: MinesweeperState, *cells: str) -> MinesweeperState:
    for cell in cells:
        state.apply({"player": cell})
    return state


@st.composite
def positions(draw: st.DrawFn) -> tuple[int, int, int, Codes]:
    """A small field with some cells open, mines among them: everything an oracle may be asked about."""
    rows, columns = draw(st.sampled_from([(2, 2), (2, 5), (3, 3), (3, 4), (4, 4), (2, 7)]))
    cells = rows * columns
    mines = draw(st.frozensets(st.integers(0, cells - 1), min_size=1, max_size=min(6, cells - 1)))
    shown = draw(st.frozensets(st.integers(0, cells - 1)))
    seen = tuple(
        (MINE if cell in mines else count(mines, cell, columns)) if cell in shown else HIDDEN
        for cell in range(cells)
    )
    return rows, columns, len(mines), seen


@given(positions())
def test_the_oracle_counts_as_brute_force_does(position: tuple[int, int, int, Codes]) -> None:
    rows, columns, mines, seen = position
    known, fitting = infer(rows, columns, mines, seen), layouts(rows, columns, mines, seen)
    assert known.layouts == len(fitting)
    hidden = [cell for cell, code in enumerate(seen) if code == HIDDEN]
    assert known.hidden == tuple(hidden)
    expected = {cell: sum(cell in layout for layout in fitting) for cell in hidden}
    assert known.with_mine == expected
    assert known.safe == tuple(cell for cell in hidden if not expected[cell])
    for cell in hidden:
        assert known.risk(cell) == expected[cell] / len(fitting)


@given(positions(), st.integers(0, 1000))
def test_a_drawn_layout_fits_what_is_seen(position: tuple[int, int, int, Codes], seed: int) -> None:
    rows, columns, mines, seen = position
    drawn = infer(rows, columns, mines, seen).draw(ludens.stream(seed, "test"))
    shown = {cell for cell, code in enumerate(seen) if code == MINE}
    assert tuple(sorted(drawn | shown)) in layouts(rows, columns, mines, seen)


def test_every_layout_is_drawn_equally_often() -> None:
    _, state = field("..*.  ....  *..*")
    opened(state, "B2", "B4")
    known, fitting = infer(3, 4, 3, state.codes), layouts(3, 4, 3, state.codes)
    drawn = [tuple(sorted(known.draw(ludens.stream(n, "test")))) for n in range(300 * len(fitting))]
    assert len(fitting) > 8
    assert set(drawn) == set(fitting)
    worst = max(abs(drawn.count(layout) - 300) for layout in fitting)
    assert worst < 75


def test_the_oracle_knows_a_whole_hidden_field() -> None:
    known = infer(8, 8, 10, (HIDDEN,) * 64)
    assert known.layouts == comb(64, 10)
    assert known.safe == ()
    assert known.risk(0) == pytest.approx(10 / 64)


def test_impossible_fields_have_no_layout() -> None:
    assert infer(1, 3, 1, (HIDDEN, 2, HIDDEN)).layouts == 0
    assert infer(1, 2, 1, (8, HIDDEN)).layouts == 0


@given(st.integers(2, 6), st.integers(2, 6), st.data())
def test_opening_shows_what_a_walk_over_blank_cells_reaches(
    rows: int, columns: int, data: st.DataObject
) -> None:
    cells = rows * columns
    mines = data.draw(st.frozensets(st.integers(0, cells - 1), max_size=cells - 1))
    cell = data.draw(st.sampled_from([c for c in range(cells) if c not in mines]))
    expected, grown = {cell}, True
    while grown:
        blank = {c for c in expected if not count(mines, c, columns)}
        wider = expected | {n for n in range(cells) if any(touch(n, c, columns) for c in blank)}
        grown, expected = wider != expected, wider
    shown = opened_with(mines, cell, neighbours(rows, columns))
    assert shown == {c: count(mines, c, columns) for c in expected}


def test_won_only_when_every_safe_cell_is_open() -> None:
    _, state = field("..*.  *...  *.**")
    safe = [name for cell, name in enumerate(names(3, 4)) if cell not in (state.mines or ())]
    for number, cell in enumerate(reversed(safe), start=1):
        assert not state.won
        assert state.returns == {"player": 0.0}
        state.apply({"player": cell})
        assert state.facts["opened"] == number
    assert state.won
    assert state.over
    assert state.returns == {"player": 1.0}
    assert state.facts["winner"] == "player"


def test_a_mine_ends_the_game_and_all_mines_are_shown() -> None:
    game, state = field("..*.  ....  *..*")
    opened(state, "A1", "A3")
    assert state.over
    assert state.legal("player") == ()
    assert state.returns == {"player": -1.0}
    assert {cell for cell, code in enumerate(state.codes) if code == MINE} == {2, 8, 11}
    assert "The mine at A3 was opened." in game.view(RenderOptions()).text(state, "player")
    assert state.facts["winner"] is None


def test_a_forfeit_is_a_loss() -> None:
    assert Minesweeper().start(0).forfeited("player") == {"player": -1.0}


@pytest.mark.parametrize(("first", "hits"), [("safe", 0), ("open", 0), ("any", 1)])
def test_the_first_cell(first: str, hits: int) -> None:
    game = Minesweeper(mines=40, first=first)
    lost, blank = 0, 0
    for seed in range(60):
        state = opened(game.start(seed), "D4")
        assert len(state.mines or ()) == 40
        lost += state.hit is not None
        blank += state.codes[27] == 0
    assert min(1, lost) == hits
    assert (blank == 60) == (first == "open")


def test_mines_are_laid_evenly() -> None:
    counts = [0] * 64
    for seed in range(1500):
        for mine in opened(Minesweeper().start(seed), "A1").mines or ():
            counts[mine] += 1
    assert counts[0] == 0
    expected = 1500 * 10 / 63
    assert all(abs(n - expected) < 75 for n in counts[1:])


@pytest.mark.parametrize(
    "options",
    [{"mines": 64}, {"mines": 56, "first": "open"}, {"rows": 2, "columns": 2, "mines": 1, "first": "open"},
     {"rows": 17}, {"columns": 1}, {"mines": 0}],
)  # fmt: skip
def test_impossible_fields_are_rejected(options: dict[str, object]) -> None:
    with pytest.raises(BadOption):
        ludens.make("minesweeper", **options)


def test_certain_moves_and_guesses_are_told_apart() -> None:
    _, state = field("*.*  ...")
    opened(state, "B1")
    assert state.facts["certain_moves"] == state.facts["guesses"] == 0
    assert state.facts["survival_chance"] == 1.0
    opened(state, "B2")
    assert state.facts["guesses"] == 1
    assert state.facts["survival_chance"] == pytest.approx(2 / 3)
    opened(state, "B3")
    assert state.facts["guesses"] == 2
    assert state.facts["survival_chance"] == pytest.approx(1 / 3)
    assert [names(2, 3)[cell] for cell in infer(2, 3, 2, state.codes).safe] == ["A2"]
    taken, risked = opened(state.clone(), "A2"), opened(state.clone(), "A1")
    for after, safe, chance in ((taken, 1, 1 / 3), (risked, 0, 0)):
        assert after.facts["certain_moves"] == 1
        assert after.facts["safe_moves_taken"] == safe
        assert after.facts["guesses"] == 2
        assert after.facts["survival_chance"] == pytest.approx(chance)
    assert taken.won


def test_where_the_first_cell_may_be_a_mine_it_is_a_guess() -> None:
    state = opened(Minesweeper(first="any").start(4), "A1")
    assert state.facts["guesses"] == 1
    assert state.facts["survival_chance"] == pytest.approx(54 / 64)


def test_what_is_hidden_is_drawn_anew_and_fits() -> None:
    game = Minesweeper(rows=4, columns=4, mines=4)
    for seed in range(10):
        state = opened(game.start(seed), "B2")
        if state.over:
            continue
        fitting = layouts(4, 4, 4, state.codes)
        seen = {
            tuple(sorted(state.resample_hidden("player", ludens.stream(n, "t")).mines or ()))
            for n in range(80)
        }
        assert seen <= set(fitting)
        assert len(seen) > 1 or len(fitting) == 1


def test_every_cell_is_where_its_name_says_in_matrix_text_and_picture() -> None:
    game = Minesweeper(mines=40)
    view = game.view(RenderOptions())
    assert isinstance(view, MinesweeperView)
    covered = view.image(game.start(0), "player").rgb()
    for row, letter in enumerate("ABCDEFGH"):
        for column in range(8):
            name = f"{letter}{column + 1}"
            seed = next(s for s in range(99) if opened(game.start(s), name).codes[row * 8 + column] > 0)
            start = game.start(seed)
            state = opened(start, view.format(start, "player").read(f"Action: {name}", start.legal("player")))
            number = state.codes[row * 8 + column]
            matrix = view.matrix(state)
            shown = [(r, c) for r in range(8) for c in range(8) if matrix[r][c] != HIDDEN]
            assert shown == [(row, column)]
            line = view.text(state, "player").splitlines()[row + 1].split()
            assert (line[0], line[column + 1]) == (letter, str(number))
            changed = np.argwhere((view.image(state, "player").rgb() != covered).any(2))
            x, y, px = view.board.cell(row, column)
            assert len(changed) > 50
            assert (changed >= (y, x)).all()
            assert (changed < (y + px, x + px)).all()


def test_every_code_has_a_picture_of_its_own() -> None:
    for name in ludens.draw.THEMES:
        view = Minesweeper(rows=2, columns=2, mines=1).view(RenderOptions(name), 3)
        assert isinstance(view, MinesweeperView)
        assert len({view.draw([[code, HIDDEN], [HIDDEN, HIDDEN]]).hash for code in view.codes}) == 11


def test_numbers_can_be_read_in_every_theme() -> None:
    for render in (
        get_theme("classic"),
        get_theme("contrast"),
        get_theme("plain"),
        *(get_theme("random", n) for n in range(60)),
    ):
        for ink in number_inks(render, "page"):
            assert contrast(render.colour(ink), render.colour("page")) >= 4.5


def test_positions_to_perceive_vary_in_mines_and_open_cells_and_numbers_are_right() -> None:
    view = Minesweeper().view(RenderOptions())
    assert isinstance(view, MinesweeperView)
    opens, bombs = [], []
    for seed in range(400):
        cells = [code for row in view.scatter(ludens.stream(seed, "test")) for code in row]
        opens.append(64 - cells.count(HIDDEN))
        bombs.append(cells.count(MINE))
        for cell, code in enumerate(cells):
            if 0 <= code < MINE:
                near = [cells[other] for other in neighbours(8, 8)[cell]]
                assert near.count(MINE) <= code <= near.count(MINE) + near.count(HIDDEN)
    assert set(opens) == set(range(65))
    assert set(range(20)) <= set(bombs)


async def test_logic_takes_every_certain_cell_and_wins_where_chance_seldom_does() -> None:
    game = Minesweeper()
    logic, random = ludens.agent("bot/logic", game), ludens.agent("bot/random", game)
    swept = [await play(game, {"player": logic}, seed) for seed in range(40)]
    for episode in swept:
        assert episode.facts["safe_moves_taken"] == episode.facts["certain_moves"]
        assert episode.returns["player"] == 1.0 or episode.facts["guesses"] > 0
    assert sum(episode.returns["player"] > 0 for episode in swept) >= 26
    blown = [await play(game, {"player": random}, seed) for seed in range(60)]
    assert sum(episode.returns["player"] > 0 for episode in blown) <= 1


@pytest.mark.parametrize(
    "name",
    ["perceive?board=minesweeper", "minesweeper?rows=5&columns=12&mines=9&first=open",
     "minesweeper?first=any", "minesweeper?rows=2&columns=2&mines=1"],
)  # fmt: skip
def test_conformance_with_options(name: str) -> None:
    check_game(ludens.make(name), seeds=(3, 4, 5))


async def test_the_bot_says_where_mines_are_before_it_moves() -> None:
    game = Minesweeper()
    replies = []
    for seed in range(4):
        state, bot = game.start(seed), ludens.agent("bot/logic?reason=true", game)
        bot = bot.sit(game, "player", stream(seed, "bot"))
        view = game.view(RenderOptions(size=256))
        for _ in range(4):
            if state.over:
                break
            reply = await bot.act(build_ask(view, state, "player", "state", PlayConfig()))
            mines, safe, last = reply.text.splitlines()
            known = set(safe.split()[1:])
            called = names(game.rows, game.columns)
            assert state.mines is None or all(called.index(cell) in state.mines for cell in mines.split()[1:])
            assert state.mines is None or not any(called.index(cell) in state.mines for cell in known)
            assert last == f"Action: {reply.action}"
            replies.append(bool(known))
            state.apply({"player": reply.action})
    assert any(replies)
