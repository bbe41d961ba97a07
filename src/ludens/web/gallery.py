"""Pictures of games on the home page: a position after some random moves, as the first seat sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from aiohttp import web

from ludens.core.errors import BadOption, UnknownName
from ludens.core.random import stream
from ludens.core.registry import GAMES, make
from ludens.core.view import RenderOptions, view_of
from ludens.core.wander import wander
from ludens.draw.theme import get_theme
from ludens.web.rendering import render

SIZE = 320
MAX_MOVES = 12
MAX_SEED = 10**6


@dataclass(frozen=True, slots=True)
class Card:
    """A game in the gallery."""

    name: str
    summary: str
    error: str = ""


@lru_cache(maxsize=1)
def cards() -> tuple[Card, ...]:
    """Every game; one that cannot be loaded has an error instead of a picture."""
    return tuple(map(_card, GAMES.names()))


def _card(name: str) -> Card:
    try:
        return Card(name, make(name).summary)
    except Exception as error:  # a missing extra, a broken plugin
        return Card(name, "", str(error) or type(error).__name__)


@lru_cache(maxsize=512)
def position(name: str, seed: int, theme: str) -> tuple[bytes, str]:
    """The picture of a position as PNG, and its text twin."""
    if name not in GAMES.names():
        raise UnknownName("game", name, GAMES.names())
    get_theme(theme)
    game = make(name)
    moves = stream(seed, "gallery").between(0, MAX_MOVES)
    state, _ = wander(game, seed, moves)
    if state.over:
        state, _ = wander(game, seed, 0)
    seat = game.seats[0]
    view = view_of(game, RenderOptions(theme, SIZE), seed)
    [picture, *_] = view.images(state, seat)
    text = view.text(state, seat) if view.has_text else f"{name}, seed {seed}, seen by {seat}"
    return picture.png(), text


def parameters(request: web.Request) -> tuple[str, int, str]:
    """Game, seed and theme of a request."""
    seed = request.query.get("seed", "0")
    if not (seed.isascii() and seed.isdigit() and len(seed) < 8 and int(seed) < MAX_SEED):
        raise BadOption(f"a seed here is a number below {MAX_SEED:,}.")
    return request.query.get("game", "")[:100], int(seed), request.query.get("theme", "classic")[:20]


async def game_picture(request: web.Request) -> web.Response:
    """The picture of a position."""
    png, _ = await render(request, position, *parameters(request))
    return web.Response(body=png, content_type="image/png", headers={"Cache-Control": "private, max-age=600"})


async def game_text(request: web.Request) -> web.Response:
    """The text twin of a position."""
    _, text = await render(request, position, *parameters(request))
    return web.json_response({"text": text})
