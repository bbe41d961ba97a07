"""The time left is right before the end is near, also where short and long tasks are mixed."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Mapping

import pytest

from ludens.run.plan import Job
from ludens.run.remaining import Remaining


def job(task: str, number: int) -> Job:
    return Job(f"a:{task}:{number}:0", "a", task, number, 0)


def told(
    lasts: Mapping[str, float], each: int, run_sync: int, calls: Mapping[str, float] | None = None
) -> Iterator[tuple[float, float | None, int]]:
    """Play in a made-up world, tasks in turns: whenever an episode ends, the time, what is said, and how many
    have ended. The last time is the end."""
    queue = [job(task, number) for number in range(each) for task in lasts]
    expected = {("a", task): number for task, number in (calls or {}).items()}
    rest = Remaining(Counter((one.entrant, one.task) for one in queue), expected)
    flying: list[tuple[float, str, Job]] = []
    now, ended = 0.0, 0
    while queue or flying:
        while queue and len(flying) < run_sync:
            next_ = queue.pop(0)
            rest.begin(next_, now)
            heapq.heappush(flying, (now + lasts[next_.task], next_.key, next_))
        now, _, over = heapq.heappop(flying)
        rest.end(over, now)
        ended += 1
        yield now, rest.seconds(now), ended


@pytest.mark.parametrize("run_sync", [1, 4, 40])
@pytest.mark.parametrize(
    "lasts", [{"game": 10.0}, {"question": 1.0, "game": 40.0}, {"a": 3.0, "b": 1.0, "c": 90.0}]
)
def test_what_is_said_from_a_quarter_on_is_right(lasts: dict[str, float], run_sync: int) -> None:
    said = list(told(lasts, 100, run_sync))
    end = said[-1][0]
    for now, left, _ in said:
        if now >= end / 4:
            assert left is not None
            assert now + left == pytest.approx(end, rel=0.2)
    assert said[-1][1] == 0


def test_a_kind_of_which_none_has_ended_is_guessed_by_its_calls() -> None:
    calls = {"question": 1.0, "game": 40.0}
    now, left, ended = next(told({"question": 1.0, "game": 40.0}, 100, 4, calls))
    assert (now, ended) == (1.0, 1)
    assert left == pytest.approx(100 * 41 / 4, rel=0.3)


def test_the_longest_that_flies_is_waited_for() -> None:
    rest = Remaining(Counter({("a", "game"): 9}))
    for number in range(9):
        rest.begin(job("game", number), 0.0)
    for number in range(8):
        rest.end(job("game", number), 10.0)
    assert rest.seconds(10.0) == 0.0
    rest.again(job("game", 0))
    assert rest.seconds(10.0) == 10.0


def test_nothing_is_said_before_anything_has_ended() -> None:
    rest = Remaining(Counter({("a", "game"): 2}))
    assert rest.seconds(0.0) is None
    rest.begin(job("game", 0), 0.0)
    assert rest.seconds(5.0) is None
