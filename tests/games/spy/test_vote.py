"""Votes in twin worlds: the same clues, and the spy is another player once the pictures are exchanged."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.games.spy.checker import check
from ludens.games.spy.game import SPY
from ludens.games.spy.pairs import described
from ludens.games.spy.vote import CIVILIAN, SpyVote, VoteQuestion
from ludens.loop import play
from ludens.testing import check_game

SOURCES = ("flat", "clevr-16")


def truths(question: VoteQuestion) -> list[list[bool | None]]:
    """Of each player, whether its clues are true of the picture of the civilians."""
    table = question.table
    scenes = described(table.pair)
    assert scenes is not None
    told = [check(clue, scenes.original) for clue in table.clues]
    return [told[place :: len(table.table)] for place in range(len(table.table))]


@pytest.mark.parametrize("source", SOURCES)
def test_only_the_spy_says_what_is_false_of_the_picture(source: str) -> None:
    game = SpyVote(source=source, twins=True)
    for seed in range(20):
        question = game.start(seed)
        assert isinstance(question, VoteQuestion)
        liars = [place for place, told in enumerate(truths(question)) if False in told]
        assert liars == [question.table.spy]
        assert question.solution("voter") == str(question.table.spy + 1)


@pytest.mark.parametrize("source", SOURCES)
def test_twins_have_the_same_clues_and_another_spy(source: str) -> None:
    game = SpyVote(source=source, twins=True)
    for seed in range(10):
        first, second = game.pair(seed)
        assert first.table.clues == second.table.clues
        assert len(set(first.table.clues)) == len(first.table.clues)
        assert first.table.spy != second.table.spy
        places = [question.table.table.index(CIVILIAN) for question in (first, second)]
        assert places[0] == places[1]
        pictures = [
            [game.table.view(RenderOptions()).image(question.table, seat).hash for seat in (CIVILIAN, SPY)]
            for question in (first, second)
        ]
        assert pictures[0] == pictures[1][::-1]


def test_contract_holds() -> None:
    check_game(SpyVote(twins=True), seeds=(0, 1))


def test_a_source_without_scenes_is_refused() -> None:
    with pytest.raises(BadOption, match="no described scenes"):
        make("spy/vote?source=chart-16").start(0)


def test_too_many_players_are_refused() -> None:
    with pytest.raises(BadOption, match="too few clues for 13 players and 4 rounds"):
        make("spy/vote?civilians=12&rounds=4").start(0)


@pytest.mark.parametrize("twin", [0, 1])
async def test_the_bot_that_checks_clues_is_right_in_both_worlds(twin: int) -> None:
    game = SpyVote(twins=True)
    for pair in range(4):
        seed = 2 * pair + twin
        bot = ludens.agent("bot/blunt?reason=true", game)
        episode = await play(game, {"voter": bot}, seed)
        assert episode.returns == {"voter": 1.0}
