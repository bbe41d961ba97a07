"""Pictures are drawn by one thread, and not too many wait for it."""

from __future__ import annotations

import asyncio
import threading

import pytest
from aiohttp import web

from ludens.web import pages
from ludens.web.pages import Threads, make_renderer


async def test_too_many_pictures_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_WAITING", 2)
    renderer, go = make_renderer(), threading.Event()
    waiting = [asyncio.create_task(renderer.run("1.1.1.1", go.wait)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(web.HTTPServiceUnavailable):
        await renderer.run("1.1.1.1", go.wait)
    go.set()
    assert await asyncio.gather(*waiting) == [True, True]
    assert await renderer.run("1.1.1.1", threading.get_ident) != threading.get_ident()
    renderer.close()


async def test_addresses_take_turns() -> None:
    """Somebody who wants one picture waits for at most two of somebody who wants fifty."""
    renderer, go, drawn = make_renderer(), threading.Event(), list[str]()

    def draw(name: str) -> None:
        go.wait()
        drawn.append(name)

    many = [asyncio.create_task(renderer.run("1.1.1.1", draw, "many")) for _ in range(50)]
    await asyncio.sleep(0)
    one = asyncio.create_task(renderer.run("2.2.2.2", draw, "one"))
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(one, *many)
    assert drawn.index("one") <= 2
    renderer.close()


async def test_too_many_games_at_once_are_refused() -> None:
    makers, go = Threads("make", 1, 2, "is busy"), threading.Event()
    waiting = [asyncio.create_task(makers.run("", go.wait)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(web.HTTPServiceUnavailable):
        await makers.run("", go.wait)
    go.set()
    assert await asyncio.gather(*waiting) == [True, True]


async def test_errors_reach_the_caller() -> None:
    renderer = make_renderer()
    with pytest.raises(ZeroDivisionError):
        await renderer.run("1.1.1.1", lambda: 1 // 0)
    renderer.close()
