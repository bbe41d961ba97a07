"""Monster Hunt, case by case from its rules, and its strategies against the paper's anchors."""

from __future__ import annotations

from collections import Counter

import pytest

from ludens.core.random import stream
from ludens.core.view import RenderOptions, view_of
from ludens.games.grid import GridState, Walker
from ludens.games.monster_hunt import CommonWelfare1, CommonWelfare2, CommonWelfare3, HuntSelfInterest
from tests.games.grids import measure, places, put, step

MANY = 200


def hunt(*cells: str, seed: int = 0, variant: str = "paper") -> GridState:
    """Red, blue, monster, two apples."""
    state = put("monster_hunt", *cells, variant=variant)
    state.random = stream(seed, "test")
    return state


@pytest.mark.parametrize(
    ("cells", "red", "blue", "earned", "events"),
    [
        (("A1", "E1", "E5", "A2", "C3"), "RIGHT", "STAY", (2, 0), ["red_apple"]),
        (("A1", "E1", "A5", "C3", "E2"), "STAY", "RIGHT", (0, 2), ["blue_apple"]),
        (("A1", "E1", "C5", "A2", "E2"), "RIGHT", "RIGHT", (2, 2), ["red_apple", "blue_apple"]),
        (("A1", "A3", "E5", "A2", "C3"), "RIGHT", "LEFT", (2, 2), ["red_apple", "blue_apple"]),
        # the monster steps on a player who waits
        (("A1", "E5", "A2", "C1", "C2"), "STAY", "STAY", (-2, 0), ["red_alone"]),
        (("E5", "A1", "A2", "C1", "C2"), "STAY", "STAY", (0, -2), ["blue_alone"]),
        # a player steps on the monster, which then has no way to go
        (("A1", "E5", "A2", "C1", "C2"), "RIGHT", "STAY", (-2, 0), ["red_alone"]),
        # one gets away, and the monster follows
        (("A1", "E5", "A3", "C1", "C2"), "DOWN", "STAY", (0, 0), []),
        (("A1", "A3", "B2", "C1", "C2"), "RIGHT", "LEFT", (5, 5), ["together"]),
        (("B2", "B2", "B3", "D1", "D2"), "STAY", "STAY", (5, 5), ["together"]),
        (("A2", "B1", "B2", "D1", "D2"), "DOWN", "RIGHT", (5, 5), ["together"]),
        # an apple under the monster counts with it
        (("A1", "E5", "A3", "A2", "C2"), "RIGHT", "STAY", (0, 0), ["red_apple", "red_alone"]),
        (("A1", "A3", "B2", "A2", "C2"), "RIGHT", "LEFT", (7, 7), ["red_apple", "blue_apple", "together"]),
        # one eats in peace while the other is caught
        (("A1", "E5", "A3", "E4", "C2"), "RIGHT", "LEFT", (-2, 2), ["red_alone", "blue_apple"]),
    ],
)
@pytest.mark.parametrize("variant", ["paper", "released"])
def test_what_events_earn(
    cells: tuple[str, ...], red: str, blue: str, earned: tuple[int, int], events: list[str], variant: str
) -> None:
    for seed in range(10):
        result = step(hunt(*cells, seed=seed, variant=variant), red, blue)
        assert (result["red"], result["blue"]) == earned
        assert result["events"] == dict.fromkeys(events, 1)


def monster_after(cells: tuple[str, ...], red: str, blue: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(MANY):
        state = hunt(*cells, seed=seed)
        step(state, red, blue)
        found[places(state)[2]] += 1
    return found


def test_the_monster_goes_for_the_player_who_is_closest_after_moving() -> None:
    assert monster_after(("A3", "E3", "C3", "A1", "E5"), "RIGHT", "STAY") == {"D3": MANY}
    assert monster_after(("A3", "E3", "C3", "A1", "E5"), "STAY", "LEFT") == {"B3": MANY}


def test_chance_decides_between_players_equally_close() -> None:
    found = monster_after(("A3", "E3", "C3", "A1", "E5"), "STAY", "STAY")
    assert set(found) == {"B3", "D3"}
    assert min(found.values()) > MANY / 3


def test_chance_decides_the_axis_of_a_slanting_way() -> None:
    found = monster_after(("A1", "E5", "C2", "A5", "E1"), "STAY", "STAY")
    assert set(found) == {"B2", "C1"}
    assert min(found.values()) > MANY / 3


def test_who_is_caught_alone_comes_back_where_nothing_is_and_the_monster_stays() -> None:
    seen = set()
    for seed in range(2 * MANY):
        state = hunt("A1", "E5", "A2", "C1", "C2", seed=seed)
        step(state, "STAY", "STAY")
        assert places(state)[1:] == ["E5", "A1", "C1", "C2"]
        seen.add(places(state)[0])
    assert len(seen) == 21
    assert not seen & {"E5", "A1", "C1", "C2"}


def test_a_beaten_monster_comes_back_where_nothing_is_and_the_players_stay() -> None:
    seen = set()
    for seed in range(2 * MANY):
        state = hunt("A1", "A3", "B2", "C1", "C2", seed=seed)
        step(state, "RIGHT", "LEFT")
        assert places(state)[:2] == ["A2", "A2"]
        assert places(state)[3:] == ["C1", "C2"]
        seen.add(places(state)[2])
    assert len(seen) == 22
    assert not seen & {"A2", "C1", "C2"}


def test_everything_that_comes_back_in_one_step_keeps_apart() -> None:
    for seed in range(MANY):
        state = hunt("A1", "E5", "A3", "A2", "E4", seed=seed)
        step(state, "RIGHT", "LEFT")
        assert len(set(places(state))) == 5
        state = hunt("A1", "A3", "B2", "A2", "C2", seed=seed)
        step(state, "RIGHT", "LEFT")
        assert len(set(places(state))) == 4, "both players share a cell, nothing else does"


def test_only_the_released_monster_destroys_apples() -> None:
    cells = ("C1", "E5", "C3", "C2", "A5")
    for seed in range(MANY):
        paper = hunt(*cells, seed=seed)
        assert step(paper, "LEFT", "STAY")["events"] == {}
        assert places(paper) == ["C1", "E5", "C2", "C2", "A5"]
        released = hunt(*cells, seed=seed, variant="released")
        assert step(released, "LEFT", "STAY")["events"] == {}
        assert places(released)[:3] == ["C1", "E5", "C2"]
        assert places(released)[3] not in {"C1", "E5", "C2", "A5"}


def test_the_rules_text_names_the_variant() -> None:
    rules = {
        v: view_of(hunt(*["A1"] * 5, variant=v).game, RenderOptions(), 0).rules("red")
        for v in ("paper", "released")
    }
    assert "the apple stays" in rules["paper"]
    assert "is destroyed" in rules["released"]
    assert "is destroyed" not in rules["paper"]


def choices(bot: Walker, *cells: str) -> set[str]:
    state = hunt(*cells)
    return set(bot.sit(state.game, "red", stream(0, "test")).choices(state))


def test_strategies() -> None:
    cells = ("A3", "E5", "A1", "B3", "E1")
    assert choices(CommonWelfare1(), *cells) == {"LEFT"}
    assert choices(CommonWelfare2(), *cells) == {"DOWN"}
    assert choices(CommonWelfare2(), "C3", *cells[1:]) == {"STAY"}
    assert choices(CommonWelfare3(), *cells) == {"LEFT"}
    assert choices(CommonWelfare3(corner="E5"), *cells) == {"RIGHT", "DOWN"}
    assert choices(CommonWelfare3(), "A1", "E5", "C3", "B3", "E1") == {"STAY"}
    assert choices(HuntSelfInterest(), *cells) == {"DOWN"}
    assert choices(HuntSelfInterest(), "C3", "E5", "A1", "C1", "C5") == {"LEFT", "RIGHT"}


@pytest.mark.parametrize(
    ("bot", "anchor", "expected"), [("bot/random", -10.1, -11.2), ("bot/optimal", 92.2, 88.5)]
)
def test_means(bot: str, anchor: float, expected: float) -> None:
    """The anchors must lie within what ten episodes scatter, the number the paper gives each model."""
    mean, spread = measure("monster_hunt", bot, 300)
    assert abs(mean - expected) < 3 * spread / 300**0.5
    assert abs(mean - anchor) < 2 * spread / 10**0.5
