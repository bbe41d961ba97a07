"""Lines typed by people, read on the event loop: no thread stays behind when a game is interrupted."""

from __future__ import annotations

import asyncio
import os
import sys
from weakref import WeakKeyDictionary

_typed = bytearray()
"""What was typed ahead: read, and not yet asked for."""
_floors: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


def floor() -> asyncio.Lock:
    """Held while one person is shown something and answers, so that two at one terminal take turns."""
    return _floors.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def line(prompt: str) -> str:
    """The next line of standard input without its end; `EOFError` when there is none."""
    print(prompt, end="", file=sys.stderr, flush=True)
    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):  # not a file: somebody has put another object there
        return _ended(sys.stdin.readline())
    while b"\n" not in _typed:
        await _readable(source)
        more = os.read(source, 65536)
        if not more:
            rest = bytes(_typed)
            _typed.clear()
            return _ended(rest.decode(errors="replace"))
        _typed.extend(more)
    first, _, rest = bytes(_typed).partition(b"\n")
    _typed[:] = rest
    return first.decode(errors="replace").rstrip("\r")


def _ended(text: str) -> str:
    if not text:
        raise EOFError
    return text.removesuffix("\n")


async def _readable(source: int) -> None:
    """Wait until there is something to read, or the end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except PermissionError:  # a plain file is always ready, and the loop refuses to watch it
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
