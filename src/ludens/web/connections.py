"""Limits of connections: how many, for how long without a request, and how much is logged about them.

Connections are refused before the process has no file descriptors left. Where an address, or the server, has
as many as it may, a new connection takes the place of the one that has waited longest without a request: so
connections that send nothing cannot keep people out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import cast

from aiohttp import web

from ludens.web.security import Handler, Network, is_trusted, limited_by

LOG = logging.getLogger(__name__)

HEADER_SECONDS = 15.0
"""How long the first request of a connection may take to arrive."""
IDLE_SECONDS = 30.0
"""How long a connection is kept for the next request."""
LINGER_SECONDS = 10.0
"""How long to wait for the rest of a request that was answered early before its connection is closed."""
READ_SECONDS = 60.0
"""How long a browser may take to read a part of what it is sent."""
MOST_FILES = 8_192
"""File descriptors that the server asks the system for."""
MOST_PER_ADDRESS = 512

_LINES_PER_MINUTE = 5


class Connection(asyncio.Protocol):
    """One connection: what aiohttp does with it, within the limits."""

    def __init__(self, served: asyncio.Protocol, all_connections: Connections) -> None:
        self.address = ""
        self.busy = False
        self._served, self._all = served, all_connections
        self._transport: asyncio.Transport | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")
        if not self._all.admit(self, peer[0] if peer else ""):
            self._transport.abort()
            self._transport = None
            return
        self._served.connection_made(transport)
        self._abort_after(HEADER_SECONDS)

    def data_received(self, data: bytes) -> None:
        self._served.data_received(data)

    def eof_received(self) -> bool | None:
        return self._served.eof_received()

    def pause_writing(self) -> None:
        self._served.pause_writing()
        self._abort_after(READ_SECONDS)

    def resume_writing(self) -> None:
        self._served.resume_writing()
        self._keep()

    def connection_lost(self, error: Exception | None) -> None:
        self._keep()
        if self._transport is not None:
            self._transport = None
            self._all.forget(self)
            self._served.connection_lost(error)

    def begin_request(self, has_body: bool) -> None:
        self.busy = not has_body
        self._keep()

    def end_request(self) -> None:
        self.busy = False
        self._all.renew(self)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _abort_after(self, seconds: float) -> None:
        self._keep()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self.abort)

    def _keep(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Connections:
    """All connections of a server. Trusted proxies may have as many as there are."""

    def __init__(self, most: int, proxies: Sequence[Network] = ()) -> None:
        self._most, self._proxies = most, proxies
        self._most_per_address = max(1, min(MOST_PER_ADDRESS, most // 2))
        self._open: dict[str, dict[Connection, None]] = {}
        """By address; those that have waited longest come first."""
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def admit(self, connection: Connection, address: str) -> bool:
        """Count a connection; False where it must be refused."""
        connection.address = limited_by(address)
        group = self._open.get(connection.address, {})
        rivals: list[dict[Connection, None]] = []
        if len(group) >= self._most_per_address and not is_trusted(address, self._proxies):
            rivals = [group]
        elif self._number >= self._most:
            rivals = sorted(self._open.values(), key=len, reverse=True)
        if rivals and not self._drop_waiting(rivals):
            LOG.warning(
                "refused a connection of %s, which has %d of %d", connection.address, len(group), self._number
            )
            return False
        self._open.setdefault(connection.address, {})[connection] = None
        self._number += 1
        return True

    def renew(self, connection: Connection) -> None:
        group = self._open.get(connection.address, {})
        if connection in group:
            del group[connection]
            group[connection] = None

    def forget(self, connection: Connection) -> None:
        group = self._open.get(connection.address, {})
        if connection in group:
            del group[connection]
            self._number -= 1
            if not group:
                del self._open[connection.address]

    def _drop_waiting(self, groups: Iterable[dict[Connection, None]]) -> bool:
        """Close the connection that has waited longest for a request in the first group that has one."""
        waiting = (connection for group in groups for connection in group if not connection.busy)
        oldest = next(waiting, None)
        if oldest is None:
            return False
        self.forget(oldest)
        oldest.abort()
        return True


@web.middleware
async def mark_busy(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Mark the connection of a request as busy while it is answered."""
    connection = request.transport.get_protocol() if request.transport is not None else None
    if not isinstance(connection, Connection):
        return await handler(request)
    connection.begin_request(request.can_read_body)
    try:
        return await handler(request)
    finally:
        connection.end_request()


async def listen(
    app: web.Application, host: str, port: int, proxies: Sequence[Network] = ()
) -> tuple[web.AppRunner, asyncio.Server]:
    files = _raise_file_limit()
    # asyncio accepts a whole backlog before it shows the first connection. What remains is for files, and for
    # connections to models.
    backlog, most = min(128, max(1, files // 8)), max(1, files * 5 // 8)
    connections = Connections(most, proxies)
    runner = web.AppRunner(
        app,
        access_log=None,
        shutdown_timeout=2,
        keepalive_timeout=IDLE_SECONDS,
        lingering_time=LINGER_SECONDS,
    )
    await runner.setup()
    serve = runner.server
    assert serve is not None
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: Connection(serve(), connections), host, port, backlog=backlog
        )
    except BaseException:  # an invalid host name raises UnicodeError, not OSError
        await runner.cleanup()
        raise
    return runner, server


def _raise_file_limit() -> int:
    """Raise the limit of file descriptors where the system allows it; returns the limit."""
    try:
        import resource
    except (
        ImportError
    ):  # Windows has no limit that a process can raise, and connections do not count as files
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MOST_FILES if hard == resource.RLIM_INFINITY else min(MOST_FILES, hard)
    if soft == resource.RLIM_INFINITY or soft >= files:
        return MOST_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return files


@contextmanager
def short_log() -> Iterator[None]:
    """Print warnings on stderr, but not too many: visitors must not fill a disk with them."""
    log = logging.StreamHandler()
    log.setLevel(logging.WARNING)
    log.addFilter(FewLines())
    logging.getLogger().addHandler(log)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(log)


class FewLines(logging.Filter):
    """Lets each place in the code log some lines a minute, and says how many it left out."""

    def __init__(self, most: int = _LINES_PER_MINUTE) -> None:
        super().__init__()
        self._most = most
        self._places: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        place = (record.pathname, record.lineno, record.exc_info[0] if record.exc_info else None)
        now = monotonic()
        since, count = self._places.get(place, (now, 0))
        if now - since >= 60:
            if count > self._most:
                record.msg = f"{record.getMessage()} ({count - self._most:,} such messages were left out)"
                record.args = ()
            since, count = now, 0
        self._places[place] = since, count + 1
        return count < self._most
