"""Connections that send nothing, send slowly or do not read: they stop nobody else, and fill no log."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from ludens.web import connections, home, security
from ludens.web.app import make_app
from ludens.web.connections import FewLines, listen, mark_busy
from ludens.web.pages import WebSettings
from tests.web.conftest import Serve

FILES, HALF_OPEN, BURST = 160, 300, 10
PARTIAL = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
Listen = Callable[[web.Application], Awaitable[int]]


@pytest.fixture
async def listening() -> AsyncIterator[Listen]:
    """Serves an app within the limits; returns its port."""
    closing: list[tuple[web.AppRunner, asyncio.Server]] = []

    async def start(app: web.Application) -> int:
        closing.append(await listen(app, "127.0.0.1", 0))
        port: int = closing[-1][1].sockets[0].getsockname()[1]
        return port

    yield start
    for runner, server in closing:
        server.close()
        await runner.cleanup()


async def closed_by_server(reader: asyncio.StreamReader) -> bytes:
    """What the server sends before it closes the connection."""
    async with asyncio.timeout(60):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def test_half_open_connections_do_not_stop_the_server(tmp_path: Path) -> None:
    """More of them than the process has file descriptors, from one address or several."""
    with (tmp_path / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "ludens", "web", str(tmp_path), "--no-open", "--port", "0",
            stdout=asyncio.subprocess.PIPE, stderr=log,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
        )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        port = int(line.partition("127.0.0.1:")[2].partition("/")[0])
        for addresses in (1, 5):
            with ExitStack() as open_sockets:
                for number in range(HALF_OPEN):
                    source = (f"127.0.0.{2 + number % addresses}", 0)
                    half = socket.create_connection(("127.0.0.1", port), 60, source)
                    open_sockets.enter_context(half).sendall(PARTIAL)
                    if number % BURST == 0:  # a full queue of the server would cost seconds
                        await asyncio.sleep(0.02)
                for path in ("/", "/game-picture?game=tic_tac_toe", "/runs"):  # opens files, too
                    async with (
                        asyncio.timeout(60),
                        ClientSession(f"http://127.0.0.1:{port}") as client,
                        client.get(path) as reply,
                    ):
                        assert reply.status == 200, (addresses, path)
    finally:
        process.kill()
        await process.communicate()
    assert (tmp_path / "log").stat().st_size < 20_000


async def test_a_request_must_arrive_in_time(
    listening: Listen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.2)
    monkeypatch.setattr(connections, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr(security, "BODY_SECONDS", 0.2)
    port = await listening(make_app(WebSettings(tmp_path)))
    origin = f"Origin: http://127.0.0.1:{port}\r\n".encode()
    host = f"Host: 127.0.0.1:{port}\r\n".encode()
    for sent, status in (
        (b"", b""),
        (PARTIAL, b""),
        (b"GET /runs HTTP/1.1\r\n" + host + b"\r\n" + PARTIAL, b"200 OK"),
        (b"POST /play HTTP/1.1\r\n" + host + origin + b"Content-Length: 9\r\n\r\nx", b"408 Request Timeout"),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        line = (await closed_by_server(reader)).partition(b"\r\n")[0]
        assert line == (b"HTTP/1.1 " + status if status else b""), sent
        writer.close()


async def test_a_browser_that_does_not_read_is_dropped(
    listening: Listen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "READ_SECONDS", 0.2)
    dropped = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        reply = web.StreamResponse()
        await reply.prepare(request)
        try:
            while True:
                await reply.write(b"x" * 2**20)
        except ConnectionError:
            dropped.set()
        return reply

    app = web.Application(middlewares=[mark_busy])
    app.router.add_get("/", endless)
    _, writer = await asyncio.open_connection("127.0.0.1", await listening(app), limit=1024)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(60):
        await dropped.wait()
    writer.close()


@pytest.mark.parametrize("sent", [b"", PARTIAL, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"])
async def test_connections_of_an_address_are_limited(
    sent: bytes, listening: Listen, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """One that waits makes room; those whose requests are being answered stay."""
    monkeypatch.setattr(connections, "MOST_PER_ADDRESS", 3)
    go, busy = asyncio.Event(), 0

    async def wait(request: web.Request) -> web.Response:
        nonlocal busy
        await request.read()
        busy += 1
        await go.wait()
        return web.Response(text="done")

    app = web.Application(middlewares=[mark_busy])
    app.router.add_route("*", "/", wait)
    port = await listening(app)
    silent, silent_writer = await asyncio.open_connection("127.0.0.1", port)
    silent_writer.write(sent)
    answered = []
    for number in range(3):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        async with asyncio.timeout(60):
            while busy <= number:
                await asyncio.sleep(0.01)
        answered.append((reader, writer))
    assert await closed_by_server(silent) == b""
    fourth, fourth_writer = await asyncio.open_connection("127.0.0.1", port)
    assert await closed_by_server(fourth) == b""
    assert "refused a connection of 127.0.0.1" in caplog.text
    elsewhere, elsewhere_writer = await asyncio.open_connection(
        "127.0.0.1", port, local_addr=("127.0.0.9", 0)
    )
    elsewhere_writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    go.set()
    for reader, _ in (*answered, (elsewhere, None)):
        assert (await closed_by_server(reader)).endswith(b"done")
    for writer in (silent_writer, fourth_writer, elsewhere_writer, *(writer for _, writer in answered)):
        writer.close()


async def test_pictures_do_not_keep_the_home_page_waiting(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(home, "position", lambda *_: (go.wait(60) and b"", ""))
    client = await serve(tmp_path)
    pictures = [asyncio.create_task(client.get(f"/game-picture?game=qa&seed={n}")) for n in range(99)]
    try:
        async with asyncio.timeout(60):
            refused, _ = await asyncio.wait(pictures, return_when=asyncio.FIRST_COMPLETED)
            assert {task.result().status for task in refused} == {503}
            assert (await client.get("/")).status == 200
    finally:
        go.set()
        replies = await asyncio.gather(*pictures)
    assert [reply.status for reply in replies].count(200) == 64


def test_a_place_in_the_code_logs_some_lines_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr(connections, "monotonic", lambda: now)
    caplog.handler.addFilter(limit := FewLines(3))
    log = logging.getLogger("tests.few_lines")
    try:
        for minute in range(2):
            now = 100.0 + 61 * minute
            for number in range(50):
                log.warning("trouble %d", number)
        log.error("something else")
    finally:
        caplog.handler.removeFilter(limit)
    assert [record.getMessage() for record in caplog.records] == [
        "trouble 0", "trouble 1", "trouble 2",
        "trouble 0 (47 such messages were left out)", "trouble 1", "trouble 2",
        "something else",
    ]  # fmt: skip
