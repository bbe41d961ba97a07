"""Battle of the Colors, case by case from its rules, and its strategies against the paper's anchors."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.battle_of_colors import BattleCommonWelfare, BattleSelfInterest, BiasedBlue, BiasedRed
from ludens.games.grid import GridState, Walker
from ludens.loop import play
from tests.games.grids import CELL, measure, places, put, step

MANY = 300


def battle(*cells: str, seed: int = 0, variant: str = "paper") -> GridState:
    """Red, blue, red block, blue block."""
    state = put("battle_of_colors", *cells, variant=variant)
    state.random = stream(seed, "test")
    return state


@pytest.mark.parametrize(
    ("cells", "red", "blue", "earned", "events"),
    [
        (("A1", "A3", "A2", "E5"), "RIGHT", "LEFT", (2, 1), ["both_red"]),
        (("A2", "A3", "A2", "E5"), "STAY", "LEFT", (2, 1), ["both_red"]),
        (("A1", "A3", "E5", "A2"), "RIGHT", "LEFT", (1, 2), ["both_blue"]),
        (("A1", "E5", "A2", "E4"), "RIGHT", "LEFT", (0, 0), ["different"]),
        (("A1", "E5", "E4", "A2"), "RIGHT", "LEFT", (0, 0), ["different"]),
        (("A1", "E5", "A2", "C3"), "RIGHT", "STAY", (0, 0), []),
        (("A1", "A3", "B2", "C3"), "RIGHT", "LEFT", (0, 0), []),
    ],
)
def test_what_blocks_earn(
    cells: tuple[str, ...], red: str, blue: str, earned: tuple[int, int], events: list[str]
) -> None:
    result = step(battle(*cells), red, blue)
    assert (result["red"], result["blue"]) == earned
    assert result["events"] == dict.fromkeys(events, 1)


@pytest.mark.parametrize(("block", "other"), [(2, 3), (3, 2)])
def test_the_block_they_met_on_moves_where_nothing_is(block: int, other: int) -> None:
    seen = set()
    for seed in range(MANY):
        state = battle("A1", "A3", "A2", "A2", seed=seed)
        state.cells[other] = CELL["E5"]
        step(state, "RIGHT", "LEFT")
        assert places(state)[:2] == ["A2", "A2"]
        assert places(state)[other] == "E5"
        seen.add(places(state)[block])
    assert len(seen) == 23
    assert not seen & {"A2", "E5"}


def test_on_different_blocks_both_move_apart() -> None:
    for seed in range(MANY):
        state = battle("A1", "E5", "A2", "E4", seed=seed)
        step(state, "RIGHT", "LEFT")
        assert places(state)[:2] == ["A2", "E4"]
        assert len(set(places(state))) == 4


def test_alone_on_a_block_nothing_moves() -> None:
    state = battle("A1", "E5", "A2", "C3")
    step(state, "RIGHT", "STAY")
    step(state, "STAY", "UP")
    assert places(state) == ["A2", "D5", "A2", "C3"]


def test_released_blocks_may_overlap_and_then_count_as_red() -> None:
    found = set()
    for seed in range(MANY):
        state = battle("A1", "A3", "A2", "E5", seed=seed, variant="released")
        step(state, "RIGHT", "LEFT")
        found.add(places(state)[2])
    assert "E5" in found
    assert "A2" not in found
    state = battle("C3", "C5", "C4", "C4", variant="released")
    assert step(state, "RIGHT", "LEFT")["events"] == {"both_red": 1}


@pytest.mark.parametrize(
    "cells", [("A1", "A3", "A2", "E5"), ("A1", "A3", "E5", "A2"), ("A1", "E4", "A2", "E3")]
)
def test_released_events_move_both_blocks(cells: tuple[str, ...]) -> None:
    seen: list[set[str]] = [set(), set()]
    for seed in range(MANY):
        state = battle(*cells, seed=seed, variant="released")
        step(state, "RIGHT", "LEFT")
        for block, found in enumerate(places(state)[2:]):
            seen[block].add(found)
    players = set(places(state)[:2])
    assert all(len(found) == 25 - len(players) and not found & players for found in seen)
    rules = view_of(state.game, RenderOptions(), 0).rules("red")
    assert rules.count("both blocks move to random cells") == 3


def test_overlapping_blocks_show_both_colours() -> None:
    state = battle("A1", "E5", "C3", "C3", variant="released")
    view = view_of(state.game, RenderOptions(), 0)
    shown = view.image(state, "red").hash
    state.cells[2] = CELL["D4"]
    one = view.image(state, "red").hash
    state.cells[2:] = [CELL["C3"], CELL["D4"]]
    assert len({shown, one, view.image(state, "red").hash}) == 3
    assert "may move to the cell of the other block" in view.rules("blue")


def choices(bot: type[Walker], seat: str, *cells: str, met: tuple[int, int] = (0, 0)) -> set[str]:
    state = battle(*cells)
    state.counts[:2] = met
    return set(bot().sit(state.game, seat, stream(0, "test")).choices(state))


def test_strategies_that_know_their_block() -> None:
    cells = ("C3", "C3", "C1", "C5")
    assert choices(BattleSelfInterest, "red", *cells) == {"LEFT"}
    assert choices(BattleSelfInterest, "blue", *cells) == {"RIGHT"}
    assert choices(BiasedRed, "blue", *cells) == {"LEFT"}
    assert choices(BiasedBlue, "red", *cells) == {"RIGHT"}
    assert choices(BiasedBlue, "red", "C5", *cells[1:]) == {"STAY"}


def test_common_welfare_chooses_the_block_closest_to_both() -> None:
    assert choices(BattleCommonWelfare, "red", "A1", "A5", "A2", "A3") == {"RIGHT"}
    assert choices(BattleCommonWelfare, "blue", "A1", "A5", "A2", "A3") == {"LEFT"}
    assert choices(BattleCommonWelfare, "red", "A3", "A5", "A2", "A3") == {"STAY"}


def test_common_welfare_takes_turns_where_blocks_are_equally_close() -> None:
    for seat in ("red", "blue"):
        assert choices(BattleCommonWelfare, seat, "C3", "C3", "C1", "C5", met=(1, 1)) == {"LEFT"}
        assert choices(BattleCommonWelfare, seat, "C3", "C3", "C1", "C5", met=(1, 0)) == {"RIGHT"}


async def test_two_common_welfare_players_choose_the_same_block() -> None:
    game = ludens.make("battle_of_colors")
    players = {seat: ludens.agent("bot/common_welfare", game) for seat in game.seats}
    facts = [(await play(game, players, seed)).facts for seed in range(50)]
    assert sum(f["different"] for f in facts) == 0
    assert min(f["both_red"] + f["both_blue"] for f in facts) >= 12


@pytest.mark.parametrize(
    ("bot", "anchor", "expected"), [("bot/random", 0.2, 0.15), ("bot/optimal", 29.9, 29.05)]
)
def test_means(bot: str, anchor: float, expected: float) -> None:
    """The anchors must lie within what ten episodes scatter, the number the paper gives each model."""
    mean, spread = measure("battle_of_colors", bot, 300)
    assert abs(mean - expected) < 3 * spread / 300**0.5
    assert abs(mean - anchor) < 2 * spread / 10**0.5
