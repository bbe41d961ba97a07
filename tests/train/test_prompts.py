"""What small models are told."""

from __future__ import annotations

import pytest

import ludens
from ludens.train.nano.inputs import short_prompt


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("perceive?board=chess", "perceive viewer\nchess 8x8\n"),
        ("perceive?board=gomoku", "perceive viewer\ngomoku 15x15\n"),
        ("rule?board=reversi", "rule player\nreversi black\n"),
        ("tic_tac_toe", "tic_tac_toe x\n\n"),
        ("spy", "spy civilian clue\n1\n\n"),
    ],
)
def test_prompts_are_short(spec: str, told: str) -> None:
    game = ludens.make(spec)
    episode = ludens.play_sync(game, {seat: ludens.agent("bot/random", game) for seat in game.seats}, 3)
    sample = next(iter(ludens.samples(episode, game)))
    assert short_prompt(sample.game, sample.ask) == told


def test_questions_are_told_without_examples() -> None:
    game = ludens.make("qa?board=chess")
    episode = ludens.play_sync(game, {"viewer": ludens.agent("bot/best", game)}, 3)
    [sample] = ludens.samples(episode, game)
    told = short_prompt(sample.game, sample.ask)
    head, question, options, end = told.split("\n")[1:]
    assert (head, end) == ("chess", "")
    assert question in sample.ask.observation.notes
    assert options.split()[1::2] == ["A", "B", "C", "D"]
    assert "Answer" not in told
