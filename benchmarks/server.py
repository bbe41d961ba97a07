"""The model server of `ludens bench client` and `ludens bench runs`: `python server.py LATENCY`.

Answers every prompt with the first legal action it lists, after a delay. Prints its port and serves until its
standard input closes. Imports nothing but asyncio, so that it costs as little CPU as possible.
"""

from __future__ import annotations

import asyncio
import sys

_BODY = (
    b'{"id":"x","object":"chat.completion","created":1,"model":"bench","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":"Action: %s"},"finish_reason":"stop","logprobs":null}],'
    b'"usage":{"prompt_tokens":700,"completion_tokens":4,"total_tokens":704}}'
)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_LEGAL = b"legal actions: "
_DEFAULT = b"a1"


class _Protocol(asyncio.Protocol):
    """Splits requests by their Content-Length and answers each after a delay."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._buffer = bytearray()
        self._end = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while True:
            if not self._end:
                head = self._buffer.find(b"\r\n\r\n")
                if head < 0:
                    return
                length = bytes(self._buffer[:head]).lower().split(b"content-length:")[1].split(b"\r\n")[0]
                self._end = head + 4 + int(length)
            if len(self._buffer) < self._end:
                return
            action = first_legal(self._buffer, self._end)
            del self._buffer[: self._end]
            self._end = 0
            asyncio.get_running_loop().call_later(self._latency, self._answer, action)

    def _answer(self, action: bytes) -> None:
        if not self._transport.is_closing():
            body = _BODY % action
            self._transport.write(_HEAD % len(body) + body)


def first_legal(request: bytearray, end: int) -> bytes:
    """The first action in the last list of legal actions, as spelled in the JSON body."""
    place = request.rfind(_LEGAL, 0, end)
    if place < 0:
        return _DEFAULT
    start = place + len(_LEGAL)
    return bytes(request[start : request.find(b"\\n", start, end)]).split(b",", 1)[0]


async def serve(latency: float) -> None:
    """Serve on a free loopback port until standard input closes."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Protocol(latency), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
