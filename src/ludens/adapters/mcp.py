"""MCP: a seat of a game as a server of the Model Context Protocol, so that coding agents play (extra `mcp`).

`ludens mcp hanabi --seat player_0` serves one seat over stdio; with several seats, each has an address of its
own. A client gets four tools: `rules`, `look` (pictures as images), `act` and `new_game`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from ludens.adapters.table import GameTable
from ludens.core.ask import Ask
from ludens.core.errors import BadOption, LudensError, MissingExtra
from ludens.core.view import Observation

try:
    from mcp.server.mcpserver import Image, MCPServer
except ImportError:
    raise MissingExtra("ludens mcp", "mcp") from None

WAIT = 20.0
"""Seconds for which `look` waits for the other seats."""
_SHOWN = 200
"""Legal actions that are listed."""


def seat_server(table: GameTable, seat: str) -> MCPServer:
    """The server of one seat of a table; several seats of one table can be served."""
    return _SeatServer(table, seat).server


class _SeatServer:
    def __init__(self, table: GameTable, seat: str) -> None:
        self.table, self.seat = table, seat
        self.server = MCPServer(
            f"ludens {table.game.name} {seat}",
            instructions=(
                f"You play the seat {seat} of the game {table.game.name}. Read the rules once, then look and "
                "act in turns until the game is over."
            ),
        )
        for tool in (self.rules, self.look, self.act, self.new_game):
            self.server.tool(structured_output=False)(tool)

    async def rules(self) -> str:
        """The rules of the game for your seat."""
        self.table.start()
        return self.table.view.rules(self.seat)

    async def look(self) -> list[Any]:
        """What you see now: pictures, what is said, and your legal actions. Waits for the other players."""
        return self._content(await self.table.turn(self.seat, WAIT))

    async def act(self, action: str) -> list[Any]:
        """Take an action: one of those that `look` lists, or a message where you may say anything."""
        try:
            tried = await self.table.act(self.seat, action)
        except LudensError as error:
            return [f"Nothing was done: {error}"]
        if tried.verdict != "ok":
            return [f"Nothing was done: {tried.reason}"]
        ask = await self.table.turn(self.seat, 0.05)
        if ask is None and not self.table.over:
            return ["Done. The others are to act: call look to wait for your turn."]
        return ["Done.", *self._content(ask)]

    async def new_game(self) -> list[Any]:
        """Begin another game, once this one is over."""
        try:
            self.table.again()
        except BadOption as error:
            return [f"Nothing was done: {error}"]
        return await self.look()

    def _content(self, ask: Ask | None) -> list[Any]:
        table = self.table
        if table.episode is not None:
            return [*self._parts(self._observe()), _ending(table, self.seat)]
        if ask is None:
            due = ", ".join(seat for seat in table.state.to_act if seat != self.seat) or "the others"
            return [*self._parts(self._observe()), f"Not your turn: {due} must act. Call look again."]
        return [*self._parts(ask.observation), _due(ask)]

    def _observe(self) -> Observation:
        return self.table.view.observe(self.table.state, self.seat, self.table.sees)

    def _parts(self, observation: Observation) -> list[Any]:
        images = []
        for picture in observation.images:
            data, mime = picture.encoded()
            images.append(Image(data=data, format=mime.removeprefix("image/")))
        return [*images, *filter(None, (observation.text, observation.notes))]


def _due(ask: Ask) -> str:
    if ask.legal.is_text:
        return f"Your turn: call act with your message.\n{ask.format.ask(ask.legal)}"
    names, more = ask.legal[:_SHOWN], len(ask.legal) - _SHOWN
    listed = "\n".join(names) + (f"\n... and {more} more" if more > 0 else "")
    return f"Your turn: call act with one of these actions.\n{listed}"


def _ending(table: GameTable, seat: str) -> str:
    episode = table.episode
    assert episode is not None
    if episode.status == "void":
        return f"The game could not go on: {episode.error}"
    points = ", ".join(
        f"{name}{' (you)' * (name == seat)} {value:g}" for name, value in episode.returns.items()
    )
    return f"The game is over. Points: {points}."


def http_app(table: GameTable) -> Any:
    """A Starlette application that serves every outside seat of a table at /SEAT/mcp."""
    from starlette.applications import Starlette

    servers = {seat: seat_server(table, seat) for seat in table.seats}
    apps = [s.streamable_http_app(streamable_http_path=f"/{seat}/mcp") for seat, s in servers.items()]

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for server in servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield
            await table.close()

    return Starlette(routes=[route for app in apps for route in app.routes], lifespan=lifespan)
