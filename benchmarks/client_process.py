"""Measures one client in its own process: `python client_process.py CLIENT URL PICTURE CALLS CONCURRENCY`.

Each client gets the same PNG and does the same work for every call: base64, body, HTTP, reading the answer.
Counts the CPU time of the whole process after a warm-up. Imports only the client it measures, so that it also
runs in an environment without Ludens.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time

Call = Callable[[], Awaitable[str]]
Close = Callable[[], Awaitable[None]]
QUESTION = "Which square is free? Reply with a line 'Action: ...'."
EXPECTED = "Action: a1"
_NAME = "bench"


def ludens(url: str, png: bytes, concurrency: int) -> tuple[str, Call, Close]:
    """Our client."""
    from ludens.models import Message, Request, model

    class Encoded:
        """A picture that is already encoded."""

        hash, width, height = "0" * 16, 128, 128

        def matches(self, recorded: str) -> bool:
            return recorded == self.hash

        def png(self) -> bytes:
            return png

        def encoded(self) -> tuple[bytes, str]:
            return png, "image/png"

        def rgb(self) -> None:
            raise NotImplementedError

        def data_uri(self) -> str:
            return _uri(png)

        def blank(self) -> Encoded:
            return self

    client = model(f"vllm/{_NAME}@{url}?concurrency={concurrency}&max_tokens=64&temperature=0")

    async def call() -> str:
        answer = await client.answer(Request([Message("user", (Encoded(), QUESTION))]))
        return answer.text

    return version("ludens"), call, client.close


def openai(url: str, png: bytes, concurrency: int) -> tuple[str, Call, Close]:
    """The openai SDK."""
    from openai import AsyncOpenAI  # type: ignore[import-not-found,unused-ignore]

    client = AsyncOpenAI(api_key="none", base_url=url)

    async def call() -> str:
        image = {"type": "image_url", "image_url": {"url": _uri(png)}}
        content = [image, {"type": "text", "text": QUESTION}]
        answer = await client.chat.completions.create(
            model=_NAME, messages=[{"role": "user", "content": content}], max_tokens=64, temperature=0
        )
        return str(answer.choices[0].message.content)

    return version("openai"), call, client.close


def inspect(url: str, png: bytes, concurrency: int) -> tuple[str, Call, Close]:
    """Inspect AI."""
    from inspect_ai.model import (
        ChatMessageUser,
        ContentImage,
        ContentText,
        GenerateConfig,
        get_model,
    )

    config = GenerateConfig(max_connections=concurrency, max_tokens=64, temperature=0)
    client = get_model(f"openai/{_NAME}", base_url=url, api_key="none", config=config, responses_api=False)

    async def call() -> str:
        content = [ContentImage(image=_uri(png)), ContentText(text=QUESTION)]
        return str((await client.generate([ChatMessageUser(content=content)])).completion)

    return version("inspect-ai"), call, client.api.aclose


CLIENTS = {"ludens": ludens, "openai": openai, "inspect": inspect}


def _uri(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


async def measure(name: str, url: str, png: bytes, calls: int, concurrency: int) -> dict[str, object]:
    """CPU and wall milliseconds per call, with `concurrency` calls in flight all the time."""
    number, call, close = CLIENTS[name](url, png, concurrency)

    async def run(amount: int) -> None:
        remaining = iter(range(amount))

        async def worker() -> None:
            for _ in remaining:
                text = await call()
                if text != EXPECTED:
                    raise SystemExit(f"{name} read {text!r} instead of {EXPECTED!r}")

        await asyncio.gather(*(worker() for _ in range(concurrency)))

    await run(4 * concurrency)
    cpu, wall = process_time(), perf_counter()
    await run(calls)
    cpu, wall = process_time() - cpu, perf_counter() - wall
    await close()
    return {
        "client": name,
        "version": number,
        "calls": calls,
        "cpu_ms": 1000 * cpu / calls,
        "wall_ms": 1000 * wall / calls,
    }


if __name__ == "__main__":
    _, client_name, url, picture, calls, concurrency = sys.argv
    png = Path(picture).read_bytes()
    print(json.dumps(asyncio.run(measure(client_name, url, png, int(calls), int(concurrency)))), flush=True)
