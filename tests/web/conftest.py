"""Servers and runs for the tests of the browser app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from ludens.run.task import SUITES
from ludens.web.app import make_app
from ludens.web.security import Access
from ludens.web.settings import Settings
from tests.support import reported, suites

Client = TestClient[web.Request, web.Application]
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
async def serve() -> AsyncIterator[Serve]:
    clients: list[Client] = []

    async def start(root: Path, access: Access | None = None) -> Client:
        client = TestClient(TestServer(make_app(Settings(root, access or Access()))))
        await client.start_server()
        clients.append(client)
        return client

    yield start
    for client in clients:
        await client.close()
