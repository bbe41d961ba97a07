"""The terminal: reads lines on the event loop, without a thread, and wraps text to its width."""

from __future__ import annotations

import asyncio
import os
import sys
from textwrap import wrap
from typing import TextIO
from weakref import WeakKeyDictionary

_typed = bytearray()
"""Input that was read but not yet requested."""
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


_MIN_WIDTH = 20


def width_of(stream: TextIO) -> int | None:
    """The width of the terminal that a stream writes to; None where it is not a terminal."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return None
    return max(columns, _MIN_WIDTH) if columns else None


def wrapped(text: str, width: int | None) -> str:
    """The text with longer lines broken between words; continuation lines keep the indentation."""
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return "\n".join(
        wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    )


def lock() -> asyncio.Lock:
    """The lock of the terminal: two people at one terminal are asked one after the other."""
    return _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def line(prompt: str) -> str:
    """The next line of standard input without its newline; raises `EOFError` at the end."""
    print(prompt, end="", file=sys.stderr, flush=True)
    try:
        source = sys.stdin.fileno()
    except (OSError, ValueError):  # replaced by an object that is not a file
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
    """Wait until there is input or the end of it."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(source, ready.set)
    except PermissionError:  # regular files are always ready and cannot be watched
        return
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source)
