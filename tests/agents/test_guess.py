"""The guesser: any answer of a board, so that invalid ones cost tries and three in a row the game."""

from collections import Counter

import pytest

import ludens
from ludens.core.config import PlayConfig
from ludens.core.errors import BadOption
from ludens.loop import play

ANSWERS = {"tic_tac_toe": 9, "reversi": 64, "sudoku": 729, "minesweeper": 64, "gomoku": 225, "chess": 64 * 63}


@pytest.mark.parametrize(("name", "count"), ANSWERS.items())
def test_every_answer_can_be_guessed(name: str, count: int) -> None:
    from ludens.core.view import RenderOptions
    from ludens.games.boards import BoardView

    view = ludens.make(name).view(RenderOptions())
    assert isinstance(view, BoardView)
    assert len(set(view.answers())) == count


async def test_it_loses_by_its_third_invalid_answer_in_a_row() -> None:
    game = ludens.make("tic_tac_toe")
    guess = ludens.agent("bot/guess", game)
    table = PlayConfig(retries=2, fallback="forfeit")
    endings: Counter[str] = Counter()
    for seed in range(60):
        episode = await play(game, {"x": guess, "o": guess}, seed, config=table)
        endings[episode.status] += 1
        if episode.status == "forfeit":
            assert [t.verdict for t in episode.moves[-1].tries] == ["illegal"] * 3
    assert endings["forfeit"] > 20
    assert endings["done"] > 5


async def test_without_a_board_it_draws_from_the_legal_actions() -> None:
    game = ludens.make("coin_dilemma?horizon=5")
    episodes = [
        await play(game, dict.fromkeys(game.seats, ludens.agent(bot, game)), 0)
        for bot in ("bot/guess", "bot/random")
    ]
    assert len({tuple(move.action for move in episode.moves) for episode in episodes}) == 1


async def test_the_oracle_needs_a_game_that_knows_the_answer() -> None:
    game = ludens.make("coin_dilemma")
    with pytest.raises(BadOption, match="bot/oracle cannot play coin_dilemma"):
        await play(game, dict.fromkeys(game.seats, ludens.agent("bot/oracle", game)), 0)
