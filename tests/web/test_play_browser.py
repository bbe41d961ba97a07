"""Play and Study in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from ludens.agents import AGENTS
from ludens.core.registry import make
from ludens.run.lines import read_records
from tests.support.scripted_expert import MARKUP, ScriptedExpert
from tests.support.web_client import TOKEN, Visitor, served
from tests.web.browser import Watched, open_page
from tests.web.test_study import PAIRS, base_of, study_of

Visit = Callable[[], Visitor]
YOUR_TURN = "#status.mine"


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def click_place(page: Page, action: str) -> None:
    """Click on the picture where an action is."""
    place = page.locator(f'.place[data-action="{action}"]')
    box = await place.bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


async def shifts(page: Page) -> float:
    """How much of the page has moved without being asked to."""
    return float(
        await page.evaluate(
            """() => new Promise((done) => {
                let sum = 0;
                new PerformanceObserver((list) => {
                    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
                }).observe({ type: "layout-shift", buffered: true });
                setTimeout(() => done(sum), 100);
            })"""
        )
    )


async def test_tic_tac_toe_by_clicking_the_board(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        watched = await open_page(browser, viewport={"width": 390, "height": 800}, color_scheme="dark")
        page = watched.page
        await page.goto(f"{visit().root}/play?game=tic_tac_toe")
        await page.select_option("#seat-2", "bot/random")
        await page.click("text=Play >> nth=-1")
        for number in range(5):
            await page.wait_for_selector(f"{YOUR_TURN}, #end:not([hidden])")
            if await page.locator("#end").is_visible():
                break
            action = await page.locator(".place").first.get_attribute("data-action")
            assert action is not None
            await click_place(page, action)
            said = f"#log li:nth-child({2 * number + 1}), #end:not([hidden])"
            await page.wait_for_selector(said, state="attached")
            if number == 0:
                before = await page.locator("#log").inner_text()
                await page.reload()  # the game goes on
                await page.wait_for_selector(YOUR_TURN)
                assert await page.locator("#log").inner_text() == before
        await expect(page.locator("#saved")).to_contain_text("The game is saved in play-")
        alt = await page.locator(".picture img").get_attribute("alt")
        assert alt == await page.locator("#text").text_content()
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        assert await shifts(page) < 0.1
        assert watched.problems == []
    [folder] = (tmp_path / "runs").glob("play-*")
    [record] = read_records(folder)
    assert record.episode.seats == {"x": "human", "o": "bot/random"}


async def test_focus_stays_with_the_actions(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        watched = await open_page(browser)
        page = watched.page
        await page.goto(f"{visit().root}/play?game=tic_tac_toe")
        await page.focus("form.setup button")
        await page.keyboard.press("Enter")
        await page.wait_for_selector(YOUR_TURN)
        await page.locator("#actions button").first.focus()
        for moves in (2, 4):
            await page.keyboard.press("Enter")
            await expect(page.locator("#log li")).to_have_count(moves)
            await expect(page.locator("#actions button").first).to_be_focused()
        assert watched.problems == []


async def test_solver_by_keyboard_with_a_scripted_expert(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGENTS._added, "bot/scripted", ScriptedExpert)
    panel: Any = make("comma/wire").start(3)
    right = panel.puzzle.manual.right(panel.puzzle.wires, panel.puzzle.serial)
    async with served(tmp_path / "runs") as visit:
        watched = await open_page(browser)
        page = watched.page
        await page.goto(f"{visit().root}/play?game=comma/wire&seed=3&token={TOKEN}")
        await page.select_option("#seat-2", "other")
        await page.fill('[name="other.expert"]', "bot/scripted")
        await page.press("#seed", "Enter")
        await page.wait_for_selector(YOUR_TURN)
        await page.keyboard.type("Which wire?")  # the message field has the focus
        await page.keyboard.press("Control+Enter")
        await expect(page.locator("#notes")).to_contain_text(f"Cut wire {right}, please. {MARKUP}")
        assert await page.locator("#notes img, #notes script").count() == 0
        await page.wait_for_selector(YOUR_TURN)
        await click_place(page, f"cut_wire_{right}")  # is done with the message
        await expect(page.locator("ol.chosen li")).to_have_count(1)
        await page.focus("#words")
        await page.keyboard.press("Control+Enter")
        await expect(page.locator("#status")).to_have_text("The game is over.")
        await expect(page.locator("#saved")).to_contain_text("saved")
        assert watched.problems == []
    [folder] = (tmp_path / "runs").glob("play-*")
    assert read_records(folder)[0].episode.facts["solved"]


async def test_two_browsers(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        first, second = await open_page(browser), await open_page(browser)
        await first.page.goto(f"{visit().root}/play?game=breakthrough")
        await first.page.select_option("#seat-2", "friend")
        await first.page.fill("#option-rows", "5")
        await first.page.click("text=Play >> nth=-1")
        await expect(first.page.locator("#status")).to_contain_text("one other person")
        await second.page.goto(await first.page.input_value(".links input"))
        pages = [first.page, second.page]
        mover = await _mover(pages)
        pieces = mover.locator(".place")
        await pieces.first.click()  # a piece, then where it goes
        await mover.locator(".place:not(.chosen, .other)").first.click()
        await expect(mover.locator("#log li")).to_have_count(1)
        other = pages[1 - pages.index(mover)]
        await expect(other.locator(YOUR_TURN)).to_be_visible()
        await expect(other.locator("#log li")).to_have_count(1)
        await expect(first.page.locator("#links")).to_be_hidden()
        again = await first.page.context.new_page()  # the same seat in another window
        await again.goto(first.page.url)
        await expect(first.page.locator("#status")).to_contain_text("another window")
        again.on("dialog", lambda dialog: dialog.accept())
        await again.click("#leave")
        await expect(second.page.locator("#status")).to_contain_text("left the game")
        assert [*first.problems, *second.problems] == []


async def _mover(pages: list[Page]) -> Page:
    for _ in range(1200):
        for page in pages:
            if await page.locator(YOUR_TURN).count():
                return page
        await pages[0].wait_for_timeout(50)
    raise AssertionError("nobody is asked")


async def test_study_in_which_one_participant_leaves(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs", study=study_of(PAIRS, tmp_path)) as visit:
        visitor = visit()
        address = visitor.root + base_of(visitor)
        people: list[Watched] = []
        for _ in range(2):
            watched = await open_page(browser, viewport={"width": 390, "height": 800})
            await watched.page.goto(address)
            await watched.page.click("text=I agree")
            await watched.page.fill('[name="q.age"]', "40")
            await watched.page.click("text=Continue")
            await watched.page.click("text=Find a partner")
            people.append(watched)
        for watched in people:
            await expect(watched.page.locator("#choice, #status")).not_to_have_count(0)
        await expect(people[0].page.locator(YOUR_TURN)).to_be_visible(timeout=60_000)
        organiser = await open_page(browser)
        await organiser.page.goto(f"{address}/progress?token={TOKEN}")
        await expect(organiser.page.locator("td", has_text="game")).to_have_count(2)
        await people[1].page.close()
        await expect(people[0].page.locator("#status")).to_contain_text("left the game")
        await people[0].page.click("text=Continue")
        again = people[0].page.locator("button", has_text="Find a partner")
        await expect(again).to_be_visible(timeout=60_000)
        await expect(organiser.page.locator("tbody >> nth=0")).to_contain_text("0 of 3")
        assert people[0].problems == []
    [record] = read_records(tmp_path / "runs" / "pairs")
    assert (record.void, record.episode.error) == (True, "expert left the game.")
