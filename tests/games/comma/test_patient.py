"""`bot/patient`: acts or tells, and never tells what no picture has shown yet."""

from __future__ import annotations

import pytest

import ludens
from tests.games.comma.common import PUZZLES, make


@pytest.mark.parametrize("name", PUZZLES)
def test_it_acts_or_tells_what_is_on_the_panel(name: str) -> None:
    game = make(name)
    agents = {seat: ludens.agent("bot/patient", game) for seat in game.seats}
    for seed in range(20):
        episode = ludens.play_sync(game, agents, seed)
        assert episode.facts["mistakes"] == 0
        acted = 0
        for move in episode.moves:
            if move.seat == "solver":
                lines = move.action.splitlines()
                done = sum(line in game.start(seed).puzzle.actions for line in lines)
                assert done in (0, len(lines))
                acted += done
        assert acted == episode.facts["actions"]
        assert episode.facts["solved"]


def test_it_describes_every_stage_once() -> None:
    game = make("comma/memory")
    episode = ludens.play_sync(game, {seat: ludens.agent("bot/patient", game) for seat in game.seats}, 3)
    said = [move.action for move in episode.moves if move.seat == "solver"]
    assert [words.splitlines()[0] for words in said[::2]] == [f"stage = {stage}" for stage in range(1, 6)]
    assert all(words.startswith("press_") for words in said[1::2])


@pytest.mark.parametrize("name", PUZZLES)
def test_as_expert_it_can_say_the_steps(name: str) -> None:
    """Keypad, memory and telehealth have no steps: the manual leads to the answer at once."""
    game = make(name)
    agents = {
        "solver": ludens.agent("bot/patient", game),
        "expert": ludens.agent("bot/patient?steps=true", game),
    }
    episode = ludens.play_sync(game, agents, 1)
    replies = [move.said for move in episode.moves if move.seat == "expert"]
    stepwise = name.removeprefix("comma/") in ("wire", "who", "led")
    assert any(reply.startswith("<think>") for reply in replies) == stepwise
    assert episode.facts["solved"]
