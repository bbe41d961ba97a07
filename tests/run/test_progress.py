"""Progress: the time left, and a line that is live on a terminal and plain elsewhere."""

from __future__ import annotations

import heapq
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from time import monotonic

import pytest

from ludens.core.episode import Usage
from ludens.run.plan import Job
from ludens.run.progress import ProgressDisplay, RunProgress, TimeLeft, duration, progress_line


def progress(**more: object) -> RunProgress:
    return RunProgress(total=100, start_time=monotonic() - 10, **more)  # type: ignore[arg-type]


def test_line_of_bots_has_no_calls() -> None:
    assert progress_line(progress(before=20, episodes=30, seconds_left=17.2)) == "50/100 episodes, 17 s left"


def test_line_with_everything() -> None:
    usage = Usage(1_500_000, 20_000, images=40, calls=40, cost=0.1234)
    counts = Counter({"cached": 3, "retries": 2})
    shown = progress_line(
        progress(episodes=50, usage=usage, counts=counts, fallbacks=4, voids=1, seconds_left=10.0)
    )
    assert shown == (
        "50/100 episodes, 40 calls (4.0/s), 1.5M tokens, $0.1234, 3 cached, 2 retries, 4 fallbacks, "
        "1 void, 10 s left"
    )
    assert "$12.30" in progress_line(progress(usage=Usage(cost=12.3)))


def test_line_ends_with_time_passed_if_time_left_is_unknown() -> None:
    assert progress_line(progress(episodes=100)).endswith(", 10 s")
    assert progress_line(progress(episodes=50, seconds_left=5.0, stopping="enough")).endswith(", 10 s")
    assert progress_line(progress()).endswith(", 10 s")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3661, "1 h 1 min"), (90_000, "25 h 0 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_plain_lines_are_printed_regularly() -> None:
    out = io.StringIO()
    with ProgressDisplay(out, every=3600) as display:
        for _ in range(5):
            display(progress(episodes=1))
        assert out.getvalue() == ""
    assert out.getvalue().startswith("1/100 episodes")
    with ProgressDisplay(out := io.StringIO(), every=0) as display:
        display(progress(episodes=1))
        display(progress(episodes=2))
    assert [text.split("/")[0] for text in out.getvalue().splitlines()] == ["1", "2", "2"]


def test_stopping_is_shown_at_once_and_once() -> None:
    out = io.StringIO()
    with ProgressDisplay(out, every=3600) as display:
        for _ in range(3):
            display(progress(stopping="interrupted", in_flight=4))
        [shown] = out.getvalue().splitlines()
        assert "interrupted" in shown
        assert "4 episodes in flight" in shown
        assert "Ctrl-C again" in shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_terminal_shows_one_live_line() -> None:
    out = _Terminal()
    with ProgressDisplay(out) as display:
        for number in range(5):
            display(progress(episodes=number, seconds_left=9.0))
        assert display._live is not None
        display._live.refresh()
        assert "4/100 episodes" in out.getvalue()
    assert out.getvalue().rstrip().endswith("s left")


def test_without_progress_nothing_is_printed() -> None:
    with ProgressDisplay(out := io.StringIO()):
        pass
    assert out.getvalue() == ""


def job(task: str, number: int) -> Job:
    return Job(f"a:{task}:{number}:0", "a", task, number, 0)


def simulate(
    durations: Mapping[str, float], each: int, concurrency: int, calls: Mapping[str, float] | None = None
) -> Iterator[tuple[float, float | None, int]]:
    """Simulate a run with its tasks in turn.

    Yields the time, the estimate and the number of finished episodes whenever one finishes.
    """
    queue = [job(task, number) for number in range(each) for task in durations]
    expected = {("a", task): number for task, number in (calls or {}).items()}
    time_left = TimeLeft(Counter(job.cell for job in queue), expected)
    running: list[tuple[float, str, Job]] = []
    now, finished = 0.0, 0
    while queue or running:
        while queue and len(running) < concurrency:
            next_ = queue.pop(0)
            time_left.start(next_, now)
            heapq.heappush(running, (now + durations[next_.task], next_.key, next_))
        now, _, over = heapq.heappop(running)
        time_left.end(over, now)
        finished += 1
        yield now, time_left.seconds(now), finished


@pytest.mark.parametrize("concurrency", [1, 4, 40])
@pytest.mark.parametrize(
    "durations", [{"game": 10.0}, {"question": 1.0, "game": 40.0}, {"a": 3.0, "b": 1.0, "c": 90.0}]
)
def test_time_left_is_right_after_a_quarter(durations: dict[str, float], concurrency: int) -> None:
    estimates = list(simulate(durations, 100, concurrency))
    end = estimates[-1][0]
    for now, left, _ in estimates:
        if now >= end / 4:
            assert left is not None
            assert now + left == pytest.approx(end, rel=0.2)
    assert estimates[-1][1] == 0


def test_cell_without_finished_episodes_is_estimated_by_its_calls() -> None:
    calls = {"question": 1.0, "game": 40.0}
    now, left, finished = next(simulate({"question": 1.0, "game": 40.0}, 100, 4, calls))
    assert (now, finished) == (1.0, 1)
    assert left == pytest.approx(100 * 41 / 4, rel=0.3)


def test_time_left_covers_the_longest_running_episode() -> None:
    jobs = [job("game", number) for number in range(9)]
    time_left = TimeLeft(Counter(job.cell for job in jobs), {})
    for one in jobs:
        time_left.start(one, 0.0)
    for one in jobs[:8]:
        time_left.end(one, 10.0)
    assert time_left.seconds(10.0) == 0.0
    time_left.add(jobs[0])
    assert time_left.seconds(10.0) == 10.0


def test_time_left_is_unknown_before_an_episode_has_finished() -> None:
    jobs = [job("game", number) for number in range(2)]
    time_left = TimeLeft(Counter(job.cell for job in jobs), {})
    assert time_left.seconds(0.0) is None
    time_left.start(jobs[0], 0.0)
    assert time_left.seconds(5.0) is None
