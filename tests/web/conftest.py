"""Servers and runs for the tests of the browser app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from playwright.async_api import Browser

from ludens.run.task import SUITES
from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import ServerAccess
from tests.support import reported, suites
from tests.web.browser import launched

Client = TestClient[web.Request, web.Application]
Start = Callable[[web.Application], Awaitable[Client]]
Serve = Callable[..., Awaitable[Client]]


@pytest.fixture(autouse=True)
def _known_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES._added, reported.NAME, reported.SUITE)
    monkeypatch.setitem(SUITES._added, "tests.support.suites:TURNS", suites.TURNS)


@pytest.fixture(scope="session")
def reported_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run `first/reported`; only for reading."""
    root = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SUITES._added, reported.NAME, reported.SUITE)
        reported.make_run(root / "first" / "reported")
    return root


@asynccontextmanager
async def starting() -> AsyncIterator[Start]:
    """Starts servers for apps; returns their clients. Both are closed at the end."""
    clients: list[Client] = []

    async def started(app: web.Application) -> Client:
        client = TestClient(TestServer(app))
        clients.append(client)
        await client.start_server()
        return client

    yield started
    for client in clients:
        await client.close()


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts a server for an app; returns its client. Both are closed after the test."""
    async with starting() as started:
        yield started


def serving(start: Start) -> Serve:
    """Starts a server for a folder of runs."""

    async def served(root: Path, access: ServerAccess | None = None) -> Client:
        return await start(make_app(WebSettings(root, access or ServerAccess())))

    return served


@pytest.fixture
def serve(start: Start) -> Serve:
    """Starts a server for a folder of runs."""
    return serving(start)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def started_browser() -> AsyncIterator[Browser]:
    """A browser for all tests of a module, which share an event loop."""
    async with launched() as started:
        yield started


@pytest_asyncio.fixture(loop_scope="module")
async def browser(started_browser: Browser) -> AsyncIterator[Browser]:
    """The browser; pages of a test are closed after it, or they would call their server for ever."""
    yield started_browser
    for context in started_browser.contexts:
        await context.close()
