"""Every game is played to its end in a real browser, with the mouse alone and with touch.

Only words are typed: a person says something of their own in conversations.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from ludens.core.registry import GAMES
from ludens.core.verify import verify
from ludens.run.lines import read_records
from tests.support.playable import playable
from tests.support.web_client import served
from tests.web.browser import open_page
from tests.web.test_person_pages import model_words, spec_of
from tests.web.test_play_browser import YOUR_TURN

pytestmark = pytest.mark.asyncio(loop_scope="module")
QUICK = (
    "breakthrough", "comma/wire", "kuhn_poker", "perceive", "rule",
    "viki/activate", "viki/plan", "viki/trace",
)  # fmt: skip
"""A game of every kind of form."""
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
MOST_TURNS = 250


class Hand:
    """A mouse or a finger."""

    def __init__(self, page: Page, touch: bool) -> None:
        self.page, self.touch = page, touch

    async def press(self, target: Locator) -> None:
        await (target.tap() if self.touch else target.click())

    async def press_at(self, x: float, y: float) -> None:
        await (self.page.touchscreen.tap(x, y) if self.touch else self.page.mouse.click(x, y))

    async def answer(self) -> None:
        """Answer the question, whatever its form is."""
        page = self.page
        match await page.locator("#form").get_attribute("data-kind"):
            case "choose":
                await self._choose()
            case "sentence":
                await self._speak()
            case "select":
                await self.press(page.locator("#form .check").first)
                await self.press(page.get_by_role("button", name="Send"))
            case "fill":
                for field in await page.locator("#form input").all():
                    await field.fill("1")
                await self.press(page.locator("#form button.primary"))
            case "plan":
                while not await page.locator(".chip").count():
                    await self.press(page.locator("#actions button").first)
                await self.press(page.locator("#form button.primary"))
            case "draw":
                await self._draw()
            case "matrix":
                for cell in (0, 2):
                    await self.press(page.locator(".cell").nth(cell))
                await self.press(page.get_by_role("button", name="Send"))

    async def _choose(self) -> None:
        page, places = self.page, self.page.locator(".place:not(.chosen, .other)")
        if not await places.count():
            await self.press(page.locator("#actions button").last)
            return
        await self.press(places.last)
        if await page.locator(".place.chosen").count():
            await self.press(places.first)
        if await page.locator(".menu").count():
            await self.press(page.locator(".menu button").first)

    async def _speak(self) -> None:
        page = self.page
        actions = page.locator("#actions button")
        if await page.locator("#words").count() and not await actions.count():
            if await page.locator(".place").count():
                await self.press(page.locator(".place").first)
                return
            await page.locator("#words").fill("There is a red one.")
        else:
            await self.press(actions.first)
            await expect(page.locator("ol.chosen li")).to_have_count(1)
        await self.press(page.locator("#say button.primary"))

    async def _draw(self) -> None:
        page = self.page
        picture = page.locator(".picture").last
        await picture.scroll_into_view_if_needed()
        for number in range(10):
            box = await picture.bounding_box()
            assert box is not None
            x, y = 0.15 + 0.15 * (number % 5), 0.2 + 0.1 * (number // 5)
            await self.press_at(box["x"] + x * box["width"], box["y"] + y * box["height"])
        await expect(page.locator(".dot")).to_have_count(10)
        await self.press(page.get_by_role("button", name="Send"))


async def walk(browser: Browser, folder: Path, name: str, touch: bool) -> None:
    """Begin a game, answer until it is over, and verify what was saved."""
    playable(spec_of(name))
    async with served(folder) as visit:
        watched = await open_page(browser, **(PHONE if touch else DESKTOP))
        page, hand = watched.page, Hand(watched.page, touch)
        await page.goto(f"{visit().root}/play?game={quote(spec_of(name))}")
        for seat in await page.locator("select[name^='seat.']").all():
            if await seat.input_value() != "me":
                await seat.select_option("bot/random" if "comma" not in name else "bot/best")
        await hand.press(page.get_by_role("button", name="Play", exact=True))
        for _ in range(MOST_TURNS):
            await page.wait_for_selector(f"{YOUR_TURN}, #end:not([hidden])")
            body = await page.locator("main").inner_text()
            assert model_words(body) == [], body
            assert await page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]
            if await page.locator("#end").is_visible():
                break
            turn = await page.locator("#form").get_attribute("data-turn")
            await hand.answer()
            await page.wait_for_selector(
                f"#form:not([data-turn='{turn}']), #end:not([hidden])", state="attached"
            )
        await expect(page.locator("#outcome")).not_to_be_empty()
        await expect(page.locator("#saved")).to_contain_text("saved")
        assert watched.problems == []
        await page.context.close()
    [saved] = folder.glob("play-*")
    [record] = read_records(saved)
    assert record.episode.status in ("done", "horizon")
    verify(record.episode)


@pytest.mark.parametrize("name", QUICK)
async def test_a_game_of_every_form_with_the_mouse(browser: Browser, tmp_path: Path, name: str) -> None:
    await walk(browser, tmp_path, name, touch=False)


@pytest.mark.parametrize("name", ["breakthrough", "viki/plan", "viki/trace", "perceive"])
async def test_a_game_of_every_form_with_touch(browser: Browser, tmp_path: Path, name: str) -> None:
    await walk(browser, tmp_path, name, touch=True)


@pytest.mark.slow
@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
@pytest.mark.parametrize("name", GAMES.names())
async def test_every_game_is_played_to_its_end(
    browser: Browser, tmp_path: Path, name: str, touch: bool
) -> None:
    await walk(browser, tmp_path, name, touch)
