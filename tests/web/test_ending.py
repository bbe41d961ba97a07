"""The end of a game in one sentence, the next seat, and the players that are offered."""

from __future__ import annotations

import pytest

from ludens.core.episode import Episode, Move
from ludens.core.game import Game
from ludens.core.registry import GAMES, make
from ludens.run.viewer import outcome_of
from ludens.train.nano.taught import is_taught
from ludens.web.play import _offered, _swapped
from ludens.web.sessions import Setup


def told(game: str, returns: dict[str, float], seat: str, specs: dict[str, str], moves: int = 3) -> str:
    made = make(game)
    played = [Move(step, seat, "") for step in range(moves)]
    episode = Episode(made.name, made.version, made.options, 0, specs, moves=played, returns=returns)
    episode.status = "done"
    return outcome_of(made, episode, seat, specs)


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        (1.0, "You won against bot/alphabeta after 3 moves."),
        (-1.0, "You lost to bot/alphabeta after 3 moves."),
        (0.0, "You drew with bot/alphabeta after 3 moves."),
    ],
)
def test_who_won(own: float, sentence: str) -> None:
    specs = {"black": "human", "white": "bot/alphabeta"}
    assert told("breakthrough", {"black": own, "white": -own}, "black", specs) == sentence


def test_other_endings() -> None:
    friends = {"x": "human", "o": "human"}
    assert "the other person (o)" in told("tic_tac_toe", {"x": 1.0, "o": -1.0}, "x", friends)
    assert told("tic_tac_toe", {"x": 1.0, "o": -1.0}, "x", {}) == "You won against o after 3 moves."
    pair = dict.fromkeys(("player_0", "player_1"), 12.0)
    assert told("hanabi", pair, "player_0", {}, 1) == "Together you scored 12 after 1 move."
    assert told("sudoku", {"player": 0.5}, "player", {}) == "You scored 0.5 after 3 moves."
    assert told("qa", {"viewer": 1.0}, "viewer", {}) == "Right."
    assert told("perceive", {"viewer": 0.25}, "viewer", {}) == "You scored 25%."
    scores = {"red": 2.0, "blue": 3.0}
    assert told("coin_dilemma", scores, "red", {"blue": "nano"}).endswith("the others: nano 3.")


def test_cooperative_games_are_those_in_which_all_earn_the_same() -> None:
    for name in GAMES.names():
        game = make(name)
        if game.cooperative:
            assert len(game.seats) > 1
            assert len(set(game.start(0).returns.values())) == 1, name


@pytest.mark.parametrize(
    "name", ["breakthrough", "chess", "comma/wire", "gomoku", "hanabi", "reversi", "tic_tac_toe"]
)
def test_a_person_moves_first(name: str) -> None:
    game = make(name)
    assert game.start(0).to_act == (game.first_seat,)


def test_a_position_of_chess_says_who_moves_first() -> None:
    assert make("chess", fen="7k/8/8/8/8/8/1r6/K7 b - - 0 1").first_seat == "black"
    assert make("chess", fen="7k/8/8/8/8/8/1r6/K7 w - - 0 1").first_seat == "white"


def test_the_next_seat() -> None:
    setup = Setup(make("tic_tac_toe"), {"x": "human", "o": "bot/minimax"}, seed=4)
    swapped = _swapped(setup)
    assert swapped is not None
    assert (swapped.specs, swapped.seed) == ({"x": "bot/minimax", "o": "human"}, 5)
    assert _swapped(Setup(make("tic_tac_toe"), {"x": "human", "o": "human"})) is None
    assert _swapped(Setup(make("sudoku"), {"player": "human"})) is None


def players(game: Game) -> list[str]:
    return _offered(game)


def test_nano_is_offered_where_it_can_play() -> None:
    assert "nano" in players(make("tic_tac_toe"))
    assert "nano" in players(make("breakthrough"))
    assert "nano" in players(make("coin_dilemma", edges="torus"))
    assert "nano" in players(make("spy", rounds=1))
    assert "nano" not in players(make("gomoku", size=9))
    assert "nano" in players(make("viki/trace"))
    assert "nano" in players(make("chess"))
    assert "nano" in players(make("viki/team"))
    assert "nano" in players(make("comma/maze"))
    assert "nano" not in players(make("comma/who"))
    assert is_taught(make("tic_tac_toe", opening=2))


def test_the_first_player_offered_can_do_the_task() -> None:
    for name in ("comma/wire", "chess", "hanabi", "overcooked", "viki/team"):
        assert players(make(name))[0] == "bot/best"
