"""The Play pages: choose a game and its players, share links with friends, play.

    /play                            choose a game, its options and players
    /play/SESSION/SEAT               the game, for the person who has this seat
    /play/SESSION/SEAT/join/TOKEN    the link for a friend

A seat's token is kept in a cookie for the path of that seat, so one browser can hold several.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Self
from urllib.parse import quote, urlencode
from weakref import WeakSet

from aiohttp import web

from ludens.agents import BEST, player_accesses
from ludens.core.config import check_seats
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, BadOption, UnknownName, UsageError
from ludens.core.game import Game
from ludens.core.options import Touch, options_of
from ludens.core.policy import Setter, game_accesses, make_by, permit
from ludens.core.random import stream
from ludens.core.registry import GAMES, changed_options
from ludens.core.spec import Spec
from ludens.core.validation import Invalid, read_value
from ludens.models.settings import is_model
from ludens.run.plan import Plan, make_plan
from ludens.run.store import Store
from ludens.train.nano.taught import is_taught
from ludens.web.journal import FOLDER, Journal, JournalFolder, folder_of
from ludens.web.pages import WebSettings, aside, attachment, page, whole_number
from ludens.web.security import ACCESS, checks_own_token, may_be_linked, set_token
from ludens.web.sessions import HUMAN, PersonSeat, Session, Setup
from ludens.web.socket import SOCKETS, close_all, serve
from ludens.web.spending import MOST_VOID, SPENDING, Spending

LOG = logging.getLogger(__name__)
ME, FRIEND, OTHER = "me", "friend", "other"
"""The choices for a seat besides bots."""
_RANDOM = "bot/random"
COOKIE = "seat"
OWN, MOST_OWN = "games", 12
"""The cookie with the places of a browser, and how many it remembers."""


def plan_of(setup: Setup) -> Plan:
    suite = Spec("play", None, {"game": spec_of(setup.game)})
    return make_plan(
        str(suite),
        {HUMAN: HUMAN},
        setup.opponents,
        seed=setup.seed,
        theme=setup.render.theme,
        size=setup.render.size,
    )


def spec_of(game: Game) -> str:
    return str(Spec(game.name, None, {name: str(value) for name, value in changed_options(game).items()}))


def new_run_name(game: Game) -> str:
    name = re.sub(r"[^a-z0-9]+", "-", game.name.lower())
    return f"play-{datetime.now():%Y%m%d-%H%M%S}-{name}-{token_hex(3)}"


def save_game(folder: Path, setup: Setup, episode: Episode) -> None:
    """Write the episode into a run folder of its own, unless it is there."""
    plan = plan_of(setup)
    [job] = plan.jobs
    with Store.create(folder, plan, durable=True) as store:
        if not store.done and not store.voids:
            store.save(job, episode)


MOST_TABLES = 2_000
KEPT_SECONDS = 3_600.0
"""How long a session waits for people to come back."""
_SWEEP_SECONDS = 10.0


class Tables:
    """The tables of the Play pages.

    Args:
        runs: The folder of runs; without one, nothing is kept.
        most: How many there may be.
    """

    def __init__(self, runs: Path | None = None, most: int = MOST_TABLES) -> None:
        self.sessions: dict[str, Session] = {}
        self.journals = JournalFolder(folder_of(runs) / FOLDER if runs is not None else None)
        self._most = most

    def add(self, session: Session) -> None:
        """Keep a session; refuse it when there are too many."""
        if len(self.sessions) >= self._most:
            self.forget(0.0)
        if len(self.sessions) >= self._most:
            raise web.HTTPServiceUnavailable(text="Too many games are being played; try again later.")
        self.sessions[session.id] = session

    def forget(self, seconds: float) -> None:
        """End games that nobody has looked at for this many seconds, and forget sessions without a game."""
        for name, session in list(self.sessions.items()):
            if min(seat.away() for seat in session.seats.values()) <= seconds:
                continue
            if not session.playing:
                del self.sessions[name]
                session.journal.delete()
            elif seconds:
                session.leave(next(iter(session.seats)))

    async def sweep(self) -> None:
        """Forget old sessions at intervals, until cancelled."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self.forget(KEPT_SECONDS)

    async def close(self) -> None:
        await asyncio.gather(*(session.close() for session in self.sessions.values()))
        self.journals.close()


TABLES = web.AppKey("tables", Tables)
_RUNS = web.AppKey("runs", Path)


def add_routes(app: web.Application, settings: WebSettings) -> None:
    app[TABLES], app[_RUNS], app[SOCKETS] = Tables(settings.runs), settings.runs, WeakSet()
    app.router.add_get("/play", choose)
    app.router.add_post("/play", start)
    app.router.add_get("/play/{session}/{seat}", show)
    app.router.add_get("/play/{session}/{seat}/join/{token}", join)
    app.router.add_get("/play/{session}/{seat}/socket", connect)
    app.router.add_post("/play/{session}/{seat}/again", again)
    app.router.add_post("/play/{session}/{seat}/swap", swap)
    app.router.add_get("/play/{session}/{seat}/episode", download)
    app.cleanup_ctx.append(_run_tables)
    app.on_shutdown.append(close_all)


async def _run_tables(app: web.Application) -> AsyncIterator[None]:
    await _restore(app)
    sweeping = asyncio.create_task(app[TABLES].sweep())
    yield
    sweeping.cancel()
    await app[TABLES].close()


async def _restore(app: web.Application) -> None:
    """Go on with the games of the server before this one."""
    tables, spending = app[TABLES], app[SPENDING]
    for journal in await aside(lambda: list(tables.journals.read())):
        try:
            setup = await aside(_restored_setup, journal, spending)
            session = _session(app, setup, journal)
            session.resume()
            tables.add(session)
        except (UsageError, Invalid) as error:
            LOG.error("a game cannot go on: %s (%s)", error, journal.path)


def _restored_setup(journal: Journal, spending: Spending) -> Setup:
    assert journal.record is not None
    about = read_value(GameAbout, dict(journal.record.about))
    game = make_by(Setter.FILE, about.game)
    if game.version != about.version:
        raise BadFile(f"it was begun with {game.name} version {about.version}, and this is {game.version}.")
    check_seats(game, about.specs)
    for spec in about.specs.values():
        permit(player_accesses(spec, type(game)), Setter.FILE)
    setup = Setup(game, about.specs, about.seed)
    spending.make_agents(game, setup.opponents)
    spending.check(about.specs.values())
    return setup


@dataclass(frozen=True)
class GameAbout:
    """What a journal says about a game, so that it can be set up again."""

    game: str
    version: int
    specs: Mapping[str, str]
    seed: int
    folder: str
    """Name of the run in which it is saved."""

    @classmethod
    def of(cls, setup: Setup) -> Self:
        game = setup.game
        return cls(spec_of(game), game.version, dict(setup.specs), setup.seed, new_run_name(game))


def _session(app: web.Application, setup: Setup, journal: Journal) -> Session:
    spending, runs = app[SPENDING], app[_RUNS]

    def save(setup: Setup, episode: Episode) -> str:
        record = session.journal.record
        name = read_value(GameAbout, dict(record.about)).folder if record is not None else ""
        saved, session.replay = _save(runs, Path(name).name, setup, episode)
        return saved

    session = Session(
        setup, lambda setup: spending.make_agents(setup.game, setup.opponents), save, journal=journal
    )
    return session


async def choose(request: web.Request) -> web.Response:
    """The form: the game, then its options and players."""
    name = request.query.get("game", "")
    organiser = request.app[ACCESS].is_organiser(request)
    if not name:
        return page("choose.html", title="Play", games=_games(), game=None, organiser=organiser)
    # Anybody may have written the link, so it may set only what visitors may set, whoever opens it.
    game = await aside(make_by, Setter.VISITOR, name)
    return page(
        "choose.html",
        title=f"Play {game.name}",
        games=_games(),
        game=game,
        options=await aside(_form_options, game, organiser),
        players=_offered(game),
        any_player=organiser,
        seed=request.query.get("seed", "0"),
    )


def _games() -> list[tuple[str, str]]:
    return [(name, (GAMES.get(name).__doc__ or "").strip().splitlines()[0]) for name in GAMES.names()]


def _form_options(game: Game, organiser: bool) -> list[dict[str, object]]:
    fields = []
    for name, declared in options_of(type(game)).items():
        value, about = game.options[name], dict(declared.metadata)
        if about["touches"] not in (None, Touch.GAME) and not organiser:
            names = [each for each in about["installed"]() if "@" not in each]  # not again with its hash
            about["choices"] = list(dict.fromkeys([value, declared.default, *names]))
        if organiser or about["choices"] != [declared.default]:
            fields.append({"name": name, "value": value, **about})
    return fields


def _offered(game: Game) -> list[str]:
    own = [f"bot/{name}" for name in game.bots]
    best = [BEST] if game.best and BEST not in own else []
    nano = ["nano"] if is_taught(game) else []
    return [*best, *own, *nano, *([] if _RANDOM in own else [_RANDOM])]


async def start(request: web.Request) -> web.Response:
    form = {name: str(value) for name, value in (await request.post()).items()}
    spending = request.app[SPENDING]
    setup, people = await aside(_setup, form, request.app[ACCESS].is_organiser(request), spending)
    raise _begin(request, setup, people[0])


def _begin(request: web.Request, setup: Setup, owner: str) -> web.HTTPSeeOther:
    """Start a session; returns the redirect to the seat of the person who began it."""
    tables = request.app[TABLES]
    session = _session(request.app, setup, Journal())
    session.owner = owner
    session.journal = tables.journals.new(session.id)
    session.keep(asdict(GameAbout.of(setup)))
    try:
        tables.add(session)
    except web.HTTPServiceUnavailable:
        session.journal.delete()
        raise
    return _to_seat(request, session, session.seats[owner])


def _setup(form: Mapping[str, str], organiser: bool, spending: Spending) -> tuple[Setup, list[str]]:
    """The setup that a form describes, and the seats of people; raises if it cannot be played or saved."""
    texts = {name: text for name, text in form.items() if name.startswith("option.") and text}
    options = {name.removeprefix("option."): text for name, text in texts.items()}
    game = make_by(Setter.PERSON if organiser else Setter.VISITOR, form.get("game", ""), **options)
    people, specs = _players(game, form, organiser)
    setup = Setup(game, specs, _seed(form.get("seed", "0")))
    # Agents come first: making a plan imports module:Class.
    for seat, player in spending.make_agents(game, setup.opponents).items():
        player.sit(game, seat, stream(0, "check"))
    plan_of(setup)
    spending.check(specs.values())
    return setup, people


def _players(game: Game, form: Mapping[str, str], may_name: bool) -> tuple[list[str], dict[str, str]]:
    specs, own, friends = dict[str, str](), list[str](), list[str]()
    for seat in game.seats:
        player = form.get(f"seat.{seat}", ME if not own else _RANDOM)
        if player == OTHER:
            player = form.get(f"other.{seat}", "").strip()
            if not may_name:
                raise BadOption("only the organiser can name other players: open the organiser's link.")
        elif player == ME:
            own.append(seat)
        elif player == FRIEND:
            friends.append(seat)
        elif player not in _offered(game):
            raise UnknownName("player", player, [ME, FRIEND, *_offered(game)])
        if player.partition("?")[0] == HUMAN:
            raise BadOption("choose “a friend” for a seat that another person plays.")
        specs[seat] = HUMAN if player in (ME, FRIEND) else player
    if len(own) != 1:
        raise BadOption("choose “me” for exactly one seat; “a friend” gives a link for another one.")
    return [*own, *friends], specs


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**63:
        raise BadOption("a seed is a whole number from 0 to 2**63 - 1.")
    return seed


def _save(runs: Path, name: str, setup: Setup, episode: Episode) -> tuple[str, str]:
    """Save a game; returns what people are told about it, and the address of its replay."""
    if episode.status == "void" and not episode.moves:
        return "The game is not saved: there was no move.", ""
    folder = folder_of(runs) / name
    save_game(folder, setup, episode)
    [job] = plan_of(setup).jobs
    replay = f"/episode/{quote(name)}?{urlencode({'key': job.key})}" if folder.parent == runs else ""
    return f"The game is saved in {name}.", replay


def _path(session: Session, seat: PersonSeat) -> str:
    return f"/play/{session.id}/{session.setup.game.seats.index(seat.seat)}"


def _to_seat(request: web.Request, session: Session, seat: PersonSeat) -> web.HTTPSeeOther:
    path = _path(session, seat)
    reply = web.HTTPSeeOther(path)
    set_token(request, reply, COOKIE, seat.token, path, 7)
    places = [place for place in _own_places(request) if place != path.removeprefix("/play/")]
    own = [path.removeprefix("/play/"), *places][:MOST_OWN]
    set_token(request, reply, OWN, " ".join(own), "/", 7)
    return reply


@dataclass(frozen=True)
class OwnGame:
    """A game of the person who looks at the home page."""

    path: str
    name: str
    seat: str
    status: str


def _own_places(request: web.Request) -> list[str]:
    return request.cookies.get(OWN, "")[:4096].split()[:MOST_OWN]


def own_games(request: web.Request) -> list[OwnGame]:
    """The games that this browser has a seat in, the latest first. What it names is no secret: the page of a
    seat asks for its token."""
    games = list[OwnGame]()
    for place in _own_places(request):
        name, _, number = place.partition("/")
        session = request.app[TABLES].sessions.get(name)
        seat = _seat_number(session, number) if session is not None else None
        if session is None or seat is None:
            continue
        status = "your turn" if seat.ask is not None else "in progress"
        if not session.playing:
            status = "over" if session.ending else "waiting for others"
        games.append(OwnGame(_path(session, seat), session.setup.game.name, seat.seat, status))
    return games


def _seat_number(session: Session, number: str) -> PersonSeat | None:
    seats = session.setup.game.seats
    place = whole_number(number, len(seats))
    return None if place is None else session.seats.get(seats[place])


def _seat(request: web.Request, token: str | None = None) -> tuple[Session, PersonSeat]:
    session = request.app[TABLES].sessions.get(request.match_info["session"])
    number = request.match_info["seat"]
    if session is None:
        raise web.HTTPNotFound(
            text="This game does not exist any more: nobody was here for an hour, or the link is wrong."
        )
    seat = _seat_number(session, number)
    if seat is None or not seat.admits(request.cookies.get(COOKIE, "") if token is None else token):
        raise web.HTTPForbidden(text="This seat belongs to somebody else: open the link that you were sent.")
    return session, seat


@may_be_linked
@checks_own_token
async def join(request: web.Request) -> web.Response:
    """The link for a friend: keep the token and show the game."""
    raise _to_seat(request, *_seat(request, request.match_info["token"]))


@may_be_linked
@checks_own_token
async def show(request: web.Request) -> web.Response:
    session, seat = _seat(request)
    setup = session.setup
    links = {
        each.seat: f"{request.url.origin()}{_path(session, each)}/join/{each.token}"
        for each in session.seats.values()
        if seat.seat == session.owner and each is not seat
    }
    return page(
        "table.html",
        title=f"{setup.game.name}: {seat.seat}",
        heading=setup.game.name,
        base=_path(session, seat),
        session=session.id,
        links=links,
        may_repeat=_may_repeat(session, seat),
        may_swap=_may_repeat(session, seat) and _swapped(setup) is not None,
        may_watch=request.app[ACCESS].role(request) is not None,
        onward=f"/play?game={quote(await aside(_linked, setup.game))}",
    )


def _linked(game: Game) -> str:
    """The spec of a game in a link: with its options, if a link may set them."""
    spec = spec_of(game)
    return spec if all(access.is_free(Setter.VISITOR) for access in game_accesses(spec)) else game.name


@checks_own_token
async def connect(request: web.Request) -> web.WebSocketResponse:
    session, seat = _seat(request)
    return await serve(request, session, seat.seat)


@checks_own_token
async def again(request: web.Request) -> web.Response:
    """Play once more, with the next seed: after a void game its pictures can be looked at."""
    session, seat = _seat(request)
    setup = session.setup
    if not _may_repeat(session, seat):
        raise web.HTTPForbidden(text="A model plays: only the person who began the game can repeat it.")
    if session.playing:
        raise web.HTTPConflict(text="The game is not over.")
    if any(each.listener is None for each in session.seats.values()):
        raise web.HTTPConflict(text="Somebody is not connected; wait until everybody is here.")
    if session.void_games >= MOST_VOID:
        raise web.HTTPConflict(text=f"{MOST_VOID} games here were void; begin a new one.")
    request.app[SPENDING].check(setup.specs.values())
    following = replace(setup, seed=setup.seed + 1)
    session.again(following, asdict(GameAbout.of(following)))
    return web.json_response({})


@checks_own_token
async def swap(request: web.Request) -> web.Response:
    """Play once more in the next seat, with the next seed."""
    session, seat = _seat(request)
    swapped = _swapped(session.setup)
    if swapped is None or not _may_repeat(session, seat):
        raise web.HTTPForbidden(text="Seats can be swapped by one person who plays with others than people.")
    if session.playing:
        raise web.HTTPConflict(text="The game is not over.")
    request.app[SPENDING].check(swapped.specs.values())
    raise _begin(request, swapped, swapped.people[0])


def _swapped(setup: Setup) -> Setup | None:
    """The next game, in which the person has the next seat; None where that is not possible."""
    seats = setup.game.seats
    if len(setup.people) != 1 or len(seats) < 2:
        return None
    players = [setup.specs[seat] for seat in seats]
    return replace(
        setup, specs=dict(zip(seats, [players[-1], *players[:-1]], strict=True)), seed=setup.seed + 1
    )


@checks_own_token
async def download(request: web.Request) -> web.Response:
    """The episode as a file, which `ludens replay` and `ludens verify` read."""
    session, _ = _seat(request)
    if session.episode is None:
        raise web.HTTPConflict(text="The game is not over.")
    name = f"{session.setup.game.name}-{session.episode.seed}.jsonl"
    return attachment(session.episode.to_json() + b"\n", "application/x-ndjson", name)


def _may_repeat(session: Session, seat: PersonSeat) -> bool:
    """Whether the person of a seat may begin the next game, which costs money where a model plays."""
    return seat.seat == session.owner or not any(map(is_model, session.setup.specs.values()))
