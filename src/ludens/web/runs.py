"""The page of a run: its results while it is played, and its episodes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any
from urllib.parse import quote

from aiohttp import web

from ludens.web.home import CATALOGUE
from ludens.web.listing import KINDS, Query, linker, listing
from ludens.web.live import LiveRun, LiveRuns, RunGone
from ludens.web.pages import page
from ludens.web.security import may_be_linked
from ludens.web.settings import Settings

LIVE = web.AppKey("live", LiveRuns)
_NAME = "{run:.+}"


def add_routes(app: web.Application, settings: Settings) -> None:
    """Add the page of a run."""
    app[LIVE] = LiveRuns()
    app.cleanup_ctx.append(_reading)
    app.router.add_get(f"/run/{_NAME}", run_page)
    app.router.add_get(f"/run-results/{_NAME}", run_results)


async def _reading(app: web.Application) -> AsyncIterator[None]:
    """Load what the first page would wait for; stop reading at the end."""
    loading = asyncio.create_task(asyncio.to_thread(import_module, "scipy.stats"))
    yield
    await app[LIVE].close()
    await loading


async def live_run(request: web.Request) -> LiveRun:
    """The run that a request names, read as far as there was time."""
    name = request.match_info["run"]
    folder = await asyncio.to_thread(request.app[CATALOGUE].folder, name)
    if folder is None:
        raise web.HTTPNotFound(text="There is no such run; it may have been deleted.")
    run = await request.app[LIVE].get(name, folder)
    try:
        await run.update()
    except RunGone as gone:
        raise web.HTTPGone(text=str(gone)) from None
    return run


@may_be_linked
async def run_page(request: web.Request) -> web.Response:
    """The whole page."""
    run = await live_run(request)
    context = await asyncio.to_thread(_context, run, request)
    return page("run.html", title=run.name, **context)


async def run_results(request: web.Request) -> web.Response:
    """The parts of the page that change; nothing if they are as in the version the browser has."""
    run = await live_run(request)
    if run.snapshot is not None and request.query.get("version") == _version(run):
        return web.Response(status=204)
    context = await asyncio.to_thread(_context, run, request)
    return page("run_parts.html", **context)


def _version(run: LiveRun) -> str:
    return f"{run.snapshot.version if run.snapshot else 0}-{run.end}-{run.size}"


def _context(run: LiveRun, request: web.Request) -> dict[str, Any]:
    snapshot, query = run.snapshot, Query.of(request.query)
    shown = snapshot.results.suites if snapshot else ()
    done = planned = 0
    for found in shown:
        for row in found.rows:
            done += sum(len(cell.episodes) for cell in row.cells.values())
            planned += sum(cell.planned for cell in row.cells.values())
    return {
        "run": run,
        "suites": snapshot.suites if snapshot else (),
        "done": done,
        "planned": planned,
        "version": _version(run),
        "live": not run.error and (not run.read_all or done < planned or not snapshot),
        "query": query,
        "listing": listing(snapshot, query) if snapshot else None,
        "tasks": [(name, name) for found in shown for name in found.tasks],
        "entrants": [(row.name, row.label) for found in shown for row in found.rows],
        "kinds": [(kind, kind) for kind in KINDS],
        "link": linker(run.name),
        "quote": quote,
    }
