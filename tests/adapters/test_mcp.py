"""MCP: the protocol's own client plays, in memory, over stdio and over HTTP; two clients play one game."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra 'mcp' is not installed")

from mcp import Client, StdioServerParameters

from ludens import Episode, agent, make, verify
from ludens.adapters.mcp import seat_server
from ludens.adapters.table import GameTable
from ludens.cli import main
from ludens.core.errors import BadOption, UnknownName
from ludens.draw import Picture


def test_version() -> None:
    assert version("mcp").startswith("2.3.")


async def call(client: Any, tool: str, **arguments: str) -> tuple[list[bytes], str]:
    """The pictures and the text of a tool's result."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    images = [base64.b64decode(part.data) for part in result.content if part.type == "image"]
    return images, "\n".join(part.text for part in result.content if part.type == "text")


def listed(text: str) -> list[str]:
    """The legal actions in the text of a look; none where it is not the seat's turn."""
    return text.rpartition("one of these actions.\n")[2].splitlines() if "Your turn" in text else []


async def play_to_the_end(client: Any) -> str:
    """Take the first legal action until the game is over; returns the last text."""
    _, text = await call(client, "look")
    while "The game is over" not in text:
        actions = listed(text)
        _, text = await call(client, "act", action=actions[0]) if actions else await call(client, "look")
    return text


@asynccontextmanager
async def table_of(spec: str, *seats: str, others: str = "bot/first") -> AsyncIterator[GameTable]:
    game = make(spec)
    filled = {seat: agent(others, game) for seat in game.seats if seat not in seats}
    table = GameTable(game, seats, filled, sees="both", seed=3)
    yield table
    await table.close()


async def test_a_client_looks_and_acts() -> None:
    async with table_of("tic_tac_toe", "x") as table, Client(seat_server(table, "x")) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"rules", "look", "act", "new_game"}
        assert "three" in (await call(client, "rules"))[1]
        images, text = await call(client, "look")
        seen = table.view.image(table.state, "x")
        assert [Picture.from_bytes(image).hash for image in images] == [seen.hash]
        assert table.view.text(table.state, "x") in text
        assert listed(text) == list(table.state.legal("x"))
        assert "not a legal action" in (await call(client, "act", action="D4"))[1]
        assert "not over yet" in (await call(client, "new_game"))[1]
        _, text = await call(client, "act", action="b 2")
        assert text.startswith("Done.")
        assert table.state.spiel.history() == [4, 0]
        assert "(you)" in await play_to_the_end(client)
        assert "the game is over" in (await call(client, "act", action="A1"))[1]
        episode = table.episode
        assert episode is not None
        assert verify(episode, table.game).moves == len(episode.moves)
        await call(client, "new_game")
        assert (table.seed, table.over) == (4, False)


@pytest.mark.parametrize("spec", ["hanabi", "coin_dilemma"])
async def test_two_clients_play_one_game(spec: str) -> None:
    seats = make(spec).seats
    async with table_of(spec, *seats) as table:
        async with Client(seat_server(table, seats[0])) as one, Client(seat_server(table, seats[1])) as other:
            _, text = await call(one, "look")
            assert listed(text)
            first, second = await asyncio.gather(play_to_the_end(one), play_to_the_end(other))
        assert table.episode is not None
        assert table.episode.status == "done"
        assert first.replace(" (you)", "").endswith(second.replace(" (you)", "").rpartition("Points")[2])


async def test_a_seat_that_is_not_to_act_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.adapters.mcp.WAIT", 0.01)
    async with table_of("tic_tac_toe", "x", "o") as table, Client(seat_server(table, "o")) as client:
        assert "Not your turn: x must act" in (await call(client, "look"))[1]
        assert "o is not to act now" in (await call(client, "act", action="A1"))[1]


async def test_messages_are_said() -> None:
    async with table_of("comma/wire", "solver", others="bot/oracle") as table:
        async with Client(seat_server(table, "solver")) as client:
            _, text = await call(client, "look")
            assert "your message" in text
            _, text = await call(client, "act", action=table.state.solution("solver") or "")
            for _ in range(3):
                if table.over:
                    break
                _, text = await call(client, "act", action=table.state.solution("solver") or "")
        assert "The game is over. Points: solver (you) 1" in text


async def test_unknown_seats_are_refused() -> None:
    with pytest.raises(UnknownName):
        GameTable(make("tic_tac_toe"), ("z",))
    table = GameTable(make("tic_tac_toe"), ("x", "o"))
    with pytest.raises(BadOption, match="not over yet"):
        table.again()


def command(*words: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "ludens", "mcp", *words], env=dict(os.environ)
    )


async def test_the_command_serves_a_seat_over_stdio(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    words = ("tiny_hanabi", "--seat", "player_0", "--seat", "player_1=bot/strong", "--out", str(out))
    async with Client(command(*words)) as client:
        images, text = await call(client, "look")
        assert images[0].startswith(b"\x89PNG")
        assert listed(text)
        await play_to_the_end(client)
    [line] = out.read_bytes().splitlines()
    episode = Episode.from_json(line)
    assert (episode.game, episode.status) == ("tiny_hanabi", "done")
    assert episode.seats["player_1"] == "bot/strong"


async def test_the_command_serves_two_seats_over_http() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ludens", "mcp", "tic_tac_toe", "--seat", "x", "--seat", "o", "--port", "0",
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        lines = [(await asyncio.wait_for(process.stderr.readline(), 60)).decode() for _ in range(2)]
        x, o = (line.split(": ", 1)[1].strip() for line in lines)
        async with Client(x) as one, Client(o) as other:
            texts = await asyncio.gather(play_to_the_end(one), play_to_the_end(other))
        assert all("The game is over" in text for text in texts)
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chess", "--seat", "red"], "unknown seat"),
        (["chess", "--seat", "white", "--seat", "black"], "need --port"),
        (["chess", "--seat", "white", "--seat", "white=bot/first"], "both for a client"),
        (["sudoku", "--seat", "player=bot/first"], "no seat of sudoku"),
    ],
)
def test_wrong_words_get_a_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *words]) == 2
    assert message in capsys.readouterr().err
