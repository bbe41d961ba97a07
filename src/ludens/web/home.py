"""The home page: games and runs."""

from __future__ import annotations

from aiohttp import web

from ludens.web.pages import page
from ludens.web.settings import Settings


def add_routes(app: web.Application, settings: Settings) -> None:
    """Add the home page."""
    app.router.add_get("/", home)


async def home(request: web.Request) -> web.Response:
    """Games and runs."""
    return page("home.html", title="Ludens")
