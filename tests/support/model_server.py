"""A model server on loopback that speaks the OpenAI chat format, and misbehaves on cue.

    async with ModelServer(script=["429", "reset", "half"]) as server:
        ...                     # the first three requests go wrong, each in its way, all others well

    python -m tests.support.model_server --port 8000 --chaos 0.2 --latency 0.2

Its model is deterministic: what it replies is a function of the prompt alone, so a run against it gives the
same episodes in whatever order the calls arrive. It picks from the legal actions that the prompt lists.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from signal import SIGINT, SIGTERM
from time import monotonic
from typing import Any

from aiohttp import web

from tests.support.scenarios import SCENARIOS, Item

Responder = Callable[[str, bytes], str]
"""Prompt and a hash of the whole request (pictures too) to reply."""

PASSING = ("429", "500", "502", "503", "504", "reset", "half", "wrong_json", "empty_choices")


def pick(prompt: str, digest: bytes) -> str:
    """One of the legal actions in the prompt, by its hash; a greeting where none are listed."""
    lists = re.findall(r"legal actions[^:\n]*:\s*([^\n]+)", prompt, re.IGNORECASE)
    if not lists:
        return f"Hello from {digest.hex()[:6]}."
    actions = [action.strip() for action in lists[-1].split(",")]
    return f"Action: {actions[int.from_bytes(digest[:4], 'big') % len(actions)]}"


@dataclass
class ModelServer:
    """Answers `/v1/chat/completions`. `script` names what each request meets, in order of arrival."""

    script: Sequence[str] = ()
    player: Responder = pick
    latency: float = 0.0
    key: str | None = None
    model: str | None = None
    """The only model there is; None knows every name."""
    unwanted: Sequence[str] = ()
    """Options that are refused the way OpenAI refuses them."""
    chaos: float = 0.0
    """Share of requests that meet passing trouble, chosen by their number."""
    port: int = 0

    requests: list[dict[str, Any]] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    """When each request came, by the monotonic clock."""
    met: Counter[str] = field(default_factory=Counter)
    """How often each scenario was met; `ok` counts good answers."""
    busiest: int = 0
    """The most requests that were in flight at the same time."""
    _flying: int = 0
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """What a spec takes as address."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> None:
        """Listen; after `stop`, on the same port as before."""
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Hang up on everybody and listen no more."""
        runner, self._runner = self._runner, None
        if runner:
            await runner.cleanup()

    async def __aenter__(self) -> ModelServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self._flying += 1
        self.busiest = max(self.busiest, self._flying)
        try:
            body = json.loads(await request.read())
            number = len(self.requests)
            self.requests.append(body)
            self.arrivals.append(monotonic())
            if self.latency:
                await asyncio.sleep(self.latency)
            name = self._scenario(number, request.headers.get("Authorization", ""))
            self.met[name] += 1
            # Of the conversation alone: options may be adapted from call to call.
            digest = blake2b(json.dumps(body["messages"]).encode(), digest_size=16).digest()
            asked = Item(request, body, lambda: self.player(_words(body), digest))
            return await SCENARIOS[name](asked)
        finally:
            self._flying -= 1

    def _scenario(self, number: int, credentials: str) -> str:
        body = self.requests[number]
        if number < len(self.script):
            return self.script[number]
        if self.key is not None and credentials != f"Bearer {self.key}":
            return "bad_key"
        if self.model is not None and body["model"] != self.model:
            return "unknown_model"
        if any(option in body for option in self.unwanted):
            return "unwanted_" + next(option for option in self.unwanted if option in body)
        if self.chaos:
            draw = int.from_bytes(blake2b(str(number).encode(), digest_size=4).digest(), "big")
            if draw % 1000 < self.chaos * 1000:
                return PASSING[draw // 1000 % len(PASSING)]
        return "ok"


def _words(body: dict[str, Any]) -> str:
    """Every text of a request, in order."""
    words = []
    for message in body["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        words += [part["text"] for part in parts if part["type"] == "text"]
    return "\n".join(words)


async def _main(arguments: argparse.Namespace) -> None:
    server = ModelServer(
        script=[name for name in arguments.script.split(",") if name],
        latency=arguments.latency,
        chaos=arguments.chaos,
        port=arguments.port,
    )
    async with server:
        print(server.url, flush=True)
        stopped = asyncio.Event()
        for signal in (SIGINT, SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signal, stopped.set)
        await stopped.wait()
        print(json.dumps(server.met), file=sys.stderr, flush=True)


def main() -> None:
    """Serve until interrupted: the address goes to stdout, what was met to stderr."""
    parser = argparse.ArgumentParser(description="A model server that misbehaves on cue.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", default="", help=f"what requests meet, in order: {', '.join(SCENARIOS)}")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer")
    parser.add_argument("--chaos", type=float, default=0.0, help="share of requests that meet trouble")
    asyncio.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
