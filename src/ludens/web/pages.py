"""Pages and static files of the browser app."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from aiohttp import web
from jinja2 import Environment

from ludens.models.ledger import Budget
from ludens.run.report.page import STYLES, make_environment
from ludens.run.report.page import TEMPLATES as REPORT_TEMPLATES
from ludens.suites.people import StudyFile
from ludens.web.security import ServerAccess, address_of, checks_own_token


@dataclass(frozen=True)
class WebSettings:
    runs: Path = Path("runs")
    access: ServerAccess = field(default_factory=ServerAccess)
    study: StudyFile | None = None
    budget: Budget = field(default_factory=Budget)


MAX_WAITING = 64
"""Tasks of one address that may wait."""
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(eq=False)
class _Queue:
    turn: asyncio.Semaphore
    waiting: int = 0


class Threads:
    """Runs functions in threads, addresses in turn; refuses those of an address that has too many."""

    def __init__(self, name: str, threads: int, most: int, busy: str) -> None:
        self._pool, self._threads = ThreadPoolExecutor(threads, name), threads
        self._most, self._busy = most, busy
        self._queues: dict[str, _Queue] = {}

    async def run(self, address: str, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
        queue = self._queues.setdefault(address, _Queue(asyncio.Semaphore(self._threads)))
        if queue.waiting >= self._most:
            text = f"The server {self._busy} at once; try again in a moment."
            raise web.HTTPServiceUnavailable(text=text, headers={"Retry-After": "1"})
        queue.waiting += 1
        try:
            async with queue.turn:
                return await asyncio.wrap_future(self._pool.submit(work, *args, **more))
        finally:
            queue.waiting -= 1
            if not queue.waiting:
                del self._queues[address]

    def close(self) -> None:
        """Finish what runs, and drop what waits."""
        self._pool.shutdown(wait=True, cancel_futures=True)


RENDERER = web.AppKey("renderer", Threads)
_MAKERS = Threads("ludens-make", 4, 1_000, "makes too many games")


def make_renderer() -> Threads:
    return Threads("ludens-render", 1, MAX_WAITING, "draws too many pictures for you")


async def render(request: web.Request, work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    return await request.app[RENDERER].run(address_of(request), work, *args, **more)


async def aside(work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    """Make games, agents or first states in a thread."""
    return await _MAKERS.run("", work, *args, **more)


_FOLDER = Path(__file__).parent
STYLE = "style.css"
_TYPES = {".css": "text/css", ".js": "text/javascript"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the app and, for what they share, of reports."""
    return make_environment(_FOLDER / "templates", REPORT_TEMPLATES)


def page(template: str, *, status: int = 200, **context: Any) -> web.Response:
    text = environment().get_template(template).render(**context)
    return web.Response(text=text, status=status, content_type="text/html")


def attachment(data: bytes, content_type: str, name: str) -> web.Response:
    """A file that the browser saves under this name."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name.replace("/", "-"))
    headers = {"Content-Disposition": f'attachment; filename="{safe}"'}
    return web.Response(body=data, content_type=content_type, headers=headers)


def whole_number(text: str, below: int) -> int | None:
    """A number in an address; None where it is not a whole one below this limit."""
    valid = text.isascii() and text.isdigit() and len(text) < 10 and int(text) < below
    return int(text) if valid else None


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """Every static file: the scripts, and one style sheet that begins with those of reports."""
    scripts = [REPORT_TEMPLATES / "viewer.js", *sorted((_FOLDER / "static").glob("*.js"))]
    files = {file.name: file.read_bytes() for file in scripts}
    sheets = [*(REPORT_TEMPLATES / name for name in STYLES), *sorted((_FOLDER / "static").glob("*.css"))]
    files[STYLE] = b"\n".join(sheet.read_bytes() for sheet in sheets)
    return files


@checks_own_token
async def static(request: web.Request) -> web.Response:
    """One of `static_files`: the name is looked up, never joined to a path."""
    name = request.match_info["name"]
    data = static_files().get(name)
    if data is None:
        raise web.HTTPNotFound(text="There is no such file.")
    tag = sha256(data).hexdigest()[:32]
    headers = {"Cache-Control": "no-cache", "ETag": f'"{tag}"'}
    if any(etag.value == tag for etag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    kind = _TYPES[Path(name).suffix]
    return web.Response(body=data, content_type=kind, charset="utf-8", headers=headers)
