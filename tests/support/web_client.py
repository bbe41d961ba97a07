"""A browser without a browser: forms, cookies and WebSockets of one person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType
from aiohttp.test_utils import TestServer
from aiohttp.web import Application

from ludens.web.app import make_app
from ludens.web.pages import WebSettings
from ludens.web.security import ServerAccess

TOKEN = "the-organiser-of-this-test"


class Visitor:
    """One person with one browser."""

    def __init__(self, root: str, app: Application, before: Visitor | None = None) -> None:
        self.root, self.app = root, app
        self.jar = before.jar if before else CookieJar(unsafe=True)
        self.http = ClientSession(root, cookie_jar=self.jar, headers={"Origin": root})

    async def post(self, path: str, **form: str) -> tuple[int, str, str]:
        """Send a form; returns the status, the path of the page it led to, and its text."""
        async with self.http.post(path, data=form) as reply:
            return reply.status, reply.url.path, await reply.text()

    async def get(self, path: str) -> tuple[int, str, str]:
        """Open a page."""
        async with self.http.get(path) as reply:
            return reply.status, reply.url.path, await reply.text()

    async def sit(self, path: str) -> Seat:
        """Connect to the game on a page."""
        return Seat(await self.http.ws_connect(f"{path}/socket", max_msg_size=1 << 24))


class Seat:
    """The WebSocket of a seat."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.received: list[str] = []
        self.view: dict[str, Any] = {}
        self.answered = 0

    async def next(self, until: Callable[[dict[str, Any]], object] = lambda view: True) -> dict[str, Any]:
        """The next snapshot of which something holds."""
        async with asyncio.timeout(60):
            while True:
                message = await self.socket.receive()
                if message.type is not WSMsgType.TEXT:
                    raise ConnectionError(f"{message.type.name} {self.socket.close_code}")
                self.received.append(message.data)
                self.view = orjson.loads(message.data)
                if until(self.view):
                    return self.view

    async def turn(self) -> dict[str, Any]:
        """The question that is not yet answered, or the end."""
        if self.view and self._due(self.view):
            return self.view
        return await self.next(self._due)

    def _due(self, view: dict[str, Any]) -> bool:
        return bool(view["ended"]) or view["turn"] not in (None, self.answered)

    async def move(self, text: str, turn: int | None = None) -> None:
        """Answer the question, or the one with this number."""
        self.answered = self.view["turn"] if turn is None else turn
        await self.send({"move": text, "turn": self.answered})

    async def send(self, message: Any) -> None:
        await self.socket.send_str(message if isinstance(message, str) else orjson.dumps(message).decode())


@asynccontextmanager
async def served(runs: Path, port: int = 0, **more: Any) -> AsyncIterator[Callable[..., Visitor]]:
    """A server, on a free port or this one; calling the result gives another visitor, or one who was here
    before the server was started again."""
    app = make_app(WebSettings(runs, ServerAccess(organiser=TOKEN), **more))
    server = TestServer(app, port=port or None)
    await server.start_server()
    root, visitors = f"http://127.0.0.1:{server.port}", []

    def visit(before: Visitor | None = None) -> Visitor:
        visitors.append(Visitor(root, app, before))
        return visitors[-1]

    try:
        yield visit
    finally:
        for visitor in visitors:
            await visitor.http.close()
        await server.close()
