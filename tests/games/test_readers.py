"""All readers of all games: linear time, and an action or a `MoveError` for any text."""

from __future__ import annotations

from functools import cache
from itertools import product
from time import thread_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludens import GAMES
from ludens.core.errors import MoveError, Unreadable
from ludens.core.reply import ReplyFormat
from ludens.core.state import Legal, State
from ludens.core.view import RenderOptions
from ludens.suites.comma.judge import read_labels
from ludens.testing import Trial
from tests.support.playable import playable

BOARDS = ("tic_tac_toe", "reversi", "gomoku", "chess", "breakthrough", "sudoku", "minesweeper")
SPECS = [
    *GAMES.names(),
    *(f"{question}?board={board}" for question in ("perceive", "rule") for board in BOARDS[1:]),
    "qa?board=chess",
    "comma/wire?variant=released",
]
UNITS = (
    " ", "\n", "\xa0", "[", "]", '"', "`", "0", "1,", "|", "Action: ", "Action: A1\n", "Action: e4 or ",
    "<think>", r"\boxed{", "[1, 2],",
)  # fmt: skip
MORE_UNITS = (
    *UNITS, " \n", "\u3000", "[ ", "[[", "[]", "[1,", "(", '" ', "- ", "−1 ", "],#", "// ", "|---|\n",
    "| 1 |\n|---|\n", "1 ", "1 2\n", ":", "&", r"\\", r"\begin{matrix}", r"\end{matrix}",
    r"\begin{matrix}1&2\end{matrix}", "</think>", "<think></think>", "<answer>", "Action:\n", '"action": ',
    '"action": "', "Answer: B ", "Final answer: ", "Prediction: UP\n", "A1 ", "1. ", "1. e4\n", "x", "İ",
    "🙂", "cut_wire_1\n", "_",
)  # fmt: skip
OPENINGS = ("Action: ", "Action: A1\n", '{"action":', "[", "[1", r"\begin{matrix} 1 &", "1 ", "<think>")
KINDS = (
    "perceive", "rule?board=chess", "qa", "sudoku", "gomoku", "chess", "hanabi", "vs-bench/predict",
    "comma/wire",
)  # fmt: skip
SCRAPS = (*MORE_UNITS, *OPENINGS, "\xa0Action:", "Action: \xa0", "Z9", "\x00", "\ud800", "e8=Q")


game_of = cache(playable)


@cache
def readers(spec: str) -> list[tuple[ReplyFormat, State, str]]:
    """Every distinct reader that the view returns over some states of one episode."""
    game = game_of(spec)
    view, found = game.view(RenderOptions()), {}
    for state in Trial(game).states(4, seeds=(0,)):
        for seat in state.to_act:
            key = type(view.format(state, seat)), seat, state.legal(seat).is_text
            found[key] = view.format(state, seat), state.clone(), seat
    return list(found.values())


def read(reader: ReplyFormat, state: State, seat: str, text: str) -> None:
    """Read and check the action; only a `MoveError` may be raised."""
    try:
        action = reader.read(text, state.legal(seat))
    except MoveError as error:
        assert len(str(error)) < 1000  # noqa: PT017
    else:
        state.refusal(seat, action)


def seconds(reader: ReplyFormat, state: State, seat: str, text: str) -> float:
    start = thread_time()
    read(reader, state, seat, text)
    return thread_time() - start


def superlinear(reader: ReplyFormat, state: State, seat: str, opening: str, unit: str) -> bool:
    """Whether four times the text takes far more than four times as long: sixteen times is quadratic.

    A quadratic reader needs 0.3 s for 100 kB, a sixteenth of it for 25 kB, and a 256th for 6 kB. What is
    faster, or takes less than five times as long for 25 kB as for 6 kB, is linear; longer texts are not read.
    """

    def text(size: int) -> str:
        return opening + unit * (size // len(unit))

    def least(size: int, times: int) -> float:
        return min(seconds(reader, state, seat, text(size)) for _ in range(times))

    if (short := least(6_250, 2)) < 0.3 / 256:
        return False
    if (long := least(25_000, 1)) < max(0.3 / 16, 5 * short):
        return False
    return least(100_000, 1) > 9 * long and least(200_000, 3) > 9 * least(50_000, 3)


@pytest.mark.parametrize("spec", SPECS)
def test_readers_take_linear_time(spec: str) -> None:
    found = [(seat, unit) for reader, state, seat in readers(spec) for unit in UNITS
             if superlinear(reader, state, seat, "", unit)]  # fmt: skip
    assert not found


@pytest.mark.parametrize("spec", KINDS)
def test_readers_of_each_kind_take_linear_time_after_any_opening(spec: str) -> None:
    [(reader, state, seat), *_] = readers(spec)
    texts = [*product([""], MORE_UNITS), *product(OPENINGS, UNITS)]
    assert not [text for text in texts if superlinear(reader, state, seat, *text)]


REPLIES = st.text() | st.lists(st.sampled_from(SCRAPS) | st.text(max_size=6), max_size=20).map("".join)


@pytest.mark.parametrize("spec", SPECS)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=REPLIES)
def test_any_text_is_an_action_or_a_move_error(spec: str, text: str) -> None:
    for reader, state, seat in readers(spec):
        read(reader, state, seat, text)


@settings(deadline=None)
@given(REPLIES)
def test_any_text_is_labels_or_unreadable(text: str) -> None:
    try:
        labels, _ = read_labels(text)
    except Unreadable:
        return
    assert labels


@pytest.mark.parametrize("unit", MORE_UNITS)
def test_the_reader_of_labels_takes_linear_time(unit: str) -> None:
    class Labels(ReplyFormat):
        def ask(self, legal: Legal) -> str:
            return ""

        def write(self, action: str) -> str:
            return action

        def read(self, text: str, legal: Legal) -> str:
            return read_labels(text)[1]

    state = game_of("tic_tac_toe").start(0)
    assert not superlinear(Labels(), state, "x", "Labels: ", unit)
