"""Rule: positions that play can reach, and a grade that only the game decides."""

import pytest

import ludens
from ludens.core.errors import BadOption, Unreadable
from ludens.core.legal import Legal
from ludens.core.view import RenderOptions
from ludens.loop import play

BOARDS = ("tic_tac_toe", "reversi", "gomoku", "chess", "breakthrough")


@pytest.mark.parametrize("board", BOARDS)
async def test_the_oracle_is_always_right(board: str) -> None:
    game = ludens.make("rule", board=board)
    oracle = ludens.agent("bot/oracle", game)
    for seed in range(20):
        assert (await play(game, {"player": oracle}, seed)).returns == {"player": 1.0}


@pytest.mark.parametrize(
    ("board", "share"),
    [("tic_tac_toe", 0.6), ("reversi", 0.13), ("gomoku", 0.91), ("chess", 0.006), ("breakthrough", 0.006)],
)
async def test_guessing_earns_the_share_of_valid_moves(board: str, share: float) -> None:
    game = ludens.make("rule", board=board)
    guess = ludens.agent("bot/random", game)
    scores = [(await play(game, {"player": guess}, seed)).returns["player"] for seed in range(300)]
    assert sum(scores) / len(scores) == pytest.approx(share, abs=0.1)


def test_a_wrong_move_is_an_answer_and_earns_nothing() -> None:
    game = ludens.make("rule", board="chess")
    state = game.start(1)
    reader = game.view(RenderOptions()).format(state, "player")
    action = reader.read("I think so.\nAction: a1h8", Legal.text())
    state.apply({"player": action})
    assert state.returns == {"player": 0.0}
    assert state.facts["readable"]
    with pytest.raises(Unreadable):
        reader.read("e2e4 is what I would play", Legal.text())


@pytest.mark.parametrize("blank", ["\xa0", "\u3000", "\u200b", "\ufeff"])
@pytest.mark.parametrize("board", BOARDS)
def test_unicode_blanks_before_the_label_are_ignored(board: str, blank: str) -> None:
    game = ludens.make("rule", board=board)
    state = game.start(1)
    reader = game.view(RenderOptions()).format(state, "player")
    assert reader.read(f"{blank}Action: Z99", state.legal("player")) == "Z99"
    assert reader.read(f"I see.\n{blank}Action: Z99", state.legal("player")) == "Z99"


def test_both_notations_of_chess_count() -> None:
    game = ludens.make("rule", board="chess")
    seed = next(s for s in range(500) if "g1f3" in game.start(s).position.legal("white"))  # type: ignore[attr-defined]
    state = game.start(seed)
    reader = game.view(RenderOptions()).format(state, "player")
    assert reader.read("Action: Nf3", Legal.text()) == "g1f3"


def test_positions_differ_in_depth_and_mover() -> None:
    game = ludens.make("rule", board="gomoku")
    movers = [game.start(seed).facts["mover"] for seed in range(60)]
    assert set(movers) == {"black", "white"}
    assert len({game.start(seed).facts["choices"] for seed in range(60)}) > 20


def test_boards_fill_up_when_more_moves_are_made() -> None:
    usual, long = ludens.make("rule", board="gomoku"), ludens.make("rule", board="gomoku", moves=220)
    free = [long.start(seed).facts["choices"] for seed in range(60)]
    assert min(usual.start(seed).facts["choices"] for seed in range(60)) >= 225 - 40
    assert min(free) < 120
    bare = ludens.make("rule", board="gomoku", moves=0)
    assert bare.start(3).facts["choices"] == 225


def test_the_answer_is_not_given_away() -> None:
    game = ludens.make("rule", board="reversi")
    state, view = game.start(5), game.view(RenderOptions())
    told = view.rules("player") + view.notes(state, "player") + view.format(state, "player").ask(Legal.text())
    assert not any(move in told.split() for move in state.position.legal(state.facts["mover"]))  # type: ignore[attr-defined]


@pytest.mark.parametrize("board", ["coin_dilemma", "rule", "perceive", "comma/wire"])
def test_only_games_of_turns_have_moves_to_name(board: str) -> None:
    with pytest.raises(BadOption):
        ludens.make("rule", board=board)
