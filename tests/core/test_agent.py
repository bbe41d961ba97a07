"""Defaults of agents and replies."""

from __future__ import annotations

from dataclasses import dataclass

import ludens
from ludens import Agent, Ask, Reply
from ludens.agents.bots import Random


def test_the_text_of_a_reply_defaults_to_its_action() -> None:
    assert Reply().text == ""
    assert Reply(action="B2").text == "B2"
    assert Reply("I take the middle.", "B2").text == "I take the middle."


async def test_an_agent_without_a_kind_is_named_after_its_class() -> None:
    @dataclass
    class Careful(Agent):
        async def act(self, ask: Ask) -> Reply:
            return Reply(action=ask.legal.first)

    class Reckless(Random):
        pass

    game = ludens.make("tic_tac_toe")
    episode = await ludens.play(game, {"x": Careful(), "o": Reckless()}, 1)
    assert episode.seats == {"x": "careful", "o": "reckless"}
    assert not any(move.tries for move in episode.moves)
    assert (Random.kind, Agent.kind) == ("bot/random", "")
