"""Serving an ASGI application on a port, for `ludens mcp` and `ludens openenv`."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from ludens.core.errors import BadOption


async def serve_app(app: Any, host: str, port: int, announce: Callable[[int], None]) -> None:
    """Serve until interrupted; port 0 takes a free one. `announce` gets the port once clients can connect."""
    import uvicorn

    if not 0 <= port <= 65_535:
        raise BadOption(f"--port must be 0 to 65535, not {port}.")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise BadOption(f"cannot listen on {host}:{port}: {error.strerror or error}.") from None
    listening.listen(100)  # connections wait while the application starts
    announce(listening.getsockname()[1])
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])
