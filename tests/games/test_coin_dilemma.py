"""Coin Dilemma, case by case from its rules, and its strategies against the paper's anchors."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.random import stream
from ludens.games.coin_dilemma import CoinCommonWelfare, CoinOptimal, CoinSelfInterest
from ludens.games.grid import Walker
from ludens.loop import play
from tests.games.grids import measure, places, put, step


@pytest.mark.parametrize(
    ("cells", "red", "blue", "earned", "events"),
    [
        # red, blue, red coin, blue coin
        (("A1", "E5", "A2", "C3"), "RIGHT", "STAY", (1, 0), ["red_own_coin"]),
        (("A1", "E5", "C3", "A2"), "RIGHT", "STAY", (1, -2), ["red_other_coin"]),
        (("A1", "E5", "C3", "D5"), "STAY", "UP", (0, 1), ["blue_own_coin"]),
        (("A1", "E5", "D5", "C3"), "STAY", "UP", (-2, 1), ["blue_other_coin"]),
        (("A1", "E5", "A2", "D5"), "RIGHT", "UP", (1, 1), ["red_own_coin", "blue_own_coin"]),
        (("A1", "E5", "D5", "A2"), "RIGHT", "UP", (-1, -1), ["red_other_coin", "blue_other_coin"]),
        (("A1", "A3", "A2", "E5"), "RIGHT", "LEFT", (-1, 1), ["red_own_coin", "blue_other_coin"]),
        (("A1", "A3", "E5", "A2"), "RIGHT", "LEFT", (1, -1), ["red_other_coin", "blue_own_coin"]),
        (("A1", "A3", "B2", "E5"), "RIGHT", "LEFT", (0, 0), []),
        (("B1", "B2", "E4", "E5"), "RIGHT", "LEFT", (0, 0), []),
    ],
)
def test_what_coins_earn(
    cells: tuple[str, ...], red: str, blue: str, earned: tuple[int, int], events: list[str]
) -> None:
    state = put("coin_dilemma", *cells)
    result = step(state, red, blue)
    assert (result["red"], result["blue"]) == earned
    assert result["events"] == dict.fromkeys(events, 1)


def test_players_may_swap_and_share_cells() -> None:
    state = put("coin_dilemma", "B1", "B2", "E4", "E5")
    step(state, "RIGHT", "LEFT")
    assert places(state) == ["B2", "B1", "E4", "E5"]
    step(state, "STAY", "RIGHT")
    assert places(state) == ["B2", "B2", "E4", "E5"]
    assert state.last == ("STAY", "RIGHT")


def test_a_taken_coin_comes_back_anywhere_but_on_something() -> None:
    seen = set()
    for seed in range(300):
        state = put("coin_dilemma", "A1", "E5", "A2", "C3")
        state.random = stream(seed, "test")
        step(state, "RIGHT", "STAY")
        assert places(state)[:2] == ["A2", "E5"]
        assert places(state)[3] == "C3"
        seen.add(places(state)[2])
    assert len(seen) == 22
    assert not seen & {"A2", "E5", "C3"}


def test_two_taken_coins_come_back_apart() -> None:
    for seed in range(300):
        state = put("coin_dilemma", "A1", "E5", "A2", "D5")
        state.random = stream(seed, "test")
        step(state, "RIGHT", "UP")
        assert len(set(places(state))) == 4


def test_a_coin_nobody_took_stays() -> None:
    state = put("coin_dilemma", "A1", "E5", "C2", "C3")
    step(state, "DOWN", "UP")
    assert places(state)[2:] == ["C2", "C3"]


def choices(bot: type[Walker], seat: str, *cells: str) -> set[str]:
    state = put("coin_dilemma", *cells)
    return set(bot().sit(state.game, seat, stream(0, "test")).choices(state))


def test_common_welfare_goes_around_the_other_coin() -> None:
    assert choices(CoinCommonWelfare, "red", "C1", "A1", "C3", "E5") == {"RIGHT"}
    assert choices(CoinCommonWelfare, "red", "C1", "A1", "C3", "C2") == {"UP", "DOWN"}
    assert choices(CoinCommonWelfare, "red", "B1", "A1", "C3", "B2") == {"DOWN"}
    assert choices(CoinCommonWelfare, "red", "B1", "A1", "C3", "C2") == {"RIGHT"}
    assert choices(CoinCommonWelfare, "blue", "A1", "C1", "C2", "C3") == {"UP", "DOWN"}


def test_self_interest_goes_to_the_closest_coin() -> None:
    assert choices(CoinSelfInterest, "red", "C1", "A1", "C4", "C2") == {"RIGHT"}
    assert choices(CoinSelfInterest, "blue", "A5", "C3", "C2", "E5") == {"LEFT"}
    assert choices(CoinSelfInterest, "red", "C3", "A1", "C1", "C5") == {"LEFT", "RIGHT"}


def test_optimal_never_leaves_the_shortest_way() -> None:
    assert choices(CoinOptimal, "red", "C1", "A1", "C3", "C2") == {"RIGHT"}
    assert choices(CoinOptimal, "red", "B1", "A1", "C3", "B2") == {"DOWN"}
    assert choices(CoinOptimal, "red", "B1", "A1", "C3", "E5") == {"DOWN", "RIGHT"}


async def test_common_welfare_never_defects_and_self_interest_does() -> None:
    game = ludens.make("coin_dilemma")
    players = {
        "red": ludens.agent("bot/common_welfare", game),
        "blue": ludens.agent("bot/self_interest", game),
    }
    facts = [(await play(game, players, seed)).facts for seed in range(40)]
    assert sum(f["red_own_coin"] for f in facts) > 300
    assert sum(f["red_other_coin"] for f in facts) == 0
    assert sum(f["blue_other_coin"] for f in facts) > 200


@pytest.mark.parametrize(("bot", "anchor"), [("bot/random", -0.1), ("bot/optimal", 14.2)])
def test_means_equal_the_paper(bot: str, anchor: float) -> None:
    mean, spread = measure("coin_dilemma", bot, 300)
    assert abs(mean - anchor) < 3 * spread / 300**0.5
