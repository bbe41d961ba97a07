"""The cash machine against the published tables of pages and keys; scores; random manuals; privacy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.comma.atm import DELETE, DOWN, ENTER, PUBLISHED, UP, Atm, AtmPanel, BalanceBand, draw_manual
from ludens.games.comma.dialogue import advise, solve
from tests.games.comma.common import SEEDS, oracle_pair, random_play

KEYS = {"^": UP, "v": DOWN, "e": ENTER, "d": DELETE}


def panel(seed: int = 0, **options: object) -> AtmPanel:
    puzzle = Atm(**options).start(seed).puzzle  # type: ignore[arg-type]
    assert isinstance(puzzle, AtmPanel)
    return puzzle


def press(puzzle: AtmPanel, keys: str) -> list[str]:
    """Press keys: digits, ^ up, v down, e enter, d delete, P the whole PIN."""
    keys = keys.replace("P", puzzle.pin)
    return [puzzle.act(KEYS.get(key, f"press_{key}")) for key in keys]


def shown(puzzle: AtmPanel) -> tuple[str, int]:
    return (puzzle.page if puzzle.page == "transaction" else f"{puzzle.page} {puzzle.kind}"), puzzle.line


def with_balance(low: int, high: int, **options: object) -> AtmPanel:
    return next(p for p in (panel(seed, **options) for seed in range(5000)) if low <= p.balance <= high)


@pytest.mark.parametrize(
    ("balance", "due"),
    [
        (1, (100, "deposit")),
        (499, (100, "deposit")),
        (500, (300, "withdrawal")),
        (1000, (300, "withdrawal")),
    ],
)
def test_what_a_balance_calls_for(balance: int, due: tuple[int, str]) -> None:
    right = PUBLISHED.right(balance)
    assert (right.amount, right.kind) == due


@pytest.mark.parametrize(
    ("keys", "where", "last"),
    [
        ("", ("transaction", 0), ""),
        ("^", ("transaction", 0), "nothing"),
        ("v", ("transaction", 1), "done"),
        ("vv", ("transaction", 1), "nothing"),
        ("v^", ("transaction", 0), "done"),
        ("5", ("transaction", 0), "nothing"),
        ("d", ("transaction", 0), "nothing"),
        ("e", ("pin deposit", 0), "done"),
        ("ve", ("pin withdrawal", 0), "done"),
        ("eve", ("transaction", 0), "done"),
        ("ev1", ("pin deposit", 1), "nothing"),
        ("ed", ("pin deposit", 0), "nothing"),
        ("ee", ("pin deposit", 0), "mistake"),
        ("ePe", ("final deposit", 0), "done"),
        ("vePe", ("final withdrawal", 0), "done"),
        ("vePee", ("final withdrawal", 0), "mistake"),
        ("vePeve", ("transaction", 0), "done"),
        ("vePeveePe", ("final deposit", 0), "done"),
        ("ePev7", ("final deposit", 1), "nothing"),
        ("veveve", ("pin withdrawal", 0), "done"),
    ],
)
def test_keys_lead_where_the_table_says(keys: str, where: tuple[str, int], last: str) -> None:
    puzzle = panel()
    outcomes = press(puzzle, keys)
    assert shown(puzzle) == where
    assert outcomes[-1:] == ([last] if last else [])


def test_the_pin_is_typed_deleted_cut_off_and_shown_as_stars() -> None:
    puzzle = panel()
    press(puzzle, "e12d3")
    assert puzzle.typed_pin == "13"
    assert "PIN: **" in puzzle.describe()
    assert press(puzzle, "4567")[-2:] == ["nothing", "nothing"]
    assert puzzle.typed_pin == "1345"
    wrong = "1346" if puzzle.pin == "1345" else "1345"
    puzzle.typed_pin = wrong
    assert press(puzzle, "e") == ["mistake"]
    assert puzzle.typed_pin == wrong
    press(puzzle, "vee")
    assert puzzle.typed_pin == ""


def test_amounts_have_five_digits_and_survive_going_back() -> None:
    puzzle = panel()
    press(puzzle, "ePe1234567d")
    assert puzzle.typed_amount == "1234"
    press(puzzle, "veePe")
    assert (shown(puzzle), puzzle.typed_amount) == (("final deposit", 0), "1234")
    assert "$1234" in puzzle.describe()


@pytest.mark.parametrize(
    ("low", "high", "keys"), [(1, 499, "ePe100e"), (500, 1000, "vePe300e"), (500, 1000, "ePeve" + "vePe300e")]
)
def test_the_shortest_solutions(low: int, high: int, keys: str) -> None:
    puzzle = with_balance(low, high)
    *before, last = press(puzzle, keys)
    assert (set(before), last) == ({"done"}, "solved")
    assert len(before) + 1 == {"ePe100e": 10, "vePe300e": 11}.get(keys, 19)


@pytest.mark.parametrize(
    ("low", "high", "keys"),
    [
        (1, 499, "vePe100e"),
        (1, 499, "ePe300e"),
        (1, 499, "ePee"),
        (500, 1000, "ePe300e"),
        (500, 1000, "vePe100e"),
    ],
)
def test_the_wrong_transaction_or_amount_is_a_mistake(low: int, high: int, keys: str) -> None:
    puzzle = with_balance(low, high)
    typed = keys[3:].strip("Pe")
    assert press(puzzle, keys)[-1] == "mistake"
    assert puzzle.typed_amount == typed


def test_the_score_counts_three_steps_and_keeps_them() -> None:
    puzzle, scores = with_balance(1, 499), []
    for keys in ("vePe", "veePe", "10", "0", "d", "ve"):
        press(puzzle, keys)
        scores.append(puzzle.progress)
    assert scores == [0.25, 0.5, 0.5, 0.75, 0.75, 0.75]
    released = with_balance(1, 499, variant="released")
    press(released, "ePe100")
    assert released.progress == 0


@pytest.mark.parametrize("seed", range(30))
def test_random_bands_cover_every_balance(seed: int) -> None:
    manual = draw_manual(stream(seed, "manual"))
    assert 2 <= len(manual.bands) <= 4
    assert {band.kind for band in manual.bands} == {"deposit", "withdrawal"}
    assert [band.least for band in manual.bands] == sorted({band.least for band in manual.bands})
    assert len({band.amount for band in manual.bands}) == len(manual.bands)
    for band, after in zip(manual.bands, (*manual.bands[1:], BalanceBand(1001, "deposit", 0)), strict=True):
        assert manual.right(band.least) == manual.right(after.least - 1) == band


def test_the_expert_gives_the_table_and_asks_for_nothing() -> None:
    assert (
        advise(PUBLISHED, ["My balance is none of your business."])
        == "from 0 = deposit 100\nfrom 500 = withdrawal 300"
    )


@pytest.mark.parametrize(
    "said", ["", "from 500 = deposit 1", "from = deposit 1", "from 0 = steal 5", "from 0 = deposit x"]
)
def test_the_oracle_solver_waits_for_a_whole_table(said: str) -> None:
    assert "press_" not in solve(panel(), said)  # type: ignore[arg-type]


@given(seed=SEEDS, keys=st.text("0123456789^ved", max_size=12))
@settings(max_examples=60, deadline=None)
def test_the_oracle_solver_goes_on_from_any_screen(seed: int, keys: str) -> None:
    state = Atm(manual="random", mistakes=100).start(seed)
    assert isinstance(state.puzzle, AtmPanel)
    state.apply({"solver": "\n".join(KEYS.get(key, f"press_{key}") for key in keys)})
    mistakes = state.mistakes
    oracle_pair(state)
    assert (state.solved, state.mistakes) == (True, mistakes)


def test_starts_are_spread_out() -> None:
    panels = [panel(seed) for seed in range(600)]
    assert all(1 <= p.balance <= 1000 and len(p.pin) == 4 and p.pin[0] != "0" for p in panels)
    assert 240 < sum(p.balance >= 500 for p in panels) < 360


@given(seed=SEEDS, keys=st.lists(st.sampled_from(AtmPanel.actions), max_size=40))
@settings(max_examples=60, deadline=None)
def test_the_expert_hears_neither_pin_nor_digits_nor_balance(seed: int, keys: list[str]) -> None:
    state = Atm(mistakes=100).start(seed)
    view = view_of(state.game, RenderOptions(), 0)
    puzzle = state.puzzle
    assert isinstance(puzzle, AtmPanel)
    pin = [f"press_{digit}" for digit in puzzle.pin]
    state.apply({"solver": "\n".join(["I log in.", "press_enter", *pin, "press_enter", *keys])})
    heard = view.notes(state, "expert") + view.rules("expert")
    assert puzzle.pin not in heard
    assert f"${puzzle.balance}" not in heard
    assert not any(f"press_{digit}" in heard for digit in range(10))
    assert puzzle.pin in view.notes(state, "solver")
    assert "$" not in view.notes(state, "solver")


def test_random_play_agrees_with_the_paper() -> None:
    """2,000 released episodes beside the paper's row: 0, 0, 0.18 (error 0.1) and 10."""
    mean = random_play(Atm(variant="released"), 2000)
    assert mean["partial"] == mean["solved"] == 0
    assert mean["turns"] > 9.8
    assert abs(mean["mistakes"] - 0.18) < 2 * 0.1


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_rules_say_whether_the_expert_sees_keys(variant: str) -> None:
    state = Atm(variant=variant).start(5)
    view = view_of(state.game, RenderOptions(), 0)
    state.apply({"solver": "press_7"})
    heard = "press_7" in view.notes(state, "expert")
    assert heard == (variant == "released")
    assert heard != ("The Expert does not see which digit keys you press." in view.rules("solver"))
