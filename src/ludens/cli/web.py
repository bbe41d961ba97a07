"""`ludens web`: serve the browser app."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Allowed, SuiteName, Whole
from ludens.cli.output import aside
from ludens.core.errors import BadFile, BadOption

if TYPE_CHECKING:
    from ludens.web.pages import WebSettings

PORT = 8765


def web(
    runs: Annotated[Path, Parameter(help="The folder of runs to show, or one run.")] = Path("runs"),
    /,
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; any but this machine's own requires a token.")
    ] = "127.0.0.1",
    port: Annotated[Whole, Parameter(help="Port to listen on; 0 takes a free one.")] = PORT,
    name: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="A name under which people reach the server; can be repeated.",
        ),
    ] = (),
    url: Annotated[
        str | None,
        Parameter(help="Address that people use, such as https://games.example.org for a proxy with TLS."),
    ] = None,
    trusted_proxy: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            show_default=False,
            help="Address or network of a proxy whose X-Forwarded-For is believed; can be repeated.",
        ),
    ] = (),
    token: Annotated[
        str | None, Parameter(help="Token of visitors; by default one is made if it is needed.")
    ] = None,
    no_open: Annotated[
        bool, Parameter(name="--no-open", negative="", show_default=False, help="Do not open a browser.")
    ] = False,
    study: Annotated[
        Path | None, Parameter(help="A study to conduct: consent, questionnaires, tasks for participants.")
    ] = None,
    suite: SuiteName = None,
    max_calls: Annotated[
        Whole | None, Parameter(help="Budget: no more calls to models than this, in all games together.")
    ] = None,
    max_cost: Annotated[float | None, Parameter(help="Budget: no more dollars; needs prices.")] = None,
    allow: Allowed = (),
) -> None:
    """Serve the browser app: games, runs while they are played, replays of episodes."""
    from ludens.core.policy import Setter, permit
    from ludens.run.budget import Budget
    from ludens.run.task import import_suite
    from ludens.run.trust import plan_accesses
    from ludens.suites.people import read_study
    from ludens.web.addresses import read_networks, read_url
    from ludens.web.connections import short_log
    from ludens.web.pages import WebSettings
    from ludens.web.security import ServerAccess

    if not 0 <= port <= 65_535:
        raise BadOption(f"--port must be 0 to 65535, not {port}.")
    import_suite(suite or "")
    conducted = read_study(study) if study else None
    if conducted is not None:
        permit(plan_accesses(conducted.plan()), Setter.FILE, allow)
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


async def _serve(settings: WebSettings, port: int, open_page: bool) -> None:
    from ludens.web.app import make_app
    from ludens.web.connections import listen
    from ludens.web.study.pages import study_path

    access, app = settings.access, make_app(settings)
    try:
        runner, server = await listen(app, access.host, port, access.proxies)
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise BadFile(f"cannot listen on {access.host}, port {port}: {reason}.") from None
    try:
        address = access.url or _address(access.public_name, server.sockets[0].getsockname()[1])
        mine = f"{address}/?token={access.organiser}"
        print(f"Ludens is at {mine}", flush=True)
        if access.token:
            print(f"For visitors: {address}/?token={access.token}", flush=True)
        if path := study_path(app):
            print(f"For participants of the study: {address}{path}", flush=True)
            print(f"Its progress: {address}{path}/progress?token={access.organiser}", flush=True)
        print("Press Ctrl-C to stop.", flush=True)
        if open_page:
            await asyncio.to_thread(_open, mine)
        await asyncio.Event().wait()
    finally:
        server.close()
        await runner.cleanup()


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
