"""Usage errors: one sentence on stderr and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

WRONG = {
    "command": (["gmes"], "did you mean 'games'?"),
    "command without a similar one": (["zzz"], "known names"),
    "flag": (["show", "tic_tac_toe", "--sed", "3"], "did you mean '--seed'?"),
    "flag with a value": (["show", "tic_tac_toe", "--sed=3"], "unknown flag '--sed'; did you mean '--seed'?"),
    "global flag": (["--vrsion"], "did you mean '--version'?"),
    "unexpected argument": (["check", "twice"], "unexpected argument 'twice'"),
    "game missing": (["show"], "missing argument GAME"),
    "game": (["show", "tictactoe"], "did you mean 'tic_tac_toe'?"),
    "game, empty": (["show", ""], "has no name"),
    "game with an address": (["show", "tic_tac_toe@http://x"], "has no address"),
    "game to describe": (["games", "breakthrogh"], "did you mean 'breakthrough'?"),
    "option": (["show", "breakthrough", "-o", "row=6"], "did you mean 'rows'?"),
    "option in the name": (["show", "breakthrough?row=6"], "did you mean 'rows'?"),
    "option out of range": (["play", "breakthrough", "-o", "rows=60"], "at most 8, not 60"),
    "option of another type": (["show", "breakthrough?rows=many"], "must be a whole number, not 'many'"),
    "option without a value": (["show", "breakthrough", "-o", "rows"], "for example rows=6, not 'rows'"),
    "repeated option": (["show", "breakthrough", "-o", "rows=6", "-o", "rows=7"], "rows given more"),
    "option named like a parameter": (["show", "breakthrough", "-o", "spec=1"], "unknown option"),
    "seat to show": (["show", "breakthrough", "--seat", "whit"], "did you mean 'white'?"),
    "seat without a value": (["show", "breakthrough", "--seat"], "missing value for --seat"),
    "seat to play": (["play", "breakthrough", "--seat", "whit=human"], "did you mean 'white'?"),
    "seat without an agent": (["play", "breakthrough", "--seat", "white"], "black=human, not 'white'"),
    "repeated seat": (["play", "tic_tac_toe", "--seat", "x=bot/first", "--seat", "x=human"], "x given more"),
    "agent": (["play", "tic_tac_toe", "--seat", "x=bot/randm"], "did you mean 'bot/random'?"),
    "option of an agent": (["play", "tic_tac_toe", "--seat", "x=bot/mcts?sims=9"], "option of bot/mcts"),
    "theme": (["show", "tic_tac_toe", "--theme", "clasic"], "did you mean 'classic'?"),
    "theme of play": (["play", "tic_tac_toe", "--theme", "dark"], "known: classic, contrast"),
    "size too small": (["show", "tic_tac_toe", "--size", "63"], "64 to 1024"),
    "size too large": (["play", "tic_tac_toe", "--size", "1025"], "64 to 1024"),
    "size of another type": (["show", "tic_tac_toe", "--size", "big"], "must be an integer, not 'big'"),
    "seed of another type": (["play", "tic_tac_toe", "--seed", "1.5"], "--seed must be an integer"),
    "seed beyond 64 bits": (["play", "tic_tac_toe", "--seed", str(2**63)], "must fit into 64 bits"),
    "seed of 5,000 digits": (["show", "tic_tac_toe", "--seed", "9" * 5000], "an integer, not '9999"),
    "repeated seed": (["show", "tic_tac_toe", "--seed", "1", "--seed", "2"], "--seed given more than once"),
    "negative moves": (["show", "tic_tac_toe", "--moves", "-1"], "at least 0, not -1"),
    "json neither true nor false": (["check", "--json=maybe"], "true or false, not 'maybe'"),
    "picture format": (["show", "tic_tac_toe", "--out", "board.gif"], ".png or .jpg, not 'board.gif'"),
    "benchmark": (["bench", "drw"], "did you mean 'draw'?"),
    "zero seconds": (["bench", "play", "--seconds", "0"], "above 0"),
    "seconds not a number": (["bench", "play", "--seconds", "nan"], "not nan"),
}  # fmt: skip


@pytest.mark.parametrize(("argv", "hint"), WRONG.values(), ids=WRONG)
def test_one_sentence_on_stderr_and_exit_code_2(argv: list[str], hint: str, ludens: Run) -> None:
    ran = ludens(*argv)
    assert ran.code == 2
    assert ran.out == ""
    [line] = ran.err.splitlines()
    assert line.startswith("ludens: ")
    assert hint in line


@pytest.mark.parametrize(
    "argv",
    [
        ["show", "tic_tac_toe", "--out", "{}/no/board.png"],
        ["show", "tic_tac_toe", "--out", "{}/file.png/board.png"],
        ["show", "tic_tac_toe", "--out", "{}/folder.png"],
        ["play", "tic_tac_toe", "--out", "{}/no/episode.json"],
        ["play", "tic_tac_toe", "--out", "{}"],
        ["demo", "--out", "{}/file.png"],
    ],
)
def test_an_unwritable_file_is_reported_first(argv: list[str], ludens: Run, tmp_path: Path) -> None:
    (tmp_path / "file.png").write_text("mine")
    (tmp_path / "folder.png").mkdir()
    ran = ludens(*[word.format(tmp_path) for word in argv])
    assert (ran.code, ran.out) == (2, "")
    [line] = ran.err.splitlines()
    assert line.startswith("ludens: cannot write ")
    assert (tmp_path / "file.png").read_text() == "mine"


def test_a_bot_that_cannot_play_the_game_is_a_usage_error(ludens: Run) -> None:
    ran = ludens("play", "coin_dilemma", "--seat", "red=bot/mcts", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ludens: bot/mcts plays OpenSpiel games only")


def test_the_process_exits_with_the_code(process: Run) -> None:
    ran = process("show", "tictactoe")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "ludens: unknown game 'tictactoe'; did you mean 'tic_tac_toe'?\n"


LONG_VALUES = ("a" * 10_000, "'\" " * 3_333, "x\ny" * 3_333, "[" * 10_000, "a/b" * 3_333)


@pytest.mark.parametrize(
    "argv",
    [
        ["{}"],
        ["--{}"],
        ["show", "{}"],
        ["show", "tic_tac_toe?{}"],
        ["show", "tic_tac_toe?opening={}"],
        ["show", "tic_tac_toe", "-o", "{}=3"],
        ["show", "chess?fen={}"],
        ["show", "viki/plan?data={}"],
        ["show", "tic_tac_toe", "--out", "{}.png"],
        ["show", "tic_tac_toe", "--size", "{}"],
        ["play", "tic_tac_toe", "--seat", "x=openai/{}"],
        ["replay", "{}"],
        ["report", "{}"],
        ["runs", "{}"],
        ["train", "{}"],
        ["web", "--host", "{}"],
    ],
)
def test_long_values_make_short_messages(
    argv: list[str], ludens: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for value in LONG_VALUES:
        ran = ludens(*[word.format(value) for word in argv])
        assert ran.code == 2, value[:9]
        [line] = ran.err.splitlines()
        assert len(line) <= 600


@pytest.mark.parametrize("argv", [["games"], ["show", "tic_tac_toe", "--out"], ["eval", "demo", "--name"]])
def test_bytes_that_are_no_text_are_refused(argv: list[str], ludens: Run) -> None:
    ran = ludens(*argv, b"\xff".decode(errors="surrogateescape"))
    assert (ran.code, ran.out) == (2, "")
    assert "not valid UTF-8" in ran.err
