"""Playing by clicking on the picture, in a real browser: the mouse hits what the view says is there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, expect

import ludens
from ludens import Place, RenderOptions
from ludens.run.store import read_records
from tests.support.web_client import served
from tests.web.browser import Watched, launched, open_page


@pytest.fixture
async def root(tmp_path: Path) -> AsyncIterator[str]:
    async with served(tmp_path) as visit:
        yield visit().root


@pytest.fixture
async def browser(root: str) -> AsyncIterator[Browser]:
    """A browser that is closed before the server."""
    async with launched() as started:
        yield started


async def begin(browser: Browser, root: str, game: str, seats: dict[str, str], **options: Any) -> Watched:
    """A page on which a game with seed 0 has begun."""
    watched = await open_page(browser, **options)
    page = watched.page
    await page.goto(f"{root}/play?game={quote(game)}")
    for seat, player in seats.items():
        await page.locator(f'[name="seat.{seat}"]').select_option(player)
    await page.locator('[name="seed"]').fill("0")
    await page.get_by_role("button", name="Play", exact=True).click()
    await expect(page.locator("#status")).to_contain_text("Your turn")
    return watched


async def click(page: Page, place: Place) -> None:
    """Click on the middle of a place of the last picture."""
    picture = page.locator(".picture img").last
    await picture.scroll_into_view_if_needed()
    box = await picture.bounding_box()
    assert box is not None
    x, y = place.x + place.width / 2, place.y + place.height / 2
    await page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


def first_places(game: str) -> tuple[Any, ludens.Places]:
    """The first state of seed 0, and the places of the seat that begins."""
    made = ludens.make(game)
    state = made.start(0)
    return state, made.view(RenderOptions()).places(state, state.to_act[0])


@pytest.mark.parametrize("width", [390, 1200])
async def test_tic_tac_toe_is_played_by_clicking_cells(
    browser: Browser, root: str, tmp_path: Path, width: int
) -> None:
    _, places = first_places("tic_tac_toe")
    seats = {"x": "me", "o": "bot/random"}
    watched = await begin(browser, root, "tic_tac_toe", seats, viewport={"width": width, "height": 800})
    page, clicked = watched.page, list[str]()
    while not await page.locator("#end").is_visible():
        action = await page.locator("#actions button").last.inner_text()
        await click(page, *places[action])
        clicked.append(action)
        await expect(page.locator("#log li", has_text=f"x: {action}")).to_have_count(1)
        await page.wait_for_function(
            "() => !document.getElementById('end').hidden"
            " || document.getElementById('status').textContent.startsWith('Your turn')"
        )
    await expect(page.locator("#saved")).not_to_be_empty()
    [folder] = tmp_path.iterdir()
    [record] = read_records(folder)
    assert [move.action for move in record.episode.moves if move.seat == "x"] == clicked
    assert not watched.problems


async def test_a_piece_is_moved_by_two_clicks(browser: Browser, root: str) -> None:
    _, places = first_places("chess")
    watched = await begin(browser, root, "chess", {"white": "me", "black": "bot/random"})
    page, (d2, d4), (e2, _) = watched.page, places["d2d4"], places["e2e4"]
    await click(page, e2)
    await expect(page.locator(".place.chosen")).to_have_count(1)
    await expect(page.locator(".place:not(.chosen)")).to_have_count(2)
    await click(page, e2)
    await expect(page.locator(".place.chosen")).to_have_count(0)
    await click(page, d2)
    await click(page, d4)
    await expect(page.locator("#log li").first).to_have_text("white: d2d4")
    assert not watched.problems


async def test_the_digit_is_chosen_after_the_cell(browser: Browser, root: str) -> None:
    _, places = first_places("sudoku")
    action = next(action for action in places if sum(other[:2] == action[:2] for other in places) > 1)
    watched = await begin(browser, root, "sudoku", {})
    page = watched.page
    await click(page, *places[action])
    offered = [each for each in places if each[:2] == action[:2]]
    await expect(page.locator(".menu button")).to_have_text([*offered, "Cancel"])
    await page.locator(".menu").get_by_role("button", name=action, exact=True).click()
    await expect(page.locator("#log li").first).to_contain_text(action)
    assert not watched.problems


async def test_a_wire_is_cut_by_clicking_on_it(browser: Browser, root: str) -> None:
    """The action becomes a line of the Solver's message; the right wire solves the puzzle."""
    state, places = first_places("comma/wire")
    right = f"cut_wire_{state.manual.right(state.puzzle.wires, state.puzzle.serial)}"
    watched = await begin(browser, root, "comma/wire", {"solver": "me", "expert": "bot/blind"})
    page = watched.page
    await page.locator("#words").fill("I cut this one.")
    await click(page, *places[right])
    await expect(page.locator("#words")).to_have_value(f"I cut this one.\n{right}\n")
    await page.locator("#say button").last.click()
    await expect(page.locator("#end")).to_be_visible()
    await expect(page.locator("#returns")).to_contain_text("1")
    assert not watched.problems
