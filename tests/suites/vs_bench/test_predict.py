"""Predictions as a game: sound by the contract, won by who knows, and about the other seat."""

from __future__ import annotations

import asyncio

import pytest

from ludens.agents import agent
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.suites.vs_bench.predict import SEAT, Predict, Prediction
from ludens.suites.vs_bench.recipes import RECIPES
from ludens.suites.vs_bench.samples import Decision, game_of, sample_of
from ludens.testing import check_game
from tests.support.players import Scripted

DEAR = ("breakthrough", "pong")
GAMES = [pytest.param(name, marks=pytest.mark.slow) if name in DEAR else name for name in RECIPES]


def predicted(name: str, seed: int, who: str = "bot/oracle") -> Episode:
    game = Predict(game=name)
    return asyncio.run(play(game, {SEAT: agent(who, game)}, seed))


@pytest.mark.parametrize("name", GAMES)
def test_predicting_keeps_every_rule_of_the_contract(name: str) -> None:
    check_game(
        Predict(game=name), seeds=(0,), views=(RenderOptions("classic", 256), RenderOptions("random", 256))
    )


@pytest.mark.parametrize("name", GAMES)
def test_who_knows_the_strategy_is_right_unless_cards_are_hidden(name: str) -> None:
    right = sum(predicted(name, seed).returns[SEAT] for seed in range(6))
    assert right == 6 or (name in ("hanabi", "kuhn_poker") and right >= 3)


def test_twins_need_answers_that_can_be_known() -> None:
    with pytest.raises(BadOption, match="need rule=single"):
        Predict(rule="paper", twins=True)


def test_lots_of_the_target_are_not_known_to_who_knows_its_strategy() -> None:
    game = Predict(game="coin_dilemma", rule="paper")
    asked = [game.start(seed).sample for seed in range(60)]
    wrong = [one for one in asked if one.likeliest not in one.truth]
    assert 5 < len(wrong) < 30


def _opening() -> Prediction:
    """The first move of a game of Breakthrough, made by hand: samples of searching players take long."""
    start = game_of("breakthrough").start(0)
    [target] = start.to_act
    move = start.legal(target).first
    return Prediction(sample_of("breakthrough", Decision(0, move, start, move), target, ""))


def test_a_refusal_does_not_list_the_moves_that_are_not_listed() -> None:
    state = _opening()
    assert state.refusal(SEAT, "a1a8") == f"{state.sample.target} cannot do 'a1a8' now."
    assert state.refusal(SEAT, state.sample.done) is None


def test_who_guesses_does_not_know_the_moves_that_are_not_listed() -> None:
    state, view = _opening(), Predict(game="breakthrough").view(RenderOptions())
    guesses = {view.guess(state, SEAT, stream(number, "test")) for number in range(40)}
    assert not guesses <= set(state.sample.options)
    paper = Predict(game="breakthrough", rule="paper").view(RenderOptions())
    assert {paper.guess(state, SEAT, stream(number, "test")) for number in range(40)} <= set(
        state.sample.options
    )


@pytest.mark.parametrize("name", [name for name in RECIPES if name not in DEAR])
def test_the_question_names_both_seats_and_shows_the_observers_view(name: str) -> None:
    game = Predict(game=name)
    state, view = game.start(3), game.view(RenderOptions())
    asked, notes = state.sample, view.notes(state, SEAT)
    assert asked.observer != asked.target
    assert f"in the seat {asked.observer}" in notes
    assert f"What will {asked.target} do" in notes
    watched = view._watched  # type: ignore[attr-defined]
    assert view.text(state, SEAT) == watched.text(asked.state, asked.observer)
    assert [p.hash for p in view.images(state, SEAT)] == [
        p.hash for p in watched.images(asked.state, asked.observer)
    ]


@pytest.mark.slow
def test_pong_is_watched_from_the_other_paddle() -> None:
    game = Predict(game="pong")
    state, view = game.start(0), game.view(RenderOptions())
    assert (state.sample.observer, state.sample.target) == ("left", "right")
    assert "You control the left paddle" in view.notes(state, SEAT)
    assert len(view.images(state, SEAT)) == 4


def test_silence_is_a_wrong_answer_and_nothing_else() -> None:
    game = Predict(game="coin_dilemma")
    table = PlayConfig(fallback="forfeit", retries=1)
    episode = asyncio.run(play(game, {SEAT: Scripted(says=["", "", ""])}, 0, config=table))
    assert (episode.status, episode.returns, episode.facts["predicted"]) == ("forfeit", {SEAT: 0.0}, None)
