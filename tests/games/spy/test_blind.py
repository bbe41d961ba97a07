"""`bot/blind`: civilians who agree beforehand, or who read all clues, find the spy without looking."""

from __future__ import annotations

import asyncio

import ludens
from ludens.agents import agent
from ludens.games.spy.bots import AGREED, doubts
from ludens.games.spy.clues import full_names
from ludens.games.spy.game import SPY
from ludens.loop import play

GAME = ludens.make("spy")


def played(spy: str, civilians: str, seed: int) -> ludens.Episode:
    agents = {seat: agent(spy if seat == SPY else civilians, GAME) for seat in GAME.seats}
    return asyncio.run(play(GAME, agents, seed))


def test_civilians_find_who_does_not_say_the_agreed_sentence() -> None:
    for seed in range(5):
        episode = played("bot/clever", "bot/blind", seed)
        assert episode.facts["winner"] == "civilian"
        assert {move.action for move in episode.moves if move.seat != SPY} == {
            AGREED,
            str(episode.facts["spy"]),
        }


def test_the_spy_guesses_where_something_is_that_others_named() -> None:
    for seed in range(5):
        episode = played("bot/blind", "bot/blunt", seed)
        clues = [move for move in episode.moves if move.action not in ("n/a", *"12345")]
        for number, move in enumerate(clues):
            if move.seat == SPY:
                known = {name for earlier in clues[:number] for name in full_names(earlier.action)}
                assert set(full_names(move.action)) <= known
                assert move.action == AGREED or move.action.endswith((" on the left", " on the right"))


def test_doubts_are_about_what_others_do_not_confirm() -> None:
    """Player 1 names what nobody else does, 2 and 3 confirm each other, 4 contradicts them."""
    state = GAME.start(0)
    red, blue, gray = "large red metal cube", "small blue rubber sphere", "small gray metal cylinder"
    state.clues = [
        f"There is a {gray}", f"There is a {red}", f"There is a {blue}", AGREED, AGREED,
        AGREED, f"The {red} is to the left of the {blue}", f"The {blue} is to the right of the {red}",
        f"The {red} is to the right of the {blue}", AGREED,
    ]  # fmt: skip
    gray_only, second, third, fourth, silent = doubts(state)
    assert gray_only == 1
    assert second == third == -2 + 2 + 2 * 2
    assert fourth == -2 + 2 + 2 * 2
    assert silent == 0
    state.clues[8] = AGREED
    assert doubts(state)[1] == doubts(state)[2] == 0


def test_a_reader_of_clues_finds_more_spies_than_chance() -> None:
    """One seat among players that look: its votes are right in far more than a quarter of the games."""
    right = 0
    for seed in range(40):
        seats = {seat: agent("bot/clever", GAME) for seat in GAME.seats}
        episode = asyncio.run(play(GAME, seats | {"civilian_1": agent("bot/blind", GAME)}, seed))
        right += episode.facts["votes"]["civilian_1"] == str(episode.facts["spy"])
    assert right >= 16
