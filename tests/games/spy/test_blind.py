"""`bot/blind`: civilians who agree beforehand find the spy without looking."""

from __future__ import annotations

import asyncio

import ludens
from ludens.agents import agent
from ludens.games.spy.bots import AGREED
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


def test_the_spy_repeats_what_was_said() -> None:
    for seed in range(5):
        episode = played("bot/blind", "bot/blunt", seed)
        clues = [move for move in episode.moves if move.action not in ("n/a", *"12345")]
        for number, move in enumerate(clues):
            if move.seat == SPY:
                assert move.action in {AGREED, *(earlier.action for earlier in clues[:number])}
