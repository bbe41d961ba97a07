"""Lost connections and restarts of the server in a real browser: nothing that a person has typed is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import unused_port
from playwright.async_api import Browser, Page, expect

from ludens.web.study import ROOM
from tests.support.web_client import Visitor, served
from tests.web.browser import open_page
from tests.web.test_play_browser import YOUR_TURN
from tests.web.test_study import ALONE, PAIRS, base_of, study_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
WORDS, SEND, STATUS = "#words", "#say button.primary", "#status"
TOO_LONG = 10_001
"""Milliseconds after which the page takes what was not acknowledged for lost (`ACKNOWLEDGE_MS`)."""


async def participant(
    browser: Browser, visitor: Visitor, prepare: Callable[[Page], Any] | None = None
) -> Page:
    """A participant of the study ALONE, whose turn it is in the first game."""
    page = (await open_page(browser)).page
    if prepare is not None:
        await prepare(page)
    token = visitor.app[ROOM].records.participants["p001"].token
    await page.goto(f"{visitor.root}{base_of(visitor)}/join/{token}")
    await page.click("text=I agree")
    await page.click("text=Begin")
    await page.wait_for_selector(YOUR_TURN)
    return page


async def ready_for_a_partner(browser: Browser, visitor: Visitor) -> Page:
    """A participant of the study PAIRS, who has agreed and answered the questions."""
    page = (await open_page(browser)).page
    await page.goto(visitor.root + base_of(visitor))
    await page.click("text=I agree")
    await page.fill('[name="q.age"]', "40")
    await page.click("text=Continue")
    return page


def sent(visitor: Visitor) -> list[str]:
    """What the person has said in the game."""
    session = visitor.app[ROOM].games["p001"].session
    return [line["action"] for line in session.log.of("solver") if line["own"]]


async def test_message_typed_while_the_network_is_gone(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        page = await participant(browser, visitor)
        await page.context.set_offline(True)
        await expect(page.locator(STATUS)).to_contain_text("connection is lost")
        await expect(page.locator(SEND)).to_be_disabled()
        await expect(page.locator("#leave")).to_be_disabled()
        await page.fill(WORDS, "Which wire?")
        await page.press(WORDS, "Control+Enter")
        await expect(page.locator("#notice")).to_contain_text("not connected")
        assert await page.input_value(WORDS) == "Which wire?"
        await page.context.set_offline(False)
        await page.wait_for_selector(YOUR_TURN)
        assert await page.input_value(WORDS) == "Which wire?"
        assert sent(visitor) == []
        await page.click(SEND)
        await expect(page.locator(WORDS)).to_have_value("")
        assert sent(visitor) == ["Which wire?"]


async def test_message_is_cleared_only_when_the_server_has_received_it(
    browser: Browser, tmp_path: Path
) -> None:
    connections: list[Any] = []

    async def swallow(page: Page) -> None:
        def connected(socket: Any) -> None:
            connections.append(socket)
            server = socket.connect_to_server()
            if len(connections) == 1:  # what the page sends is lost, as in a network that is gone
                socket.on_message(lambda message: None)
                server.on_message(socket.send)

        await page.route_web_socket(lambda url: url.endswith("/socket"), connected)
        await page.clock.install()

    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        page = await participant(browser, visitor, swallow)
        await page.fill(WORDS, "Which wire?")
        await page.click(SEND)
        await expect(page.locator(SEND)).to_be_disabled()
        assert await page.input_value(WORDS) == "Which wire?"
        await page.clock.fast_forward(TOO_LONG)
        await expect(page.locator("#notice")).to_contain_text("did not arrive")
        assert await page.input_value(WORDS) == "Which wire?"
        await page.click(SEND)
        await expect(page.locator(WORDS)).to_have_value("")
        assert sent(visitor) == ["Which wire?"]
        assert len(connections) == 2


async def test_draft_survives_a_reload_until_it_was_sent(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        page = await participant(browser, visitor)
        await page.fill(WORDS, "I see")
        await page.reload()
        await page.wait_for_selector(YOUR_TURN)
        await expect(page.locator(WORDS)).to_have_value("I see")
        await page.type(WORDS, " wires.")
        await page.click(SEND)
        await expect(page.locator(WORDS)).to_have_value("")
        await page.reload()
        await page.wait_for_selector(YOUR_TURN)
        await expect(page.locator(WORDS)).to_have_value("")


async def test_game_and_draft_survive_a_restart_of_the_server(browser: Browser, tmp_path: Path) -> None:
    port, study = unused_port(), study_of(ALONE, tmp_path)
    async with served(tmp_path / "runs", port, study=study) as visit:
        page = await participant(browser, visit())
    await expect(page.locator(STATUS)).to_contain_text("server was stopped")
    await expect(page.locator(SEND)).to_be_disabled()
    await page.fill(WORDS, "Which wire?")
    async with served(tmp_path / "runs", port, study=study) as visit:
        await page.wait_for_selector(YOUR_TURN)
        assert await page.input_value(WORDS) == "Which wire?"
        await page.click(SEND)
        await expect(page.locator(WORDS)).to_have_value("")
        visitor = visit()
        assert visitor.app[ROOM].games["p001"].job.seed == 0
        assert sent(visitor) == ["Which wire?"]


async def test_connection_that_is_cut_and_comes_back_continues_the_game(
    browser: Browser, tmp_path: Path
) -> None:
    async with served(tmp_path / "runs", study=study_of(ALONE, tmp_path)) as visit:
        visitor = visit()
        page = await participant(browser, visitor)
        await page.fill(WORDS, "Which")
        seat: Any = visitor.app[ROOM].games["p001"].session.seats["solver"]
        listener = seat.listener
        listener._socket._writer.transport.abort()
        await page.type(WORDS, " wire?")
        while seat.listener is None or seat.listener is listener:
            await asyncio.sleep(0.02)
        await page.wait_for_selector(f"{SEND}:not([disabled])")
        await page.click(SEND)
        await expect(page.locator(WORDS)).to_have_value("")
        assert sent(visitor) == ["Which wire?"]


async def test_restart_while_waiting_for_a_partner(browser: Browser, tmp_path: Path) -> None:
    port, study = unused_port(), study_of(PAIRS, tmp_path)
    async with served(tmp_path / "runs", port, study=study) as visit:
        page = await ready_for_a_partner(browser, visit())
        await page.click("text=Find a partner")
        await expect(page.locator("#waiting")).to_contain_text("Waiting")
    await expect(page.locator("#waiting")).to_contain_text("cannot be reached")
    async with served(tmp_path / "runs", port, study=study) as visit:
        await expect(page.locator("#waiting")).to_contain_text("Waiting")
        assert [*visit().app[ROOM].waiting] == ["p001"]


async def test_a_request_that_is_never_answered_is_given_up(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ludens.web.study.POLL_SECONDS", 0.2)
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        page = await ready_for_a_partner(browser, visit())
        await page.route("**/waiting", lambda route: None)
        await page.click("text=Find a partner")
        await expect(page.locator("#waiting")).to_contain_text("cannot be reached")
        await page.unroute("**/waiting")
        await expect(page.locator("#waiting")).to_contain_text("leave this page open")


async def test_play_page_goes_on_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    port = unused_port()
    async with served(tmp_path / "runs", port) as visit:
        page = (await open_page(browser)).page
        await page.goto(f"{visit().root}/play?game=tic_tac_toe")
        await page.click("text=Play >> nth=-1")
        await page.wait_for_selector(YOUR_TURN)
    await expect(page.locator("#actions button").first).to_be_disabled()
    async with served(tmp_path / "runs", port):
        await page.wait_for_selector(f"{YOUR_TURN} >> visible=true")
        await page.click("#actions button:not([disabled]) >> nth=0")
        await expect(page.locator("#log li")).not_to_have_count(0)
    for file in (tmp_path / "runs" / ".games").glob("*.jsonl"):
        file.unlink()
    async with served(tmp_path / "runs", port):
        await expect(page.locator(STATUS)).to_contain_text("does not exist any more")
        await page.click("#gone >> text=Continue")
        await expect(page.locator("h1")).to_contain_text("Play")
