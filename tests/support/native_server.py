"""A server on loopback that plays back answers in vendors' own formats: one entry of a script a request."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.scenarios import Item, half, hang, reset


@dataclass(frozen=True)
class Scene:
    """What one request gets. `fault` is one of reset, half, hang; otherwise status and body."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass
class NativeServer:
    """Answers any request with the next scene, the last one for ever; only those of POST are kept."""

    script: Sequence[Scene]
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    received: int = 0
    """Requests of any method."""
    url: str = ""

    async def __aenter__(self) -> NativeServer:
        app = web.Application(client_max_size=2**28)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.received += 1
        if request.method != "POST":
            return web.Response(status=405)
        body = json.loads(await request.read())
        scene = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(body)
        self.paths.append(request.path)
        self.headers.append(dict(request.headers))
        if scene.fault:
            faults = {"reset": reset, "half": half, "hang": hang}
            return await faults[scene.fault](Item(request, body, str))
        text = scene.body if isinstance(scene.body, str) else json.dumps(scene.body)
        return web.Response(
            status=scene.status, text=text, content_type="application/json", headers=scene.headers
        )
