"""Rewards of clues and votes, against tables computed by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from ludens.core.episode import Move
from ludens.games.spy.checker import check
from ludens.games.spy.clues import named
from ludens.games.spy.game import Spy, SpyState, clue_rewards, lowest_clue_rewards
from ludens.games.spy.pairs import described

# Votes of the spy and of each civilian; rewards by equation 1 with beta = lambda = 0.1, computed by hand.
TABLE = [
    # Unanimous: mean 0, r_s = -0.1 * 4, r_c = 0.1 / 4 * 4.
    (4, (0, 0, 0, 0), -0.4, (0.1, 0.1, 0.1, 0.1)),
    # All for the first civilian: mean 1, r_s = 0.1; r_c1 = -0.025 - 0.3; the others -0.025 + 0.1.
    (0, (4, 0, 0, 0), 0.1, (-0.325, 0.075, 0.075, 0.075)),
    # 2, 1, 1 and 0 votes: mean 0.5, lead 1.5; r_s = -0.15; r_c = 0.0375 - 0.1 * (v - 0.5).
    (2, (1, 1, 0, 0), -0.15, (-0.0125, -0.0125, 0.0875, 0.0875)),
    # All abstain: nothing for anyone.
    (0, (0, 0, 0, 0), 0.0, (0.0, 0.0, 0.0, 0.0)),
    # Two civilians: mean 0.5, lead 0.5; r_s = -0.05; r_c = 0.025 -+ 0.05.
    (1, (1, 0), -0.05, (-0.025, 0.075)),
    # Three civilians, one vote each and none for the spy: mean 1, lead -1; r_s = 0.1; r_c = -0.1 / 3.
    (0, (1, 1, 1), 0.1, (-0.1 / 3, -0.1 / 3, -0.1 / 3)),
    # Eight votes of a judge. 3 and 4, 1, 0, 0: mean 1.25, lead 1.75; r_c = 0.04375 - 0.1 * (v - 1.25).
    (3, (4, 1, 0, 0), -0.175, (-0.23125, 0.06875, 0.16875, 0.16875)),
    # 5 and 2, 0, 1 among three civilians: mean 1, lead 4; r_c = 0.4 / 3 - 0.1 * (v - 1).
    (5, (2, 0, 1), -0.4, (0.1 / 3, 0.7 / 3, 0.4 / 3)),
    # Seven for the spy, one n/a: mean 0; r_s = -0.7, r_c = 0.7 / 2.
    (7, (0, 0), -0.7, (0.35, 0.35)),
]


@pytest.mark.parametrize(("spy", "civilians", "r_spy", "r_civilians"), TABLE)
def test_clue_rewards(
    spy: int, civilians: tuple[int, ...], r_spy: float, r_civilians: Sequence[float]
) -> None:
    ours, theirs = clue_rewards(spy, civilians)
    assert ours == pytest.approx(r_spy)
    assert theirs == pytest.approx(r_civilians)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_clue_rewards_sum_to_zero_and_no_clue_earns_the_least(count: int) -> None:
    lowest_spy, lowest_civilian = lowest_clue_rewards(count, count)
    found_spy, found_civilian = [], []
    for votes in product(range(count + 1), repeat=count + 1):
        if sum(votes) <= count:
            spy, civilians = clue_rewards(votes[0], votes[1:])
            assert spy + sum(civilians) == pytest.approx(0)
            found_spy.append(spy)
            found_civilian += civilians
    assert min(found_spy) == pytest.approx(lowest_spy)
    assert min(found_civilian) == pytest.approx(lowest_civilian)


def _played(game: Spy, votes: Mapping[str, str], silent: Sequence[int] = ()) -> tuple[SpyState, list[Move]]:
    """A finished game in which clues are numbered, and the moves that led there."""
    state, moves = game.start(0), list[Move]()
    while state.to_act:
        actions = {
            seat: votes.get(seat, "n/a") if state.stage == "decision" else f"clue {len(state.clues)}"
            for seat in state.to_act
        }
        if state.stage == "clue" and len(state.clues) in silent:
            actions = dict.fromkeys(actions, "")
        step = len({move.step for move in moves})
        moves += [Move(step, seat, action, "ok", []) for seat, action in actions.items()]
        state.apply(actions)
    return state, moves


def _votes(game: Spy, **roles: str) -> dict[str, str]:
    """Votes for seats, which the seed puts at places of the table."""
    table = game.start(0).table
    return {
        voter: str(table.index(choice) + 1) if choice in table else choice for voter, choice in roles.items()
    }


def test_moves_earn_by_role_and_stage() -> None:
    game = Spy(civilians=4, rounds=2)
    votes = _votes(game, civilian_1="spy", civilian_2="spy", civilian_3="civilian_1", civilian_4="civilian_2")
    state, moves = _played(game, votes)
    expected = {"spy": -0.15, "civilian_1": -0.0125, "civilian_2": -0.0125, "civilian_3": 0.0875,
                "civilian_4": 0.0875}  # fmt: skip
    earned = game.rewards(state, moves)
    assert len(earned) == 2 * 5 + 4
    for move, reward in zip(moves[:10], earned[:10], strict=True):
        assert reward == pytest.approx(expected[move.seat]), move.seat
    assert dict(zip([move.seat for move in moves[10:]], earned[10:], strict=True)) == {
        "civilian_1": 1.0, "civilian_2": 1.0, "civilian_3": -1.0, "civilian_4": -1.0,
    }  # fmt: skip


def test_abstention_self_vote_and_unreadable_vote() -> None:
    game = Spy(civilians=4, rounds=1)
    votes = _votes(game, civilian_1="n/a", civilian_2="unreadable", civilian_3="civilian_3", civilian_4="spy")
    state, moves = _played(game, votes)
    earned = dict(zip([move.seat for move in moves[5:]], game.rewards(state, moves)[5:], strict=True))
    assert earned == {"civilian_1": -0.5, "civilian_2": -1.0, "civilian_3": -1.0, "civilian_4": 1.0}
    assert (state.facts["abstained"], state.facts["unreadable"]) == (1, 1)
    assert (state.facts["right"], state.facts["wrong"]) == (1, 1)
    assert sum(state.facts["received"]) == 2


def test_a_missing_clue_earns_the_least_of_its_role() -> None:
    game = Spy(civilians=2, rounds=2)
    votes = _votes(game, civilian_1="civilian_2", civilian_2="n/a")
    table = game.start(0).table
    state, moves = _played(game, votes, silent=[table.index("spy"), 3 + table.index("civilian_1")])
    earned = game.rewards(state, moves)
    # Votes (0, 0, 1): mean 0.5, lead -0.5: spy 0.05, civilian_1 -0.025 + 0.05, civilian_2 -0.025 - 0.05.
    usual = {"spy": 0.05, "civilian_1": 0.025, "civilian_2": -0.075}
    for place, seat in enumerate(table):
        assert earned[place] == pytest.approx(-0.2 if seat == "spy" else usual[seat])
        # Two votes for a civilian: mean 1, lead -1: -0.05 - 0.1.
        assert earned[3 + place] == pytest.approx(-0.15 if seat == "civilian_1" else usual[seat])
    assert state.facts["silent"] == {"spy": 1, "civilian": 1}


def test_judges_are_eight_votes() -> None:
    game = Spy(civilians=3, rounds=1, votes="judge")
    assert len(game.seats) == 4 + 8
    chosen = ["spy"] * 4 + ["civilian_1"] * 2 + ["n/a"] * 2
    votes = _votes(game, **{f"judge_{n}": choice for n, choice in enumerate(chosen, 1)})
    state, moves = _played(game, votes)
    # Votes 4 and (2, 0, 0): mean 2/3, lead 10/3.
    earned = dict(zip([move.seat for move in moves[:4]], game.rewards(state, moves)[:4], strict=True))
    assert earned["spy"] == pytest.approx(-1 / 3)
    assert earned["civilian_1"] == pytest.approx(1 / 9 - 0.1 * 4 / 3)
    assert earned["civilian_2"] == pytest.approx(1 / 9 + 0.1 * 2 / 3)
    assert game.rewards(state, moves)[4:] == [1.0] * 4 + [-1.0] * 2 + [-0.5] * 2
    assert state.winner == "civilian"


def test_an_unfinished_game_earns_nothing() -> None:
    game = Spy(civilians=2, rounds=1)
    state = game.start(0)
    state.apply({state.table[0]: "a clue"})
    assert game.rewards(state, [Move(0, state.table[0], "a clue", "ok", [])]) == [0.0]


def test_measures_of_clues_and_votes() -> None:
    game = Spy(civilians=3, rounds=1)
    state = game.start(0)
    assert game.measures(state) == {}
    pair = described(state.pair)
    assert pair is not None
    seen = {seat: pair.modified if seat == "spy" else pair.original for seat in state.table}
    clues = ["There is at least one object", "There are 99 red cubes", "Lovely weather", ""]
    for seat, clue in zip(state.table, clues, strict=True):
        assert check(clue, seen[seat]) is {0: True, 1: False}.get(clues.index(clue))
        state.apply({seat: clue})
    state.apply(_votes(game, civilian_1="spy", civilian_2="n/a", civilian_3="unreadable"))
    assert game.measures(state) == {
        "clue truth": 0.5,
        "clues undecided": 0.5,
        "votes right": pytest.approx(1 / 3),
        "votes n/a": pytest.approx(1 / 3),
        "votes unreadable": pytest.approx(1 / 3),
        "civilians won": 1.0,
    }


def test_truth_is_measured_of_the_own_picture() -> None:
    game = Spy(civilians=2, rounds=1)
    state = game.start(0)
    pair = described(state.pair)
    assert pair is not None
    thing = pair.modified.objects[pair.changed[0]]
    clue = named(thing)
    assert check(clue, pair.modified) is True
    assert check(clue, pair.original) is False
    for seat in state.table:
        state.apply({seat: clue})
    assert game.measures(state)["clue truth"] == pytest.approx(1 / 3)
