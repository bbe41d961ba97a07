"""Activity: an event loop is idle exactly when every live coroutine waits."""

from __future__ import annotations

import asyncio

import pytest

from ludens.core.activity import Activity, current_activity


async def becomes_idle(activity: Activity, seconds: float = 0.05) -> bool:
    try:
        await asyncio.wait_for(activity.wait_idle(), seconds)
    except TimeoutError:
        return False
    return True


async def test_nothing_is_known_without_live_coroutines() -> None:
    activity = current_activity()
    assert not activity.idle
    assert not await becomes_idle(activity)


async def test_idle_while_all_wait() -> None:
    activity = current_activity()
    with activity.running(), activity.running():
        with activity.waiting():
            assert not activity.idle
            assert not await becomes_idle(activity)
            with activity.waiting():
                assert await becomes_idle(activity, 60)
        assert not activity.idle
    assert (activity.live, activity.active) == (0, 0)


async def test_the_end_of_the_last_active_coroutine_makes_the_others_idle() -> None:
    activity = current_activity()
    with activity.running(), activity.waiting():
        with activity.running():
            idle = asyncio.create_task(activity.wait_idle())
            await asyncio.sleep(0.01)
            assert not idle.done()
        await asyncio.wait_for(idle, 60)


async def test_coroutines_that_are_ready_to_run_are_not_idle() -> None:
    """Answers arrive for all at once; each coroutine runs on before the loop counts as idle."""
    activity, answers = current_activity(), asyncio.Event()
    ran: list[int] = []

    async def episode(number: int) -> None:
        with activity.running():
            with activity.waiting():
                await answers.wait()
            ran.append(number)
            with activity.waiting():
                await asyncio.sleep(0.05)

    episodes = [asyncio.create_task(episode(number)) for number in range(8)]
    await activity.wait_idle()
    assert ran == []
    answers.set()
    await activity.wait_idle()
    assert ran == list(range(8))
    await asyncio.gather(*episodes)


async def test_gather_is_idle_when_every_child_waits() -> None:
    activity, ready, release = current_activity(), asyncio.Event(), asyncio.Event()
    idle_in_between: list[bool] = []

    async def seat(number: int) -> int:
        if number:
            await ready.wait()  # still running
        with activity.waiting():
            await release.wait()
        return number

    async def watch() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
            idle_in_between.append(activity.idle)

    with activity.running():
        watching = asyncio.create_task(watch())
        gathered = asyncio.create_task(activity.gather(*map(seat, range(4))))
        await watching
        assert not any(idle_in_between)
        ready.set()
        await asyncio.wait_for(activity.wait_idle(), 60)
        assert (activity.live, activity.active) == (1, 0)
        release.set()
        assert await gathered == [0, 1, 2, 3]
        assert activity.active == 1
    assert (activity.live, activity.active) == (0, 0)


async def test_gather_never_signals_idle_between_children_and_parent() -> None:
    activity, signals = current_activity(), 0

    async def watch() -> None:
        nonlocal signals
        while True:
            await activity.wait_idle()
            signals += 1

    async def seat() -> None:
        await asyncio.sleep(0)

    watching = asyncio.create_task(watch())
    with activity.running():
        for _ in range(3):
            await activity.gather(*(seat() for _ in range(3)))
            await asyncio.sleep(0.002)
    watching.cancel()
    assert signals == 0


async def test_gather_returns_exceptions_and_restores_the_counts() -> None:
    activity = current_activity()

    async def fail() -> None:
        raise ValueError("no")

    async def cancelled() -> None:
        raise asyncio.CancelledError

    with activity.running():
        assert await activity.gather() == []
        results = await activity.gather(fail(), cancelled())
        assert [type(result) for result in results] == [ValueError, asyncio.CancelledError]
        assert (activity.live, activity.active) == (1, 1)


async def test_cancelled_gather_restores_the_counts() -> None:
    activity = current_activity()

    async def episode() -> None:
        with activity.running():
            await activity.gather(asyncio.sleep(9), asyncio.sleep(9))

    task = asyncio.create_task(episode())
    await asyncio.sleep(0.01)
    assert (activity.live, activity.active) == (1, 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (activity.live, activity.active) == (0, 0)


def test_each_event_loop_has_its_own_activity() -> None:
    async def get() -> Activity:
        assert current_activity() is current_activity()
        return current_activity()

    assert asyncio.run(get()) is not asyncio.run(get())
