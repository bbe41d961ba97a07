"""`ludens web`: serve the browser app."""

from __future__ import annotations

import asyncio
import os
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Allowed, Flag, SuiteName, Whole, Words
from ludens.cli.output import aside
from ludens.core.errors import BadFile, BadOption
from ludens.core.policy import Setter, confirm, permit
from ludens.models.ledger import Budget
from ludens.run.task import import_suite
from ludens.run.trust import plan_accesses
from ludens.suites.people import read_study

if TYPE_CHECKING:
    from ludens.web.pages import WebSettings

PORT = 8765


def web(
    runs: Path = Path("runs"),
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


async def _serve(settings: WebSettings, port: int, open_page: bool) -> None:
    from ludens.web.app import make_app
    from ludens.web.connections import listen
    from ludens.web.study import study_path

    access, app = settings.access, make_app(settings)
    try:
        runner, server = await listen(app, access.host, port, access.proxies)
    except OSError as error:
        reason = os.strerror(error.errno).lower() if error.errno else str(error)
        raise BadFile(f"cannot listen on {access.host}, port {port}: {reason}.") from None
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
