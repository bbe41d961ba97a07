"""Chess: known counts of moves, notation, the player and engines."""

import shutil
from pathlib import Path

import pyspiel
import pytest

import ludens
from ludens.core.errors import BadOption, Illegal, UnknownName
from ludens.core.state import State
from ludens.core.view import RenderOptions
from ludens.games.chess import check_speaks_uci, evaluate, find_engine, sight
from ludens.loop import play
from ludens.testing import Trial

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ENDING = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
PROMOTIONS = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"


def perft(state: State, depth: int) -> int:
    """How many lines of play there are: a number every correct move generator agrees on."""
    [seat] = state.to_act or ("",)
    legal = state.legal(seat)
    if depth == 1:
        return len(legal)  # type: ignore[arg-type]
    total = 0
    for action in legal:  # type: ignore[union-attr]
        after = state.clone()
        after.apply({seat: action})
        total += perft(after, depth - 1) if after.to_act else 0
    return total


@pytest.mark.parametrize(
    ("fen", "depth", "count"),
    [("", 3, 8902), (KIWIPETE, 2, 2039), (ENDING, 3, 2812), (PROMOTIONS, 2, 264)],
)
def test_known_counts(fen: str, depth: int, count: int) -> None:
    assert perft(ludens.make("chess", fen=fen).start(0), depth) == count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fen", "count"), [("", 197_281), (KIWIPETE, 4_085_603), (ENDING, 43_238), (PROMOTIONS, 422_333)]
)
def test_known_counts_at_depth_four(fen: str, count: int) -> None:
    assert perft(ludens.make("chess", fen=fen).start(0), 4) == count


def test_a_pawn_and_a_rook_that_make_the_same_move_have_other_actions() -> None:
    for _ in range(2):
        rook, pawn = (ludens.make("chess", fen=f"8/{piece}7/7k/8/8/8/8/K7 w - - 0 1") for piece in "RP")
        assert "a7a8" in rook.start(0).legal("white")
        assert {"a7a8q", "a7a8n"} <= {*pawn.start(0).legal("white")}
        assert "a7a8" not in pawn.start(0).legal("white")


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("Action: e1g1", "e1g1"),
        ("Action: O-O", "e1g1"),
        ("Action: 0-0-0", "e1c1"),
        ("Action: **Nxf7**", "e5f7"),
        ("Action: dxe6", "d5e6"),
        ("Action: 0-0", "e1g1"),
        ("Action: o-o", "e1g1"),
        ("Action: e1-g1", "e1g1"),
        ("Action: 1. Nxf7", "e5f7"),
        ("Action: 12.Nxf7!", "e5f7"),
        ("Action: 3... Nxf7", "e5f7"),
        ("1. Nxf7", "e5f7"),
        ("Action: e5xf7", "e5f7"),
        ("Action: e5 – f7", "e5f7"),
        ("Action: E5F7", "e5f7"),
        ("Action: Ne5xf7", "e5f7"),
        ("Action: nxf7", "e5f7"),
        ("Action: A2-A3", "a2a3"),
        ("Action: B2B3", "b2b3"),
        ("Bb5 looks nice, but no.\nAction: Kf1", "e1f1"),
    ],
)
def test_both_notations_are_read(said: str, means: str) -> None:
    game = ludens.make("chess", fen=KIWIPETE)
    state = game.start(0)
    assert game.view(RenderOptions()).format(state, "white").read(said, state.legal("white")) == means


def test_promotion_and_check_marks() -> None:
    game = ludens.make("chess", fen="7k/4P3/8/8/8/8/8/4K3 w - - 0 1")
    state, view = game.start(0), game.view(RenderOptions())
    read = view.format(state, "white").read
    for said in ("e7e8q", "e8=Q+", "e8=Q", "e7e8=Q", "e7-e8=Q", "e7e8Q", "E7E8=Q+", "1. e8=Q", "e8Q", "e8=q"):
        assert read(f"Action: {said}", state.legal("white")) == "e7e8q"
    assert read("Action: e8=N", state.legal("white")) == "e7e8n"
    with pytest.raises(Illegal):
        read("Action: e7e8", state.legal("white"))


BOTH = "4k3/8/8/8/2p5/1P1B4/8/4K3 w - - 0 1"
PAWN_ONLY = "4k3/8/8/8/2p5/1P6/8/4K3 w - - 0 1"
BISHOP_ONLY = "4k3/8/8/8/2p5/3B4/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "name", "move"),
    [
        (BOTH, "bxc4", "b3c4"),
        (BOTH, "Bxc4", "d3c4"),
        (BOTH, "BXC4", None),
        (PAWN_ONLY, "bxc4", "b3c4"),
        (PAWN_ONLY, "Bxc4", None),
        (BISHOP_ONLY, "bxc4", None),
        (BISHOP_ONLY, "Bxc4", "d3c4"),
        (BISHOP_ONLY, "Bd3-c4", "d3c4"),
        (BISHOP_ONLY, "Bd3xc4", "d3c4"),
        ("1B2k3/8/1p6/8/8/8/1P6/1B2K3 w - - 0 1", "1. b4 b5", None),
    ],
)
def test_case_tells_a_bishop_from_a_pawn(fen: str, name: str, move: str | None) -> None:
    game = ludens.make("chess", fen=fen)
    state, view = game.start(0), game.view(RenderOptions())
    read = view.format(state, "white").read
    if move:
        assert read(f"Action: {name}", state.legal("white")) == move
    else:
        with pytest.raises(Illegal):
            read(f"Action: {name}", state.legal("white"))


@pytest.mark.parametrize("fen", ["", KIWIPETE, ENDING, PROMOTIONS, "k7/8/1B6/8/8/8/1B3b2/K3B1B1 w - - 0 1"])
def test_every_legal_move_is_read_in_standard_notation(fen: str) -> None:
    """A bishop's move with a lower-case letter, or a move of the b-pawn with a capital, is not read."""
    game = ludens.make("chess", fen=fen)
    view = game.view(RenderOptions())
    for state in Trial(game, seeds=(0, 1), steps=60).states(8):
        for seat in state.to_act:
            legal, read, spiel = state.legal(seat), view.format(state, seat).read, state.spiel  # type: ignore[attr-defined]
            standard = {spiel.action_to_string(action): action for action in spiel.legal_actions()}
            for name, action in standard.items():
                move = pyspiel.chess.action_to_move(action, spiel.board()).to_lan()
                for said in (name, name.rstrip("+#"), f"7. {name}", move, f"{move[:2]}-{move[2:]}"):
                    assert read(f"Action: {said}", legal) == move, (said, str(spiel))
                other = name[0].swapcase() + name[1:]
                if name[0] in "bB" and other not in standard:
                    with pytest.raises(Illegal):
                        read(f"Action: {other}", legal)


def test_notes_tell_what_the_picture_cannot() -> None:
    game = ludens.make("chess")
    state, view = game.start(0), game.view(RenderOptions())
    assert "White is to move." in view.notes(state, "white")
    for seat, move in (("white", "e2e4"), ("black", "a7a6"), ("white", "e4e5"), ("black", "d7d5")):
        state.apply({seat: move})
    assert "en passant on d6" in view.notes(state, "white")
    assert "e5d6" in state.legal("white")  # type: ignore[operator]


def test_the_two_sides_are_worth_the_same_at_the_start() -> None:
    assert evaluate("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1") == 0
    assert evaluate("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1") > 800


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a8"),
        ("k7/8/8/3q4/4P3/8/8/K7 w - - 0 1", "e4d5"),
    ],
)
async def test_search_mates_and_takes(fen: str, best: str) -> None:
    game = ludens.make("chess", fen=fen)
    agents = {"white": ludens.agent("bot/search", game), "black": ludens.agent("bot/random", game)}
    episode = await play(game, agents, 1, config=ludens.PlayConfig(horizon=1))
    assert episode.moves[0].action == best


async def test_search_beats_random() -> None:
    game = ludens.make("chess")
    search, random = ludens.agent("bot/search?depth=1", game), ludens.agent("bot/random", game)
    for seed, seat in enumerate(("white", "black")):
        other = "black" if seat == "white" else "white"
        assert (await play(game, {seat: search, other: random}, seed)).returns[seat] == 1


@pytest.mark.skipif(
    not shutil.which("stockfish", path="/usr/games:/usr/bin"), reason="stockfish is not installed"
)
async def test_an_engine_by_name_is_strong_and_repeatable() -> None:
    game = ludens.make("chess")
    engine, random = ludens.agent("bot/uci?nodes=300", game), ludens.agent("bot/random", game)
    first = await play(game, {"white": engine, "black": random}, 5)
    again = await play(game, {"white": engine, "black": random}, 5)
    assert first.returns["white"] == 1
    assert first.fingerprint() == again.fingerprint()


def test_engine_has_no_skill_level_because_it_is_not_reproducible() -> None:
    with pytest.raises(UnknownName, match="'skill'; known: engine, nodes, seconds"):
        ludens.agent("bot/uci?skill=5", ludens.make("chess"))


@pytest.mark.parametrize("name", ["no-such-engine", "no/such/engine"])
def test_missing_engine(name: str) -> None:
    with pytest.raises(BadOption, match="engine"):
        find_engine(name)


@pytest.mark.parametrize(
    ("fen", "fault"),
    [
        ("8/8/8/8/4R3/8/8/K7 w - - 0 1", "each side needs one king"),
        ("kk6/8/8/8/8/8/8/R3K3 w - - 0 1", "each side needs one king"),
        ("k7/8/8/8/8/8/8/4K w - - 0 1", "a rank does not have eight squares"),
        ("k7/8/8/8/8/8/8/R3K3 w - - 0 1", "could take a king"),
        ("k7/8/8/8/8/8/8/R3K3 b - - 0 1", ""),
        ("kK6/8/8/8/8/8/8/8 w - - 0 1", "could take a king"),
        ("k7/8/8/8/8/8/8/4K2R w KQkq - 0 1", "'Q' to castle needs a king on e1 and a rook on a1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ""),
    ],
)
def test_positions_that_openspiel_cannot_play_are_refused(fen: str, fault: str) -> None:
    if not fault:
        assert ludens.make("chess", fen=fen).start(0).to_act
        return
    with pytest.raises(BadOption, match=fault):
        ludens.make("chess", fen=fen)


@pytest.mark.parametrize(
    "fen",
    [
        "nonsense",
        "8/8/8/8/8/8/8/8",
        "x" * 300,
        "k7/8/8/8/8/8/8/4K2R w  - 0 1",
        f"k7/8/8/8/8/8/8/4K2R w - - 0 {10**20}",
    ],
)
def test_invalid_fen(fen: str) -> None:
    with pytest.raises(BadOption):
        ludens.make("chess", fen=fen)


@pytest.mark.parametrize("says", ["", "echo id name Fish"])
def test_a_program_that_does_not_speak_uci_is_refused(says: str, tmp_path: Path) -> None:
    program = tmp_path / "engine"
    program.write_text(f"#!/bin/sh\n{says}\n")
    program.chmod(0o755)
    with pytest.raises(BadOption, match="is not a chess engine that speaks UCI"):
        check_speaks_uci(str(program))


@pytest.mark.skipif(
    not shutil.which("stockfish", path="/usr/games:/usr/bin"), reason="stockfish is not installed"
)
async def test_an_engine_may_be_given_time_for_a_move() -> None:
    game = ludens.make("chess", fen="7k/8/6K1/8/8/8/8/R7 w - - 0 1")  # mate in one
    engine, random = ludens.agent("bot/uci?seconds=0.05", game), ludens.agent("bot/random", game)
    episode = await play(game, {"white": engine, "black": random}, 0)
    assert [move.action for move in episode.moves] == ["a1a8"]


@pytest.mark.parametrize(
    ("fen", "king", "attackers"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e1", []),
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "e1", ["h4"]),
        ("4k3/8/3N4/8/8/8/8/4K3 b - - 0 1", "e8", ["d6"]),
        ("4k3/8/8/8/3p4/4K3/8/8 w - - 0 1", "e3", ["d4"]),
        ("8/8/8/4k3/3P4/8/8/4K3 b - - 0 1", "e5", ["d4"]),
        ("8/8/8/3P4/4k3/8/8/4K3 b - - 0 1", "e4", []),
        ("4k3/8/8/b7/8/2P5/8/4K3 w - - 0 1", "e1", []),
        ("4r2k/8/8/8/1b6/8/8/4K3 w - - 0 1", "e1", ["b4", "e8"]),
    ],
)
def test_who_gives_check(fen: str, king: str, attackers: list[str]) -> None:
    seen = sight(fen)
    assert (seen.king, sorted(seen.attackers)) == (king, attackers)
    around = dict(seen.jumps) | dict(square for line in seen.lines for square in line)
    assert all(around[square] not in ("", "own") for square in attackers)


@pytest.mark.parametrize(
    ("fen", "text"),
    [
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", """\
            king e1 e1
            e2 own e3 e4 e5 e6 e7 pawn, f2 own g3 h4, f1 own g1 own, d1 own c1 own, d2 own c3 b4 a5
            f3 g2 c2 d3
            safe"""),
        ("4r2k/8/8/8/1b6/8/8/4K3 w - - 0 1", """\
            king e1 e1
            e2 e3 e4 e5 e6 e7 e8 rook, f2 g3 h4, f1 g1 h1, d1 c1 b1 a1, d2 c3 b4 bishop
            f3 g2 c2 d3
            check e8 b4"""),
        ("7k/8/8/3n1p2/4K2r/2p1p3/4P1q1/1b6 w - - 0 1", """\
            king e4 e4
            e5 e6 e7 e8, f5 pawn, f4 g4 h4 rook, f3 g2 queen, e3 pawn, d3 c2 b1 bishop, d4 c4 b4 a4, d5 knight
            f6 g5 g3 f2 d2 c3 c5 d6
            check f5 h4 g2 b1"""),
        ("r6k/8/P1N5/8/K7/8/4b3/8 w - - 0 1", """\
            king a4 a4
            a5 a6 own a7 a8 rook, b5 c6 own d7 e8, b4 c4 d4 e4 f4 g4 h4, b3 c2 d1, a3 a2 a1
            b6 c5 c3 b2
            safe"""),
        ("8/8/3N4/8/4k3/8/4B3/4K3 b - - 0 1", """\
            king e4 e4
            e5 e6 e7 e8, f5 g6 h7, f4 g4 h4, f3 g2 h1, e3 e2 bishop, d3 c2 b1, d4 c4 b4 a4, d5 c6 b7 a8
            f6 g5 g3 f2 d2 c3 c5 d6 knight
            check d6"""),
    ],
)  # fmt: skip
def test_what_a_king_sees(fen: str, text: str) -> None:
    """Clockwise from above, each line up to an enemy or the piece behind an own one; then knight's jumps."""
    names = {file + rank: file + rank for file in "abcdefgh" for rank in "12345678"}
    assert sight(fen).text(names).splitlines() == [line.strip() for line in text.splitlines()]


def test_check_agrees_with_the_moves_of_the_game() -> None:
    """One attacker must be captured or blocked, two leave only the king; the game knows those not seen."""
    game, found = ludens.make("rule?board=chess&moves=60-160"), 0
    for seed in range(150):
        position = game.start(seed).position
        seen = sight(position.spiel.board().to_fen())
        king, attackers = seen.king, seen.attackers
        others = [move for move in position.legal(position.to_act[0]) if not move.startswith(king)]
        ends = {move[2:4] for move in others}
        if not attackers:
            lines = [end for end in ends if not _in_line(king, end) and not _knight(king, end)]
            assert lines or len(others) < 4, "all moves end on lines of the king: an attacker was not seen"
            continue
        found += 1
        assert len(attackers) == 1 or not others
        allowed = {attackers[0], *_between(king, attackers[0])}
        passant = position.spiel.board().to_fen().split()[3]
        assert ends <= allowed | {passant}
    assert found > 5


def _steps(one: str, other: str) -> tuple[int, int]:
    return ord(other[0]) - ord(one[0]), int(other[1]) - int(one[1])


def _in_line(one: str, other: str) -> bool:
    x, y = map(abs, _steps(one, other))
    return 0 in (x, y) or x == y


def _knight(one: str, other: str) -> bool:
    return sorted(map(abs, _steps(one, other))) == [1, 2]


def _between(one: str, other: str) -> list[str]:
    x, y = _steps(one, other)
    far = max(abs(x), abs(y))
    if not _in_line(one, other):
        return []
    return [f"{chr(ord(one[0]) + x * n // far)}{int(one[1]) + y * n // far}" for n in range(1, far)]
