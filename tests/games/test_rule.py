"""Rule: positions that play can reach, and a grade that only the game decides."""

import re

import pytest

import ludens
from ludens.core.errors import BadOption, Unreadable
from ludens.core.random import Stream
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.games import rule
from ludens.games.boards import grouped, listing
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
    usual, long = ludens.make("rule", board="gomoku"), ludens.make("rule", board="gomoku", moves="0-220")
    free = [long.start(seed).facts["choices"] for seed in range(60)]
    assert min(usual.start(seed).facts["choices"] for seed in range(60)) >= 225 - 40
    assert min(free) < 120
    bare = ludens.make("rule", board="gomoku", moves="0-0")
    assert bare.start(3).facts["choices"] == 225


def test_at_least_as_many_moves_are_made_as_asked_for() -> None:
    game = ludens.make("rule", board="chess", moves="60-120")
    made = [game.start(seed).position.spiel.move_number() for seed in range(15)]  # type: ignore[attr-defined]
    assert min(made) >= 60
    assert max(made) <= 120
    assert len(set(made)) > 8


@pytest.mark.parametrize(
    ("board", "filled", "low", "high"),
    [
        ("tic_tac_toe", "4-8", 4, 8),
        ("reversi", "10-56", 10, 56),
        ("minesweeper", "26-38", 26, 38),
        ("gomoku", "67-157", 67, 157),
    ],
)
def test_boards_are_as_full_as_asked_for(board: str, filled: str, low: int, high: int) -> None:
    game = ludens.make("rule", board=board, filled=filled)
    view = ludens.make(board).view(RenderOptions())
    counts = []
    for seed in range(40):
        position = game.start(seed).position  # type: ignore[attr-defined]
        assert not position.over
        codes = [code for row in view.matrix(position) for code in row]  # type: ignore[attr-defined]
        counts.append(sum(code != view.empty for code in codes))  # type: ignore[attr-defined]
    assert low <= min(counts)
    assert max(counts) <= high
    assert sum(counts) / 40 == pytest.approx((low + high) / 2, abs=(high - low) / 5)


def test_nobody_is_asked_who_can_only_pass() -> None:
    """One in a hundred positions of a random game of Reversi is such: these seeds have some."""
    game = ludens.make("rule", board="reversi", filled="50-60")
    for seed in range(60):
        position = game.start(seed).position  # type: ignore[attr-defined]
        assert "PASS" not in position.legal(position.to_act[0])


def test_how_to_pass_is_told() -> None:
    assert "your move is then PASS" in ludens.make("reversi").view(RenderOptions()).rules("black")


def test_chance_is_the_share_of_valid_answers() -> None:
    game = ludens.make("rule", board="tic_tac_toe", filled="5-5")
    assert game.start(1).facts["chance"] == pytest.approx(4 / 9)
    start = ludens.make("rule", board="chess", moves="0-0").start(0)
    assert start.facts["chance"] == 20 / (64 * 63)


@pytest.mark.parametrize(
    "options",
    [
        {"moves": "40"},
        {"moves": "40-20"},
        {"filled": "x"},
        {"filled": "0-10"},
        {"board": "breakthrough", "filled": "0-65"},
    ],
)
def test_impossible_ranges_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(BadOption):
        ludens.make("rule", **options).start(0)


def test_the_answer_is_not_given_away() -> None:
    game = ludens.make("rule", board="reversi")
    state, view = game.start(5), game.view(RenderOptions())
    told = view.rules("player") + view.notes(state, "player") + view.format(state, "player").ask(Legal.text())
    assert not any(move in told.split() for move in state.position.legal(state.facts["mover"]))  # type: ignore[attr-defined]


@pytest.mark.parametrize("board", ["coin_dilemma", "rule", "perceive", "comma/wire"])
def test_only_games_of_turns_have_moves_to_name(board: str) -> None:
    with pytest.raises(BadOption):
        ludens.make("rule", board=board)


async def test_a_bot_that_names_any_valid_move() -> None:
    game = ludens.make("rule?board=reversi&filled=10-56")
    bot = ludens.agent("bot/valid", game)
    episodes = [await play(game, {"player": bot}, seed) for seed in range(12)]
    assert all(episode.returns == {"player": 1.0} for episode in episodes)
    first = [game.start(seed).solution("player") for seed in range(12)]
    assert [episode.moves[0].action for episode in episodes] != first


@pytest.mark.parametrize(
    ("board", "said"),
    [
        ("reversi", "C4 D3 E6 F5\nAction: (C4|D3|E6|F5)"),
        (
            "chess",
            r"king 58: e1\n57: own 56:.*\n.*\nsafe\n[a-h]\d: ([a-h]\d )*[a-h]\d\nAction: [a-h]\d[a-h]\d",
        ),
        (
            "chess&moves=150-160",
            r"king \d\d: [a-h]\d\n(\d\d:( [a-z]+)?,? ?)+\n(\d\d:( knight)? ?)+\n(safe|check( [a-h]\d){1,2})\n"
            r"(all|[a-h]\d): .*\nAction: .*",
        ),
        ("sudoku", r"[A-I]\d: (\d )*\d\nAction: [A-I]\d=\d"),
        ("gomoku&filled=200-210", r"([A-O]\d+ )+[A-O]\d+\nAction: [A-O]\d+"),
        ("gomoku&filled=60-70", r"([A-O]): (\d+ )*\d+\nAction: \1\d+"),
    ],
)
async def test_a_bot_that_lists_valid_moves_first(board: str, said: str) -> None:
    game = ludens.make(f"rule?board={board}" + ("&moves=0-0" if "&" not in board else ""))
    bot = ludens.agent("bot/valid?reason=true", game)
    places = set()
    for seed in range(8):
        episode = await play(game, {"player": bot}, seed)
        text = episode.moves[0].said
        assert re.fullmatch(said, text), text
        assert episode.returns == {"player": 1.0}
        *_, listed, answer = text.split("\n")
        start, _, ends = listed.rpartition(": ")
        move = answer.removeprefix("Action: ")
        named = [move in (end, f"{start}{end}", f"{start}={end}") for end in ends.split()]
        places.add(named.index(True))
        assert len(text.splitlines()[-2].split(": ")[-1].split()) <= episode.facts["choices"]
    assert len(places) > 1, "not always the first"


async def test_a_king_moves_only_where_nothing_else_can() -> None:
    game = ludens.make("rule?board=chess&moves=250-300")
    bot = ludens.agent("bot/valid?reason=true", game)
    moved = []
    for seed in range(40):
        position = game.start(seed).position
        placement, mover, *_ = position.spiel.board().to_fen().split()
        ranks = re.sub(r"\d", lambda digit: "." * int(digit[0]), placement).split("/")
        line, rank = next((r, 8 - n) for n, r in enumerate(ranks) if ("K" if mover == "w" else "k") in r)
        king = "abcdefgh"[line.index("K" if mover == "w" else "k")] + str(rank)
        others = [move for move in position.legal(position.to_act[0]) if not move.startswith(king)]
        episode = await play(game, {"player": bot}, seed)
        assert episode.returns == {"player": 1.0}
        moved.append(episode.moves[0].action.startswith(king))
        assert moved[-1] == (not others)
    assert 0 < sum(moved) < 20


def test_near_moves_are_listed_first() -> None:
    rook = [*(f"a1a{row}" for row in "234"), *(f"a1{column}1" for column in "bc")]
    king = [f"e4{cell}" for cell in ("d4", "f4", "e3", "e5")]
    assert listing(Legal([*rook, *king]), "a1a4") == "a1: a2 b1 a3 c1 a4"
    assert listing(Legal(["F7=3", "F7=1", "A1=2"]), "F7=3") == "F7: 1 3"
    assert listing(Legal(["pass"]), "pass") == "pass"
    assert listing(Legal([*rook, *king]), "a1a4", shown=True) in grouped([*rook, *king])


def test_few_moves_between_cells_are_all_listed() -> None:
    in_check = Legal(["e1d1", "b4d3", "b4e2", "c7e2", "e1f1"])
    assert listing(in_check, "b4e2") == "all: b4d3 b4e2 c7e2 e1d1 e1f1"
    assert listing(in_check, "c7e2") == "all: c7e2 b4d3 b4e2 e1d1 e1f1"


def test_a_twin_that_few_moves_cannot_reach_is_given_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most cells of Gomoku are empty in every position of 40 moves."""
    attempts = list[int]()
    opening = rule._opening

    def counted(board: str, seed: int, attempt: int) -> tuple[Stream, State]:
        attempts.append(attempt)
        assert attempt < 300, "it is tried for minutes"
        return opening(board, seed, attempt)

    monkeypatch.setattr(rule, "_opening", counted)
    with pytest.raises(BadOption, match="choose fuller boards"):
        ludens.make("rule?twins=true&board=gomoku?size=9").start(0)
    assert attempts
