"""`ludens mcp`: serve seats of a game to clients of the Model Context Protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ludens.cli.arguments import (
    DEFAULT_AGENT,
    GameName,
    Options,
    Size,
    Theme,
    Whole,
    Words,
    game_of,
    pairs,
    render_options,
    seat_of,
)
from ludens.cli.output import aside
from ludens.cli.serving import serve_app
from ludens.core.episode import Episode
from ludens.core.errors import BadOption


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
    from ludens.adapters.table import Table
    from ludens.agents import agent, import_agent

    played = game_of(game, option)
    served = [seat_of(played, word) for word in seat if "=" not in word]
    filled = pairs([word for word in seat if "=" in word], "--seat", f"{played.seats[-1]}=bot/best")
    for name, spec in filled.items():
        seat_of(played, name)
        import_agent(spec)
        if name in served:
            raise BadOption(f"{name} is both for a client and for {spec}.")
    served = served or [next((name for name in played.seats if name not in filled), "")]
    if not served[0]:
        raise BadOption(f"no seat of {played.name} is left for a client.")
    if len(served) > 1 and port is None:
        raise BadOption("several seats need --port: a client over stdio plays one seat.")
    models: dict[str, object] = {}
    others = {
        name: agent(filled.get(name, DEFAULT_AGENT), played, models)  # type: ignore[arg-type]
        for name in played.seats
        if name not in served
    }

    def record(episode: Episode) -> None:
        if out is not None:
            with out.open("ab") as file:
                file.write(episode.to_json() + b"\n")

    def announce(at: int) -> None:
        for name in served:
            aside(f"{name}: http://127.0.0.1:{at}/{name}/mcp")

    async def serve() -> None:
        table = Table(
            played,
            tuple(served),
            others,
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
