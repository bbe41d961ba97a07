"""`ludens openenv`: serve the tasks of a suite to OpenEnv clients."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.cli.arguments import Size, Theme, Whole, at_least, render_options
from ludens.cli.output import aside
from ludens.cli.serving import serve_app
from ludens.run.task import import_suite


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
