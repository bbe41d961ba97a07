"""The WebSocket between a seat and its browser.

The browser is sent the latest snapshot of its seat whenever it can take one: a slow browser skips snapshots,
and one that reads nothing at all is dropped, so no more than one message waits for any of them. It sends
`{"move": TEXT, "turn": NUMBER}`, or `{"leave": true}`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import orjson
from aiohttp import WSCloseCode, WSMsgType, web

from ludens.web.security import MAX_BODY, RateLimit
from ludens.web.sessions import Session

SOCKETS = web.AppKey("sockets", WeakSet[web.WebSocketResponse])
"""All that are open: a server that stops closes them first."""
HEARTBEAT = 20.0
"""Seconds between pings; a browser that does not answer one within half of that is dropped."""
SEND_SECONDS = 15.0
"""How long a browser may take to read a message."""
REPLACED = 4001
"""The close code of a browser whose seat was opened in another one."""
MESSAGES_PER_SECOND, BURST = 10.0, 40.0


class Browser:
    def __init__(self, socket: web.WebSocketResponse, snapshot: Callable[[], dict[str, Any]]) -> None:
        self._socket, self._snapshot = socket, snapshot
        self._changed = asyncio.Event()
        self._replaced = False
        self._notice = ""

    def notify(self) -> None:
        self._changed.set()

    def replace(self) -> None:
        self._replaced = True
        self._changed.set()

    def tell(self, notice: str) -> None:
        """Show the person a remark with the next snapshot."""
        self._notice = notice
        self._changed.set()

    async def write(self) -> None:
        """Send snapshots until the seat is taken by another browser or this one does not read."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._replaced:
                await self._socket.close(code=REPLACED, message=b"opened elsewhere")
                return
            message = self._snapshot()
            if self._notice:
                message["notice"], self._notice = self._notice, ""
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await self._socket.send_str(orjson.dumps(message).decode())
            except (TimeoutError, ConnectionError):
                return


async def close_all(app: web.Application) -> None:
    sockets = app[SOCKETS]
    code = WSCloseCode.GOING_AWAY
    await asyncio.gather(*(socket.close(code=code, message=b"stopped") for socket in list(sockets)))


async def serve(request: web.Request, session: Session, seat: str) -> web.WebSocketResponse:
    """Connect a browser to a seat until it leaves."""
    person = session.seats[seat]
    socket = web.WebSocketResponse(heartbeat=HEARTBEAT, max_msg_size=MAX_BODY, compress=False)
    await socket.prepare(request)
    request.app[SOCKETS].add(socket)
    await session.caught_up.wait()
    browser = Browser(socket, lambda: session.snapshot(seat))
    person.connect(browser)
    session.begin()
    session.changed()
    reader = asyncio.create_task(_read(socket, browser, session, seat))
    writer = asyncio.create_task(browser.write())
    try:
        await asyncio.wait([reader, writer], return_when=asyncio.FIRST_COMPLETED)
    finally:
        person.disconnect(browser)
        for task in (reader, writer):
            task.cancel()
        await asyncio.gather(reader, writer, return_exceptions=True)
        if not socket.closed and request.transport is not None:
            request.transport.abort()  # a closing handshake would wait for a browser that does not read
    return socket


async def _read(socket: web.WebSocketResponse, browser: Browser, session: Session, seat: str) -> None:
    limit = RateLimit(MESSAGES_PER_SECOND, BURST)
    async for message in socket:
        if message.type is not WSMsgType.TEXT:
            await socket.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"text messages only")
            return
        if not limit.allows(seat):
            await socket.close(code=WSCloseCode.POLICY_VIOLATION, message=b"too many messages")
            return
        problem = _obey(message.data, session, seat)
        if problem:
            browser.tell(problem)


def _obey(text: str, session: Session, seat: str) -> str:
    """Do what a message says; returns a remark for the person where that is not possible."""
    try:
        message = orjson.loads(text)
    except orjson.JSONDecodeError:
        message = None
    match message:
        case {"leave": True}:
            session.leave(seat)
            return ""
        case {"move": str(typed), "turn": int(number)} if not isinstance(number, bool):
            if session.ending:
                return "The game is over; this move does not count."
            return session.seats[seat].move(number, typed)
    return "This message was not understood."
