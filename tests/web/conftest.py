"""Servers and runs for the tests of the browser app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ludens.run.task import SUITES
from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import ServerAccess
from tests.support import reported, suites

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


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    """Starts a server for an app; returns its client. Both are closed after the test."""
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
def serve(start: Start) -> Serve:
    """Starts a server for a folder of runs."""

    async def served(root: Path, access: ServerAccess | None = None) -> Client:
        return await start(make_app(WebSettings(root, access or ServerAccess())))

    return served
