"""`bot/best` is whoever a game names as its strongest player."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.errors import BadOption
from ludens.loop import play
from tests.support.pebbles import Pebbles


def test_every_best_player_can_be_made() -> None:
    named = 0
    for name in ludens.GAMES.names():
        best = ludens.GAMES.get(name).best
        if best:
            game = ludens.make(name)
            assert ludens.agent("bot/best", game).spec == ludens.agent(best, game).spec
            named += 1
    assert named >= 5


async def test_it_plays_and_is_recorded_under_its_own_name() -> None:
    game = ludens.make("tic_tac_toe")
    players = {"x": ludens.agent("bot/best", game), "o": ludens.agent("bot/first", game)}
    episode = await play(game, players, 0)
    assert episode.seats["x"] == "bot/minimax"
    assert episode.returns["x"] == 1


@pytest.mark.parametrize(
    ("spec", "game", "said"),
    [
        ("bot/best", Pebbles(), "test/pebbles has no bot/best; its bots: none"),
        (
            "bot/best?depth=3",
            ludens.make("tic_tac_toe"),
            "takes no options; in tic_tac_toe it is bot/minimax",
        ),
    ],
)
def test_where_there_is_none(spec: str, game: ludens.Game, said: str) -> None:
    with pytest.raises(BadOption, match=said):
        ludens.agent(spec, game)
