"""The home page: games by kind, one's own games, what is being played; and the page of runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic, time
from typing import Any, Literal
from urllib.parse import urlencode

from aiohttp import web

from ludens.core.errors import BadOption, UnknownName, UsageError
from ludens.core.random import stream
from ludens.core.registry import GAMES, make
from ludens.core.replay import wander
from ludens.core.view import RenderOptions, view_of
from ludens.draw.theme import get_theme
from ludens.run.index import INDEX
from ludens.run.lines import LINE_START, shards_of
from ludens.run.plan import seated_name
from ludens.run.rows import EPISODES
from ludens.run.store import read_plan
from ludens.web.pages import WebSettings, page, render, whole_number
from ludens.web.play import TABLES, own_games
from ludens.web.security import ACCESS, may_be_linked

SIZE = 320
MAX_MOVES = 12
MAX_SEED = 10**6


GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "Boards and cards",
        "Alone, or against each other.",
        (
            "breakthrough",
            "chess",
            "gomoku",
            "kuhn_poker",
            "minesweeper",
            "pong",
            "reversi",
            "sudoku",
            "tic_tac_toe",
            "vs-bench/kuhn",
        ),
    ),
    ("Cooperation", "You win or lose together.", ("hanabi", "overcooked", "tiny_hanabi")),
    (
        "Social dilemmas",
        "What is good for one may be bad for all.",
        ("battle_of_colors", "coin_dilemma", "monster_hunt"),
    ),
    ("Talk", "Say what you see, and find out what others know.", ("comma/", "spy")),
    ("Robots", "Plan what robots do.", ("viki/",)),
    ("Perception", "Look closely, and answer.", ("files", "perceive", "qa", "rule", "vs-bench/predict")),
)
"""Title, description, and names of games; a name that ends with / is that of all games below it."""
MORE = "More games"


def group_of(name: str) -> str:
    for title, _, names in GROUPS:
        if any(name == each or (each.endswith("/") and name.startswith(each)) for each in names):
            return title
    base = name.partition("/")[0]  # spy/vote
    return group_of(base) if base != name else MORE


@dataclass(frozen=True, slots=True)
class Card:
    name: str
    summary: str
    error: str = ""

    @property
    def group(self) -> str:
        return group_of(self.name)


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
    seed = whole_number(request.query.get("seed", "0"), MAX_SEED)
    if seed is None:
        raise BadOption(f"a seed here is a number below {MAX_SEED:,}.")
    return request.query.get("game", "")[:100], seed, request.query.get("theme", "classic")[:20]


async def game_picture(request: web.Request) -> web.Response:
    png, _ = await render(request, position, *parameters(request))
    return web.Response(body=png, content_type="image/png", headers={"Cache-Control": "private, max-age=600"})


async def game_text(request: web.Request) -> web.Response:
    _, text = await render(request, position, *parameters(request))
    return web.json_response({"text": text})


MAX_RUNS, MAX_DEPTH = 2_000, 6
"""Limits of the search for runs: how many are found, and in how many levels of folders."""
QUIET = 120.0
"""Seconds without a new episode after which an unfinished run counts as stopped."""
SCAN_EVERY = 2.0
_VOID = b'"void":true,"job":', b'"status":"void"'
"""In the head of a line of a shard or of the index; inside strings the quotes would be escaped."""

RunStatus = Literal["complete", "in progress", "stopped", "unreadable"]


@dataclass(frozen=True)
class RunInfo:
    name: str
    status: RunStatus
    changed: float
    """When the last episode was written, in seconds since 1970."""
    suite: str = ""
    entrants: tuple[str, ...] = ()
    done: int = 0
    planned: int = 0
    void: int = 0
    error: str = ""

    @property
    def percent(self) -> float:
        return 100 * min(self.done, self.planned) / self.planned if self.planned else 0.0


class _Count:
    """Counts the episodes of a run from where it last stopped; in the index, if it has several shards."""

    def __init__(self) -> None:
        self.end = self.done = self.void = self.inode = 0

    def update(self, folder: Path) -> None:
        alone = shards_of(folder) in ([], [EPISODES]) or not (folder / INDEX).exists()
        path = folder / (EPISODES if alone else INDEX)
        try:
            with path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != self.inode or stat.st_size < self.end:
                    self.end = self.done = self.void = 0
                    self.inode = stat.st_ino
                file.seek(self.end)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    self.end += len(line)
                    if not line.startswith(LINE_START):  # header and seals of the index
                        continue
                    if any(mark in line[:4096] for mark in _VOID):
                        self.void += 1
                    else:
                        self.done += 1
        except OSError:
            self.end = self.done = self.void = 0


class Catalogue:
    """The runs below a folder. Its methods block: call them in a thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folders: dict[str, Path] = {}
        self._scanned = float("-inf")
        self._counts: dict[str, _Count] = {}
        self._lock = Lock()

    def folder(self, name: str) -> Path | None:
        with self._lock:
            if name not in self._folders:
                self._scan()
            folder = self._folders.get(name)
        return folder if folder is not None and (folder / "run.json").is_file() else None

    def runs(self) -> list[RunInfo]:
        with self._lock:
            self._scan()
            infos = [self._info(name, folder) for name, folder in self._folders.items()]
        return sorted(filter(None, infos), key=lambda info: info.changed, reverse=True)

    def _scan(self) -> None:
        if monotonic() - self._scanned < SCAN_EVERY:
            return
        self._folders = dict(_find(self.root))
        self._counts = {name: count for name, count in self._counts.items() if name in self._folders}
        self._scanned = monotonic()

    def _info(self, name: str, folder: Path) -> RunInfo | None:
        changed = max(_changed(folder / name) for name in ("run.json", *shards_of(folder)))
        if not changed:
            return None  # deleted meanwhile
        try:
            plan = read_plan(folder)
            entrants = tuple(seated_name(entrant, plan.seated) for entrant in plan.entrants)
            planned = plan.total()
        except UsageError as error:
            return RunInfo(name, "unreadable", changed, error=str(error))
        count = self._counts.setdefault(name, _Count())
        count.update(folder)
        status: RunStatus = "in progress" if time() - changed < QUIET else "stopped"
        status = "complete" if count.done >= planned else status
        return RunInfo(name, status, changed, plan.suite, entrants, count.done, planned, count.void)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _find(root: Path) -> Iterator[tuple[str, Path]]:
    """Every folder with a `run.json`, by the name that addresses use."""
    count = 0
    for folder, subfolders, files in os.walk(root):
        path = Path(folder)
        depth = len(path.relative_to(root).parts)
        subfolders[:] = sorted(subfolders) if depth < MAX_DEPTH else []
        if "run.json" in files:
            yield path.relative_to(root).as_posix() if path != root else root.resolve().name, path
            subfolders.clear()
            count += 1
        if count >= MAX_RUNS:
            return


CATALOGUE = web.AppKey("catalogue", Catalogue)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    app[CATALOGUE] = Catalogue(settings.runs)
    app.router.add_get("/", home)
    app.router.add_get("/runs", runs)
    app.router.add_get("/runs/list", run_list)
    app.router.add_get("/game-picture", game_picture)
    app.router.add_get("/game-text", game_text)


async def run_folder(request: web.Request, name: str) -> Path:
    folder = await asyncio.to_thread(request.app[CATALOGUE].folder, name)
    if folder is None:
        raise web.HTTPNotFound(text="There is no such run; it may have been deleted.")
    return folder


@may_be_linked
async def home(request: web.Request) -> web.Response:
    games = await asyncio.to_thread(cards)  # not where pictures wait
    titles = [*((title, about) for title, about, _ in GROUPS), (MORE, "")]
    groups = [(title, about, [card for card in games if card.group == title]) for title, about in titles]
    infos = await asyncio.to_thread(request.app[CATALOGUE].runs)
    organiser = request.app[ACCESS].is_organiser(request)
    return page(
        "home.html",
        title="Ludens",
        groups=[group for group in groups if group[2]],
        own=own_games(request),
        tables=[each for each in request.app[TABLES].sessions.values() if each.playing] if organiser else [],
        live=[info for info in infos if info.status == "in progress"],
        number_of_runs=len(infos),
        picture_address=lambda game, seed: f"/game-picture?{urlencode({'game': game, 'seed': seed})}",
    )


@may_be_linked
async def runs(request: web.Request) -> web.Response:
    return page("runs.html", title="Runs", **await _run_list(request))


async def run_list(request: web.Request) -> web.Response:
    """The list only: scripts replace it while the page is open."""
    return page("run_list.html", **await _run_list(request))


async def _run_list(request: web.Request) -> dict[str, Any]:
    catalogue = request.app[CATALOGUE]
    return {
        "runs": await asyncio.to_thread(catalogue.runs),
        "root": catalogue.root,
        "when": lambda seconds: datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
