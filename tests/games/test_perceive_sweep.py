"""The sweeps of perceive: positions of one density, positions of a few kinds of pieces."""

import pytest

import ludens
from ludens.core.errors import BadOption
from ludens.core.view import RenderOptions
from ludens.games.perceive import board_of

DENSITIES = ("0-45", "46-90", "91-135", "136-180", "181-225")


def codes(board: str, seed: int, **options: str) -> list[int]:
    position = ludens.make("perceive", board=board, **options).start(seed)
    return [code for row in position.matrix for code in row]  # type: ignore[attr-defined]


@pytest.mark.parametrize("pieces", DENSITIES)
def test_number_of_pieces(pieces: str) -> None:
    low, high = map(int, pieces.split("-"))
    counts = [sum(map(bool, codes("gomoku", seed, pieces=pieces))) for seed in range(120)]
    assert low <= min(counts) < low + 6
    assert high - 6 < max(counts) <= high


@pytest.mark.parametrize(
    ("kinds", "allowed"), [("K", {6}), ("KQ", {5, 6}), ("kqr", {4, 5, 6}), ("KQRBNP", {1, 2, 3, 4, 5, 6})]
)
def test_only_the_kinds_asked_for_on_the_usual_cells(kinds: str, allowed: set[int]) -> None:
    seen: set[int] = set()
    for seed in range(40):
        shown, usual = codes("chess", seed, kinds=kinds), codes("chess", seed)
        assert [bool(code) for code in shown] == [bool(code) for code in usual]
        seen |= {code for code in shown if code}
    assert seen == allowed | {-code for code in allowed}


def test_pieces_and_kinds_combine() -> None:
    shown = codes("chess", 5, kinds="P", pieces="64-64")
    assert set(shown) == {1, -1}


def test_without_a_sweep_positions_are_those_of_the_board() -> None:
    from ludens.core.random import stream

    for seed in range(10):
        matrix = board_of("gomoku", RenderOptions()).scatter(stream(seed, "position"))
        assert codes("gomoku", seed) == [code for row in matrix for code in row]


@pytest.mark.parametrize(
    "wrong", [{"pieces": "many"}, {"pieces": "9-3"}, {"pieces": "0-226"}, {"kinds": "BX"}]
)
def test_impossible_options_are_rejected(wrong: dict[str, str]) -> None:
    with pytest.raises(BadOption, match="of perceive"):
        ludens.make("perceive", board="gomoku", **wrong)
