"""`ludens web`, `mcp` and `openenv`: serve the browser app, or games and tasks to clients of other tools."""

from __future__ import annotations

import asyncio
import os
import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ludens.cli.arguments import (
    Allowed,
    Flag,
    GameName,
    Options,
    Size,
    SuiteName,
    Theme,
    Whole,
    Words,
    agents_of,
    at_least,
    game_of,
    render_options,
    seat_specs,
)
from ludens.cli.output import aside
from ludens.core.config import check_seat
from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.core.policy import Setter, confirm, permit
from ludens.models.ledger import Budget
from ludens.run.task import import_suite
from ludens.run.trust import plan_accesses
from ludens.suites.people import read_study

if TYPE_CHECKING:
    from ludens.web.pages import WebSettings

PORT, RUNS = 8765, Path("runs")


def mcp(
    game: GameName,
    /,
    *,
    seat: Words = (),
    option: Options = (),
    seed: Whole = 0,
    theme: Theme = "classic",
    size: Size = 512,
    modality: Annotated[
        Literal["offered", "image", "text", "both"], Parameter(help="What clients see: image, text or both.")
    ] = "offered",
    port: Whole | None = None,
    out: Path | None = None,
) -> None:
    """Serve seats of a game to MCP clients, such as coding agents: over stdio, or several over HTTP.

    Args:
        seat: A seat for a client; by default the first one. SEAT=AGENT fills another seat; can be repeated.
            Other seats are played by bot/random.
        seed: Random seed of the first game; each new game takes the next.
        port: Serve over HTTP on this port of this machine, each seat at /SEAT/mcp; 0 takes a free one.
            Needed for several seats.
        out: File to which the games are appended as they end, readable by `ludens replay`.
    """
    from ludens.adapters.mcp import http_app, seat_server
    from ludens.adapters.table import GameTable

    this_game = game_of(game, option)
    served = [check_seat(this_game, word) for word in seat if "=" not in word]
    words = [word for word in seat if "=" in word]
    specs = seat_specs(this_game, words, f"{this_game.seats[-1]}=bot/best")
    if both := next((name for name in specs if name in served), ""):
        raise BadOption(f"{both} is both for a client and for {specs[both]}.")
    served = served or [next((name for name in this_game.seats if name not in specs), "")]
    if not served[0]:
        raise BadOption(f"no seat of {this_game.name} is left for a client.")
    if len(served) > 1 and port is None:
        raise BadOption("several seats need --port: a client over stdio plays one seat.")
    agents = agents_of(this_game, [name for name in this_game.seats if name not in served], specs)

    def record(episode: Episode) -> None:
        if out is not None:
            with out.open("ab") as file:
                file.write(episode.to_json() + b"\n")

    def announce(at: int) -> None:
        for name in served:
            aside(f"{name}: http://127.0.0.1:{at}/{name}/mcp")

    async def serve() -> None:
        table = GameTable(
            this_game,
            tuple(served),
            agents,
            sees=modality,
            render=render_options(theme, size),
            seed=seed,
            record=record,
        )
        if port is None:
            try:
                await seat_server(table, served[0]).run_stdio_async()
            finally:
                await table.close()
        else:
            await serve_app(http_app(table), "127.0.0.1", port, announce)

    asyncio.run(serve())


def openenv(
    suite: str,
    /,
    *,
    theme: Theme = "classic",
    size: Size = 512,
    modality: Annotated[
        Literal["offered", "image", "text", "both"], Parameter(help="What agents see: image, text or both.")
    ] = "offered",
    host: str = "127.0.0.1",
    port: Whole = 8000,
    sessions: Whole = 16,
) -> None:
    """Serve the tasks of a suite to OpenEnv clients, as an environment with concurrent sessions.

    Args:
        suite: The suite, such as playground-mini; `ludens suites` lists them.
        host: Address to listen on. There is no password: keep it to this machine or a private network.
        port: Port to listen on; 0 takes a free one.
        sessions: Most sessions at once.
    """
    from ludens.adapters.openenv import make_app

    import_suite(suite)
    app = make_app(suite, modality, render_options(theme, size), at_least("--sessions", sessions, 1))
    asyncio.run(serve_app(app, host, port, lambda at: aside(f"{suite}: http://{host}:{at}")))


async def serve_app(app: Any, host: str, port: int, announce: Callable[[int], None]) -> None:
    """Serve until interrupted; port 0 takes a free one. `announce` gets the port once clients can connect."""
    import uvicorn

    if not 0 <= port <= 65_535:
        raise BadOption(f"--port must be 0 to 65535, not {port}.")
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except (OSError, UnicodeError) as error:
        listening.close()
        raise _cannot_listen(host, port, error) from None
    listening.listen(100)  # connections wait while the application starts
    announce(listening.getsockname()[1])
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listening])


def web(
    runs: Path = RUNS,
    /,
    *,
    host: str = "127.0.0.1",
    port: Whole = PORT,
    name: Words = (),
    url: str | None = None,
    trusted_proxy: Words = (),
    token: str | None = None,
    no_open: Annotated[Flag, Parameter(name="--no-open")] = False,
    study: Path | None = None,
    suite: SuiteName = None,
    max_calls: Whole | None = None,
    max_cost: float | None = None,
    allow: Allowed = (),
) -> None:
    """Serve the browser app: games, live runs, replays.

    Args:
        runs: The folder of runs to show, or one run.
        host: Address to listen on; any but this machine's own requires a token.
        port: Port to listen on; 0 takes a free one.
        name: A name under which people reach the server; can be repeated.
        url: Address that people use, such as https://games.example.org for a proxy with TLS.
        trusted_proxy: Address or network of a proxy whose X-Forwarded-For is believed; can be repeated.
        token: Token of visitors; by default one is made if it is needed.
        no_open: Do not open a browser.
        study: A study to conduct: consent, questionnaires, tasks for participants.
        max_calls: Budget: no more calls to models than this, in all games together.
        max_cost: Budget: no more dollars; needs prices.
    """
    from ludens.web.connections import short_log
    from ludens.web.pages import WebSettings
    from ludens.web.security import ServerAccess, read_networks, read_url

    if not 0 <= port <= 65_535:
        raise BadOption(f"--port must be 0 to 65535, not {port}.")
    if runs.exists() and not runs.is_dir():
        raise BadOption(f"{str(runs)!r} is not a folder of runs.")
    if not runs.exists() and runs != RUNS:
        aside(f"there is no folder {str(runs)!r} yet: no runs are shown.")
    import_suite(suite or "")
    conducted = read_study(study) if study else None
    confirm(allow)
    if conducted is not None:
        permit(plan_accesses(conducted.plan()), Setter.FILE)
    access = ServerAccess(
        host,
        tuple(each.lower() for each in name),
        token or "",
        url=read_url(url) if url is not None else "",
        proxies=read_networks(trusted_proxy),
    )
    budget = Budget(calls=max_calls, cost=max_cost)
    if access.url.startswith("https:") and not access.proxies:
        aside("without --trusted-proxy, everybody behind the proxy has one address, and shares its limits.")
    try:
        settings = WebSettings(runs, access, conducted, budget)
        with short_log():
            asyncio.run(_serve(settings, port, not no_open))
    except KeyboardInterrupt:
        print("Stopped.")


def _cannot_listen(host: str, port: int, error: OSError | UnicodeError) -> BadOption:
    """Names that cannot be looked up have errors with negative numbers, or none at all."""
    number = error.errno if isinstance(error, OSError) else 0
    reason = os.strerror(number).lower() if number and number > 0 else "there is no such host"
    return BadOption(f"cannot listen on {host!r}, port {port}: {reason}.")


async def _serve(settings: WebSettings, port: int, open_page: bool) -> None:
    from ludens.web.app import make_app
    from ludens.web.connections import listen
    from ludens.web.study import study_path

    access, app = settings.access, make_app(settings)
    try:
        runner, server = await listen(app, access.host, port, access.proxies)
    except (OSError, UnicodeError) as error:
        raise _cannot_listen(access.host, port, error) from None
    try:
        address = access.url or _address(access.public_name, server.sockets[0].getsockname()[1])
        own_address = f"{address}/?token={access.organiser}"
        print(f"Ludens is at {own_address}", flush=True)
        if access.token:
            print(f"For visitors: {address}/?token={access.token}", flush=True)
        if path := study_path(app):
            print(f"For participants of the study: {address}{path}", flush=True)
            print(f"Its progress: {address}{path}/progress?token={access.organiser}", flush=True)
        print("Press Ctrl-C to stop.", flush=True)
        if open_page:
            await asyncio.to_thread(webbrowser.open, own_address)
        await asyncio.Event().wait()
    finally:
        server.close()
        await runner.cleanup()


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
