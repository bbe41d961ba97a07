"""Pictures are drawn by one thread, and not too many wait for it."""

from __future__ import annotations

import asyncio
import threading

import pytest
from aiohttp import web

from ludens.web import rendering
from ludens.web.rendering import Renderer


async def test_too_many_pictures_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MAX_WAITING", 2)
    renderer, go = Renderer(), threading.Event()
    waiting = [asyncio.create_task(renderer.run(go.wait)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(web.HTTPServiceUnavailable):
        await renderer.run(go.wait)
    go.set()
    assert await asyncio.gather(*waiting) == [True, True]
    assert await renderer.run(threading.get_ident) != threading.get_ident()
    renderer.close()


async def test_errors_reach_the_caller() -> None:
    renderer = Renderer()
    with pytest.raises(ZeroDivisionError):
        await renderer.run(lambda: 1 // 0)
    renderer.close()
