"""For the organiser: the games that are being played, with what every seat sees."""

from __future__ import annotations

from collections.abc import Iterator

from aiohttp import web

from ludens.web.pages import WebSettings, page
from ludens.web.play import TABLES
from ludens.web.security import ACCESS
from ludens.web.sessions import Session
from ludens.web.study import ROOM


def add_routes(app: web.Application, settings: WebSettings) -> None:
    app.router.add_get("/watch", overview)
    app.router.add_get("/watch/{session}", watch)


def _sessions(app: web.Application) -> Iterator[Session]:
    yield from app[TABLES].sessions.values()
    if ROOM in app:
        yield from (game.session for game in app[ROOM].all_games())


def _check(request: web.Request) -> None:
    if not request.app[ACCESS].is_organiser(request):
        raise web.HTTPForbidden(
            text="Only the organiser may look into games that are being played; replay them after the end."
        )


async def overview(request: web.Request) -> web.Response:
    _check(request)
    games = [session for session in _sessions(request.app) if session.playing]
    return page("watch.html", title="Games being played", games=games)


async def watch(request: web.Request) -> web.Response:
    _check(request)
    name = request.match_info["session"]
    session = next((each for each in _sessions(request.app) if each.id == name), None)
    if session is None or session.state is None:
        raise web.HTTPNotFound(text="This game is not being played.")
    setup, state = session.setup, session.state
    seats = [
        {
            "seat": seat,
            "spec": setup.specs[seat],
            "to_act": seat in state.to_act,
            "observation": setup.view.observe(state, seat, "both"),
        }
        for seat in setup.game.seats
    ]
    return page("watched.html", title=f"{setup.game.name}, seed {setup.seed}", seats=seats, session=session)
