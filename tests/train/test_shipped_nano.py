"""The model in the package: small enough, the same with torch, and as good as its card says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import pytest

import ludens
from ludens.cli import main
from ludens.core.agent import Ask
from ludens.core.view import Picture
from ludens.models import model
from ludens.train.nano.inputs import offered, short_prompt
from ludens.train.nano.model import NanoModel, Sampler
from ludens.train.nano.player import SHIPPED
from ludens.train.nano.weights import verify_weights
from tests.support.lines import outcomes
from tests.support.nano import questions

BOARDS = ("tic_tac_toe", "reversi", "sudoku", "minesweeper", "gomoku", "chess", "breakthrough")
MOVES = (
    "rule?board=sudoku", "rule?board=reversi", "rule?board=chess", "qa?board=chess", "tic_tac_toe",
    "coin_dilemma", "monster_hunt", "comma/keypad", "spy?source=flat",
)  # fmt: skip


@lru_cache
def sampler(spec: str = "nano") -> Sampler:
    made = model(spec)
    assert isinstance(made, NanoModel)
    return made.sampler


def first_asks(game: str, seed: int) -> list[tuple[Ask, Picture]]:
    """What the seats of a game are asked in its first steps, with what they see."""
    made = ludens.make(game)
    seats = {seat: ludens.agent("bot/random", made) for seat in made.seats}
    episode = ludens.play_sync(made, seats, seed)
    return [
        (sample.ask, sample.pictures[-1]) for sample in islice(ludens.samples(episode), 3) if sample.pictures
    ]


def said(chosen: Sampler, asks: Sequence[tuple[Ask, Picture]], game: str) -> list[list[int]]:
    prompts = [chosen.encode(short_prompt(game.split("?")[0], ask)) for ask, _ in asks]
    return [one.completion_ids for one in chosen.sample(questions(prompts, [[shown] for _, shown in asks]))]


def test_it_is_small() -> None:
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) <= 20_000_000


def test_it_says_where_it_comes_from() -> None:
    assert all(check.ok for check in verify_weights(SHIPPED)), verify_weights(SHIPPED)


COMPARED = [*(f"perceive?board={board}" for board in BOARDS[:3]), *MOVES]


@pytest.mark.parametrize(
    "game",
    [
        *COMPARED[::3],
        *(pytest.param(game, marks=pytest.mark.slow) for n, game in enumerate(COMPARED) if n % 3),
    ],
)
def test_numpy_says_what_torch_says(game: str) -> None:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    asks = [ask for seed in (3, 4) for ask in first_asks(game, seed)]
    ours, theirs = (said(sampler(f"nano?device={device}"), asks, game) for device in ("numpy", "cpu"))
    assert ours == theirs
    assert max(map(len, ours)) > 2


@pytest.mark.parametrize("game", COMPARED[1::3])
def test_onnxruntime_says_what_numpy_says(game: str) -> None:
    """`recipes/nano_equal.py` compares thousands of replies."""
    pytest.importorskip("onnxruntime", reason="the extra 'fast' is not installed")
    asks = [ask for seed in (3, 4) for ask in first_asks(game, seed)]
    ours, theirs = (said(sampler(f"nano?device={device}"), asks, game) for device in ("onnx", "numpy"))
    assert ours == theirs


@pytest.mark.parametrize("device", ["numpy", "onnx", "cpu"])
def test_where_moves_are_listed_it_gives_one_of_them(device: str) -> None:
    if device != "numpy":
        pytest.importorskip("onnxruntime" if device == "onnx" else "torch")
    chosen, [(ask, shown), *_] = sampler(f"nano?device={device}"), first_asks("chess", 0)
    prompt, end = chosen.encode(short_prompt("chess", ask)), chosen.vocabulary.end
    free = offered(ask)
    [usual] = said(chosen, [(ask, shown)], "chess")
    others = [answer for answer in free if not chosen.vocabulary.decode(usual).endswith(answer)]
    for answers in (free, others[3:5], others[7:8]):
        [reply] = chosen.sample(questions([prompt], [[shown]], answers=[answers]))
        assert reply.completion_ids[-1] == end
        assert chosen.vocabulary.decode(reply.completion_ids).splitlines()[-1] in answers
        assert (reply.completion_ids == usual) == (answers is free)


def test_a_refused_move_is_not_offered_again() -> None:
    [(ask, _), *_] = first_asks("chess", 0)
    again = ask.again("a2: a3 a4\nAction: a2a3", "a2a3 is refused.")
    assert set(offered(ask)) - set(offered(again)) == {"Action: a2a3"}
    assert not offered(replace(ask, listed=False))
    [(words, _), *_] = first_asks("perceive?board=chess", 0)
    assert not offered(words)


def read(board: str, seed: int, spec: str, theme: str = "classic", size: int = 512) -> float:
    game = ludens.make(f"perceive?board={board}")
    seats = {"viewer": ludens.agent(spec, game)}
    return ludens.play_sync(game, seats, seed, render=ludens.RenderOptions(theme, size)).returns["viewer"]


@pytest.mark.parametrize("board", BOARDS)
def test_it_reads_every_board(board: str) -> None:
    assert read(board, 11, "nano") == 1.0


def test_it_does_not_read_without_looking() -> None:
    assert sum(read("reversi", seed, "nano?blind=true") for seed in range(4)) < 3


@pytest.mark.slow
@pytest.mark.parametrize("size", [256, 512, 1024])
@pytest.mark.parametrize("theme", ["classic", "contrast", "plain", "random"])
def test_it_reads_boards_of_every_look_and_size(theme: str, size: int) -> None:
    right = [read(board, seed, "nano", theme, size) for board in BOARDS for seed in range(20, 24)]
    assert sum(right) / len(right) >= 0.999


def right(question: str, count: int, spec: str = "nano") -> float:
    """The share of right answers to the first positions."""
    game = ludens.make(question)
    [seat] = game.seats
    player = ludens.agent(spec, game)
    return sum(ludens.play_sync(game, {seat: player}, seed).returns[seat] for seed in range(count)) / count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("qa?board=tic_tac_toe", 0.95),
        ("qa?board=reversi", 0.9),
        ("rule?board=tic_tac_toe&filled=4-8", 1.0),
        ("rule?board=reversi&filled=10-56", 0.9),
        ("rule?board=sudoku", 0.9),
        ("rule?board=minesweeper&filled=26-38", 0.9),
        ("rule?board=gomoku&filled=67-157", 0.9),
        ("rule?board=chess&moves=80-160", 0.8),
    ],
)
def test_it_answers_as_its_card_says(question: str, share: float) -> None:
    assert right(question, 40) >= share
    assert right(question, 40, "nano?blind=true") < share


@pytest.mark.slow
@pytest.mark.parametrize(("seat", "lost"), [("x", 0), ("o", 0)])
async def test_it_loses_as_many_lines_of_tic_tac_toe_as_its_card_says(seat: str, lost: int) -> None:
    """Against every possible line of the opponent."""
    game = ludens.make("tic_tac_toe")
    ends = await outcomes(game, ludens.agent("nano", game), seat)
    assert ends["lost"] <= lost
    assert set(ends) <= {"won", "drawn", "lost"}


def test_anyone_can_play_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "tic_tac_toe", "--seat", "x=bot/first", "--seat", "o=nano", "--seed", "1"]) == 0
    assert "x -1, o 1." in capsys.readouterr().out
