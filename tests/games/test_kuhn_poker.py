"""Kuhn poker against OpenSpiel, its known values, its information sets and what stays hidden."""

from __future__ import annotations

from itertools import permutations

import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as some

import ludens
from ludens.core.errors import BadOption, UnknownName, UsageError
from ludens.core.view import RenderOptions, view_of
from ludens.games.kuhn_poker import (
    CARDS,
    INFOSETS,
    KuhnPoker,
    KuhnQuestion,
    KuhnState,
    equilibrium,
    exploitability,
    value,
)
from ludens.loop import play
from ludens.testing import check_game

ALPHAS = (0.0, 1 / 6, 1 / 3)
"""The equilibria that VS-Bench uses for its data (D.4) and as optimal play (E.5)."""
UNIFORM = dict.fromkeys(INFOSETS, 0.5)


def hand(seed: int) -> KuhnState:
    state = KuhnPoker().start(seed)
    assert isinstance(state, KuhnState)
    return state


def dealt(cards: str) -> KuhnState:
    return next(state for state in map(hand, range(200)) if "".join(state.cards) == cards)


@pytest.mark.parametrize("infoset", ["", "J", "Qb", "Kp", "Qpb"])
def test_conformance(infoset: str) -> None:
    check_game(KuhnPoker(infoset))


def test_every_line_of_play_agrees_with_open_spiel() -> None:
    def follow(state: KuhnState, theirs: pyspiel.State) -> int:
        if state.over:
            assert theirs.is_terminal()
            assert list(state.returns.values()) == theirs.returns()
            return 1
        [seat] = state.to_act
        assert state.game.seats.index(seat) == theirs.current_player()
        card, *history = theirs.information_state_string()
        assert state.infoset(seat) == CARDS[int(card)] + "".join(history)
        assert state.legal(seat) == ("PASS", "BET")
        ends = 0
        for number, action in enumerate(("PASS", "BET")):
            ours, copy = state.clone(), theirs.clone()
            ours.apply({seat: action})
            copy.apply_action(number)
            ends += follow(ours, copy)
        return ends

    ends = 0
    for first, second in permutations(CARDS, 2):
        theirs = pyspiel.load_game("kuhn_poker").new_initial_state()
        for card in (first, second):
            theirs.apply_action(CARDS.index(card))
        ends += follow(dealt(first + second), theirs)
    assert ends == 30


@pytest.mark.parametrize(
    ("cards", "actions", "stakes", "first"),
    [
        ("KQ", ["PASS", "PASS"], (1, 1), 1),
        ("JQ", ["PASS", "BET", "PASS"], (1, 2), -1),
        ("JQ", ["PASS", "BET", "BET"], (2, 2), -2),
        ("JK", ["BET", "PASS"], (2, 1), 1),
        ("QJ", ["BET", "BET"], (2, 2), 2),
    ],
)
def test_stakes_and_payments(cards: str, actions: list[str], stakes: tuple[int, int], first: int) -> None:
    state = dealt(cards)
    for action in actions:
        state.apply({state.to_act[0]: action})
    assert state.over
    assert state.stakes == stakes
    assert state.returns == {"first": first, "second": -first}
    assert state.facts["winner"] == ("first" if first > 0 else "second")


def test_deals_are_even() -> None:
    deals = ["".join(hand(seed).cards) for seed in range(1200)]
    counts = {deal: deals.count(deal) for deal in set(deals)}
    assert set(counts) == {"".join(pair) for pair in permutations(CARDS, 2)}
    assert all(150 < count < 250 for count in counts.values())


def test_the_twelve_information_sets_as_questions() -> None:
    assert len(set(INFOSETS)) == 12
    for name in INFOSETS:
        game = KuhnPoker(name)
        others = set()
        for seed in range(30):
            state = game.start(seed)
            assert isinstance(state, KuhnQuestion)
            [seat] = state.to_act
            assert (seat,) == game.seats == (("second",) if len(name) == 2 else ("first",))
            assert state.hand.infoset(seat) == name
            assert state.legal(seat) == ("PASS", "BET")
            others |= set(state.hand.cards)
            state.apply({seat: "BET"})
            assert state.over
            assert state.facts["infoset"] == name
            assert state.facts["action"] == "BET"
        assert others == set(CARDS)


def test_a_question_looks_like_the_same_moment_of_a_hand() -> None:
    state = dealt("QK")
    state.apply({"first": "PASS"})
    state.apply({"second": "BET"})
    question = KuhnPoker("Qpb")
    render = RenderOptions()
    ours, theirs = view_of(KuhnPoker(), render, 0), view_of(question, render, 0)
    asked = question.start(5)
    assert theirs.image(asked, "first").hash == ours.image(state, "first").hash
    assert theirs.text(asked, "first") == ours.text(state, "first")
    assert theirs.rules("first") == ours.rules("first")


def test_an_unknown_information_set_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="Qpp"):
        ludens.make("kuhn_poker", infoset="Qpp")


def test_a_fold_hides_the_other_card_and_a_showdown_shows_it() -> None:
    view = view_of(KuhnPoker(), RenderOptions(), 0)
    folded, called = dealt("KQ"), dealt("KQ")
    for state, answer in ((folded, "PASS"), (called, "BET")):
        state.apply({"first": "BET"})
        state.apply({"second": answer})
    assert "The other's card: unknown" in view.text(folded, "first")
    assert "The other's card: Q" in view.text(called, "first")
    again = {"".join(folded.resample_hidden("first", ludens.stream(n, "test")).cards) for n in range(30)}
    assert again == {"KQ", "KJ"}
    assert called.resample_hidden("first", ludens.stream(1, "test")).cards == ("K", "Q")


def test_uniform_play_loses_what_is_published() -> None:
    assert exploitability(UNIFORM) == pytest.approx(0.4583, abs=5e-5)


@pytest.mark.parametrize("alpha", [*ALPHAS, 0.1])
def test_equilibria_cannot_be_exploited_and_are_worth_an_eighteenth(alpha: float) -> None:
    assert exploitability(equilibrium(alpha)) < 1e-9
    for other in ALPHAS:
        assert value(equilibrium(alpha), equilibrium(other)) == pytest.approx(-1 / 18)


@given(some.fixed_dictionaries({name: some.floats(0, 1) for name in INFOSETS}))
def test_no_policy_gains_on_an_equilibrium(policy: dict[str, float]) -> None:
    assert exploitability(policy) >= -1e-9
    assert value(policy, equilibrium(1 / 6)) <= -1 / 18 + 1e-9
    assert value(equilibrium(1 / 6), policy) >= -1 / 18 - 1e-9


@pytest.mark.parametrize("wrong", [{"J": 0.5}, {**UNIFORM, "X": 0.5}, {**UNIFORM, "J": 1.5}])
def test_invalid_policies_are_rejected(wrong: dict[str, float]) -> None:
    with pytest.raises(BadOption):
        exploitability(wrong)


async def test_the_equilibrium_bot_plays_its_policy() -> None:
    game = KuhnPoker("J")
    bot = ludens.agent("bot/equilibrium?alpha=0.3333333333333333", game)
    assert ludens.agent(bot.spec, game) == bot
    bets = [(await play(game, {"first": bot}, seed)).facts["action"] == "BET" for seed in range(900)]
    assert 250 < sum(bets) < 350
    with pytest.raises(UsageError, match="alpha"):
        ludens.agent("bot/equilibrium?alpha=0.4", game)


async def test_equilibria_against_each_other() -> None:
    game = KuhnPoker()
    players = {seat: ludens.agent("bot/equilibrium", game) for seat in game.seats}
    won = [(await play(game, players, seed)).returns["first"] for seed in range(2000)]
    assert abs(sum(won) / 2000 + 1 / 18) < 3 * 1.3 / 2000**0.5
