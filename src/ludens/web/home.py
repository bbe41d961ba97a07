"""The home page: games and runs."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

from aiohttp import web

from ludens.web.catalogue import Catalogue
from ludens.web.gallery import cards, game_picture, game_text
from ludens.web.pages import page
from ludens.web.security import may_be_linked
from ludens.web.settings import Settings

CATALOGUE = web.AppKey("catalogue", Catalogue)


def add_routes(app: web.Application, settings: Settings) -> None:
    """Add the home page."""
    app[CATALOGUE] = Catalogue(settings.runs)
    app.router.add_get("/", home)
    app.router.add_get("/runs", runs)
    app.router.add_get("/game-picture", game_picture)
    app.router.add_get("/game-text", game_text)


@may_be_linked
async def home(request: web.Request) -> web.Response:
    """Games and runs."""
    games = await asyncio.to_thread(cards)  # not where pictures wait
    found = await asyncio.to_thread(request.app[CATALOGUE].runs)
    root = request.app[CATALOGUE].root
    return page("home.html", title="Ludens", games=games, runs=found, root=root, **_FILTERS)


async def runs(request: web.Request) -> web.Response:
    """The list of runs only: scripts replace it while the page is open."""
    found = await asyncio.to_thread(request.app[CATALOGUE].runs)
    return page("runs.html", runs=found, root=request.app[CATALOGUE].root, **_FILTERS)


def picture_address(game: str, seed: int) -> str:
    """The address of a picture in the gallery."""
    return f"/game-picture?{urlencode({'game': game, 'seed': seed})}"


def when(seconds: float) -> str:
    """A moment as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


_FILTERS: dict[str, Any] = {"picture_address": picture_address, "when": when, "quote": quote}
