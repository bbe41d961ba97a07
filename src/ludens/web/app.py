"""The web application: its routes, and what they share."""

from __future__ import annotations

import logging
from collections.abc import Callable

from aiohttp import web

from ludens.core.errors import UsageError
from ludens.web import episodes, home, play, replies, runs, study, watch
from ludens.web.connections import mark_busy
from ludens.web.pages import RENDERER, WebSettings, make_renderer, page, static
from ludens.web.security import ACCESS, MAX_BODY, Handler, RateLimit, add_headers, guard
from ludens.web.spending import SPENDING, Spending

LOG = logging.getLogger(__name__)
_KEPT = ("Allow", "Retry-After")
"""Headers of an error that its page has too."""

PARTS: tuple[Callable[[web.Application, WebSettings], None], ...] = (
    home.add_routes,
    runs.add_routes,
    episodes.add_routes,
    replies.add_routes,
    play.add_routes,
    study.add_routes,
    watch.add_routes,
)
"""Each part of the app adds its routes, and what it needs at startup and shutdown."""


def make_app(settings: WebSettings, limit: RateLimit | None = None) -> web.Application:
    middlewares = [mark_busy, _errors, guard(settings.access, limit)]
    app = web.Application(middlewares=middlewares, client_max_size=MAX_BODY)
    app.on_response_prepare.append(add_headers)
    app[ACCESS] = settings.access
    app[RENDERER] = make_renderer()
    app[SPENDING] = Spending(settings.budget)
    app.on_cleanup.append(_close)
    app.router.add_get("/static/{name}", static)
    for add_routes in PARTS:
        add_routes(app, settings)
    return app


async def _close(app: web.Application) -> None:
    app[RENDERER].close()
    await app[SPENDING].close()


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        return _error(request, error.status, error.text or error.reason, error)
    except UsageError as error:
        return _error(request, 400, str(error))
    except Exception:
        LOG.exception("a request to %s failed", request.path)
        return _error(request, 500, "An error in Ludens; the terminal shows it.")


def _error(
    request: web.Request, status: int, message: str, error: web.HTTPException | None = None
) -> web.Response:
    if "application/json" in request.headers.get("Accept", ""):
        reply = web.json_response({"error": message}, status=status)
    else:
        reply = page("error.html", status=status, title="Not possible", message=message)
    if error is not None:
        reply.headers.update({name: error.headers[name] for name in _KEPT if name in error.headers})
    return reply
