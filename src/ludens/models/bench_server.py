"""The other end of `ludens bench client`: a server in a process of its own that answers every picture alike.

It prints its port, serves until its standard input closes, and does as little as it can.
"""

from __future__ import annotations

import asyncio
import sys

ANSWER = (
    b'{"id":"x","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"Action: a1"},"finish_reason":"stop","logprobs":null}],'
    b'"usage":{"prompt_tokens":300,"completion_tokens":4,"total_tokens":304}}'
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)


class _Answering(asyncio.Protocol):
    """Reads requests by their length and answers each after a pause."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self._buffer) < end + 4 + length:
                return
            del self._buffer[: end + 4 + length]
            asyncio.get_running_loop().call_later(self._latency, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(HEAD + ANSWER)


async def serve(latency: float) -> None:
    """Serve on a free port of loopback until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Answering(latency), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
