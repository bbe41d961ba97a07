"""Votes in twin worlds: the same clues, and the spy is another player once the pictures are exchanged."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

import ludens
from ludens.core.errors import BadOption
from ludens.core.registry import make
from ludens.core.view import RenderOptions
from ludens.draw import Picture
from ludens.games.spy.game import SPY
from ludens.games.spy.pairs import StoredPair, charted, described
from ludens.games.spy.tables import ChartData, chart_clues, check_chart
from ludens.games.spy.vote import CIVILIAN, SpyVote, VoteQuestion, is_true
from ludens.loop import play
from ludens.pictures import Header, PictureSetWriter
from ludens.testing import check_game

SOURCES = ("flat", "clevr-16", "chart-16")


def truths(question: VoteQuestion) -> list[list[bool | None]]:
    """Of each player, whether its clues are true of the picture of the civilians."""
    table = question.table
    scenes, charts = described(table.pair), charted(table.pair)
    own = charts[0] if charts else scenes.original if scenes else None
    assert own is not None
    told = [is_true(clue, own) for clue in table.clues]
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


@pytest.mark.parametrize("source", ["flat", "chart-16"])
def test_contract_holds(source: str) -> None:
    check_game(SpyVote(source=source, twins=True), seeds=(0, 1))


def test_clues_about_a_chart_by_hand() -> None:
    fruit = ChartData("bar", "Fruit", "kg", ("Apples", "Pears", "Plums"), (10, 9.5, 2))
    swapped = fruit.swapped(0, 2)
    clue = "The value of Apples is higher than the value of Plums"
    assert [check_chart(clue, fruit), check_chart(clue, swapped)] == [True, False]
    assert "Plums has the lowest value of all" in chart_clues(fruit)
    # Apples and Pears are too close to be told apart.
    assert check_chart("Apples has the highest value of all", fruit) is None
    assert check_chart("Apples has the highest value of all", swapped) is False
    assert len(chart_clues(fruit)) == 5
    assert check_chart("The fruit is red", fruit) is None


def test_votes_on_one_entry_are_one_cluster() -> None:
    game = SpyVote(source="chart-16", twins=True)
    for seed in range(20):
        pair = game.start(seed).table.pair
        assert isinstance(pair, StoredPair)
        assert game.cluster(seed).endswith(f"/{pair.entry.id}")
        assert game.cluster(seed) == game.cluster(seed ^ 1)


def test_a_source_of_mere_pictures_is_refused(tmp_path: Path) -> None:
    writer = PictureSetWriter(tmp_path / "walls", Header("walls", "pair", "walls"))
    writer.add("0", dict.fromkeys(("original", "modified"), Picture(np.zeros((8, 8, 3), np.uint8)).png()))
    writer.finish()
    with pytest.raises(BadOption, match="nothing describes the pictures"):
        make(f"spy/vote?source={quote(str(tmp_path / 'walls'))}").start(0)


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
