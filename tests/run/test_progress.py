"""Progress in a line: live at a terminal, plain anywhere else."""

from __future__ import annotations

import io
from time import monotonic

import pytest

from ludens.run.engine import Tally
from ludens.run.meter import Meter
from ludens.run.progress import Progress, clock, line


def tally(**more: object) -> Tally:
    return Tally(total=100, started=monotonic() - 10, **more)  # type: ignore[arg-type]


def test_bots_have_no_calls() -> None:
    assert line(tally(before=20, episodes=30, left=17.2)) == "50/100 episodes, 17 s left"


def test_everything_in_one_line() -> None:
    meter = Meter(40, 1_500_000, 20_000, 40, 3, 2, 0.1234)
    shown = line(tally(episodes=50, meter=meter, fallbacks=4, voids=1, left=10.0))
    assert shown == (
        "50/100 episodes, 40 calls (4.0/s), 1.5M tokens, $0.1234, 3 from the cache, 2 retries, 4 fallbacks, "
        "1 void, 10 s left"
    )
    assert "$12.30" in line(tally(meter=Meter(1, cost=12.3)))


def test_time_passed_where_none_is_left() -> None:
    assert line(tally(episodes=100)).endswith(", 10 s")
    assert line(tally(episodes=50, left=5.0, stopping="enough")).endswith(", 10 s")
    assert line(tally()).endswith(", 10 s")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "25 h 0 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert clock(seconds) == words


def test_plain_lines_come_now_and_then() -> None:
    out = io.StringIO()
    with Progress(out, every=3600) as progress:
        for _ in range(5):
            progress(tally(episodes=1))
        assert out.getvalue() == ""
    assert out.getvalue().startswith("1/100 episodes")
    with Progress(out := io.StringIO(), every=0) as progress:
        progress(tally(episodes=1))
        progress(tally(episodes=2))
    assert [text.split("/")[0] for text in out.getvalue().splitlines()] == ["1", "2", "2"]


def test_the_beginning_of_the_end_is_told_at_once_and_once() -> None:
    out = io.StringIO()
    with Progress(out, every=3600) as progress:
        for _ in range(3):
            progress(tally(stopping="interrupted", in_flight=4))
        said = "interrupted: starting nothing more, finishing 4 in flight. Ctrl-C again stops now.\n"
        assert out.getvalue() == said


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_live_line() -> None:
    out = _Terminal()
    with Progress(out) as progress:
        for number in range(5):
            progress(tally(episodes=number, left=9.0))
        assert progress._live is not None
        progress._live.refresh()
        assert "4/100 episodes" in out.getvalue()
    assert out.getvalue().rstrip().endswith("s left")


def test_nothing_to_show_is_nothing_said() -> None:
    with Progress(out := io.StringIO()):
        pass
    assert out.getvalue() == ""
