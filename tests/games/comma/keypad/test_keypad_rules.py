"""The published columns against the table written down again; order, setbacks, scores; random manuals."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import pytest

from ludens.core.random import stream
from ludens.games.comma.dialogue import advise
from ludens.games.comma.keypad import (
    PUBLISHED,
    SYMBOLS,
    Keypad,
    KeypadManual,
    KeypadPanel,
    draw_manual,
    imagine_manual,
)
from tests.games.comma.common import oracle_pair, random_play

TABLE = ("ϘӬ©ϬΨϬ", "ѦϘѼ¶ټӬ", "ƛϿҨѢѢ҂", "ϞҨҖѬϾæ", "Ѭ☆ԆҖ¶Ψ", "ϗϗƛ¿ѮҊ", "Ͽ¿☆ټ★Ω")
SHARED = {
    (1, 2): 3,
    (4, 5): 3,
    (2, 3): 2,
    **dict.fromkeys([(1, 3), (1, 4), (2, 4), (2, 6), (3, 4), (4, 6), (5, 6)], 1),
}


def test_the_published_columns_hold_one_of_our_symbols_for_each_of_the_table() -> None:
    ours = [symbol for row in zip(*PUBLISHED.columns, strict=True) for symbol in row]
    theirs = [symbol for row in TABLE for symbol in row]
    pairs = set(zip(theirs, ours, strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(SYMBOLS) == 27


def shared(manual: KeypadManual) -> dict[tuple[int, int], int]:
    pairs = combinations(enumerate(manual.columns, 1), 2)
    counts = {(i, j): len(set(a) & set(b)) for (i, a), (j, b) in pairs}
    return {pair: count for pair, count in counts.items() if count}


def test_columns_share_what_the_published_ones_share() -> None:
    assert shared(PUBLISHED) == SHARED
    for seed in range(50):
        manual = draw_manual(stream(seed, "manual"))
        assert sorted(shared(manual).values()) == sorted(SHARED.values())
        assert {len(set(column)) for column in manual.columns} == {7}
        assert set().union(*manual.columns) == set(SYMBOLS)


def test_four_symbols_of_a_column_name_it() -> None:
    for manual in (PUBLISHED, draw_manual(stream(3, "manual"))):
        for column in manual.columns:
            for four in combinations(column, 4):
                assert manual.order(tuple(reversed(four))) == four


def test_four_symbols_of_no_column_have_no_order() -> None:
    assert PUBLISHED.order(("anchor", "wheel", "eye", "flag")) == ()


def panel(seed: int = 1, **options: object) -> KeypadPanel:
    puzzle = Keypad(**options).start(seed).puzzle  # type: ignore[arg-type]
    assert isinstance(puzzle, KeypadPanel)
    return puzzle


def right(puzzle: KeypadPanel) -> list[str]:
    return [puzzle.actions[puzzle.symbols.index(symbol)] for symbol in PUBLISHED.order(puzzle.symbols)]


def test_actions_go_down_the_left_side_first() -> None:
    places = ("top_left", "bottom_left", "top_right", "bottom_right")
    assert KeypadPanel.actions == tuple(f"press_{place}_button" for place in places)


def test_only_one_order_of_all_opens_it() -> None:
    solving = []
    for order in permutations(KeypadPanel.actions):
        puzzle = panel()
        if [puzzle.act(action) for action in order][-1] == "solved":
            solving.append(list(order))
    assert solving == [right(panel())]


def test_a_wrong_key_puts_out_the_lamps_and_our_score_stays() -> None:
    puzzle = panel()
    first, second, third, _ = right(puzzle)
    assert [puzzle.act(first), puzzle.act(second), puzzle.progress] == ["done", "done", 0.5]
    assert puzzle.describe().count("lamp on") == 2
    assert [puzzle.act(first), puzzle.progress, puzzle.pressed] == ["mistake", 0.5, ()]
    assert [puzzle.act(third), puzzle.act(first), puzzle.progress] == ["mistake", "done", 0.5]


def test_the_released_score_is_the_latest_right_key_in_its_attempt() -> None:
    puzzle = panel(variant="released")
    first, second, *_ = right(puzzle)
    scores = []
    for action in (first, second, first, second, first):
        puzzle.act(action)
        scores.append(puzzle.progress)
    assert scores == [0.25, 0.5, 0.5, 0.5, 0.25]


@pytest.mark.parametrize("pressed", [0, 2])
def test_an_imagined_manual_fits_the_panel(pressed: int) -> None:
    for seed in range(50):
        puzzle = panel(seed)
        order = list(PUBLISHED.order(puzzle.symbols))[:pressed]
        other = imagine_manual(puzzle.symbols, order, stream(seed, "imagine"))
        assert other.order(puzzle.symbols)[:pressed] == tuple(order)
        assert len(other.order(puzzle.symbols)) == 4
        assert sorted(shared(other).values()) == sorted(SHARED.values())


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("symbols = Key, anchor,comb, LADDER", "order = anchor, ladder, comb, key"),
        ("symbols = key, anchor, comb", "No column has just these 4"),
        ("symbols = key, anchor, comb, eye", "No column has just these 4"),
        ("symbols = key, anchor, comb, comb", "No column has just these 4"),
        ("symbols = key, anchor, comb, curl", "not 'curl'"),
        ("hello", "symbols = <"),
    ],
)
def test_the_oracle_expert_answers_or_says_what_is_wrong(told: str, answer: str) -> None:
    assert answer in advise(PUBLISHED, [told])


def test_every_column_and_place_comes_up() -> None:
    panels = [panel(seed) for seed in range(400)]
    firsts = Counter(right(puzzle)[0] for puzzle in panels)
    columns = Counter(
        next(n for n, column in enumerate(PUBLISHED.columns) if set(p.symbols) <= set(column)) for p in panels
    )
    assert len(firsts) == 4
    assert len(columns) == 6
    assert min(*firsts.values(), *columns.values()) > 40


def test_two_turns_suffice() -> None:
    assert {oracle_pair(Keypad(manual="random").start(seed)).facts["turns"] for seed in range(50)} == {2}


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes beside the paper's row: 1, 18 (error 2.1), 2.97 and 2.88 (error 0.1)."""
    mean = random_play(Keypad(variant="released"), 2000)
    assert mean["solved"] < 0.03
    assert abs(mean["partial"] - 0.18) < 2 * 0.021
    assert abs(mean["mistakes"] - 2.97) < 0.05
    assert abs(mean["turns"] - 2.88) < 2 * 0.1
