"""Playing as a person does, in a real browser: dragging, keys, drawing, refused answers, and the end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Browser, Page, expect

from ludens.cli import main
from ludens.core.episode import Episode
from tests.support.web_client import served
from tests.web.browser import open_page
from tests.web.test_clicks import begin, root  # noqa: F401
from tests.web.test_play_browser import YOUR_TURN

pytestmark = pytest.mark.asyncio(loop_scope="module")
AXE = Path(__file__).with_name("axe") / "axe.min.js"
"""axe-core 4.10.3, unchanged, under the MPL 2.0: see LICENSE next to it."""
MATE = "chess?fen=7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"


async def start(browser: Browser, root: str, game: str, player: str = "bot/random", **options: Any) -> Page:  # noqa: F811
    """A page on which the first seat to move is the visitor's."""
    watched = await open_page(browser, **options)
    page = watched.page
    await page.goto(f"{root}/play?game={quote(game)}")
    for seat in await page.locator("select[name^='seat.']").all():
        if await seat.input_value() != "me":
            await seat.select_option(player)
    await page.get_by_role("button", name="Play", exact=True).click()
    await page.wait_for_selector(YOUR_TURN)
    return page


async def middle(page: Page, selector: str) -> tuple[float, float]:
    box = await page.locator(selector).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def serious(page: Page) -> list[str]:
    """What axe-core finds to be serious or worse."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


async def test_a_piece_is_dragged_and_its_targets_are_marked(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "chess")  # White moves first, and so does the visitor
    assert await page.title() == "Your turn · chess: white"
    await page.mouse.move(*await middle(page, '.place[data-action="e2e3"]'))
    await page.mouse.down()
    await page.mouse.move(300, 300, steps=3)
    await expect(page.locator(".ghost")).to_have_count(1)
    await expect(page.locator(".targets .place:not(.chosen, .other)")).to_have_count(2)
    await page.mouse.move(*await middle(page, '.place[data-action="e2e4"]'), steps=3)
    await page.mouse.up()
    await expect(page.locator("#log li").first).to_have_text("white: e2–e4")


async def test_a_drag_to_nowhere_moves_nothing(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "chess")
    await page.mouse.move(*await middle(page, '.place[data-action="e2e3"]'))
    await page.mouse.down()
    await page.mouse.move(30, 30, steps=3)
    await page.mouse.up()
    await expect(page.locator(".ghost, .place.chosen")).to_have_count(0)
    await expect(page.locator("#log li")).to_have_count(0)


async def test_the_board_is_turned_to_black(browser: Browser, root: str) -> None:  # noqa: F811
    page = (await begin(browser, root, "chess", {"black": "me", "white": "bot/random"})).page
    box = await page.locator(".picture").bounding_box()
    assert box is not None
    _, y = await middle(page, '.place[data-action="a7a6"], .place[data-action="a7a5"]')
    assert y > box["y"] + 0.6 * box["height"]
    await expect(page.locator("#rules")).to_contain_text("Black is at the bottom")
    await expect(page.locator("#text")).to_contain_text("h g f e d c b a")


async def test_moves_are_typed(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "chess")
    await page.fill("#typed", "e2e5")
    await page.press("#typed", "Enter")
    await expect(page.locator("#notice")).to_contain_text("not a legal action")
    assert await page.input_value("#typed") == "e2e5"
    await page.fill("#typed", "Nf3")
    await page.press("#typed", "Enter")
    await expect(page.locator("#log li").first).to_have_text("white: g1–f3")
    await expect(page.locator("#typed")).to_have_value("")


async def test_arrow_keys_go_over_the_board(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "tic_tac_toe")
    await expect(page.locator('.place[tabindex="0"]')).to_have_count(1)
    await page.locator(".place").first.focus()
    for key in ("ArrowRight", "ArrowDown"):
        await page.keyboard.press(key)
    await expect(page.locator('.place[data-action="B2"]')).to_be_focused()
    await page.keyboard.press("Enter")
    await expect(page.locator("#log li").first).to_have_text("x: B2")


async def test_arrow_keys_and_space_act_in_games_of_directions(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "overcooked?horizon=3")
    for moves, key in enumerate(("ArrowLeft", " ", "."), 1):
        await page.locator("body").press(key)
        await expect(page.locator("#log li")).to_have_count(2 * moves)
    own = [text for text in await page.locator("#log li").all_text_contents() if text.startswith("chef_0")]
    assert own == ["chef_0: Left", "chef_0: Interact", "chef_0: Stay"]
    await expect(page).to_have_title("Over · overcooked: chef_0")
    await expect(page.locator("#outcome")).to_contain_text("Together you scored")


async def test_a_refused_plan_stays_and_can_be_undone(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "viki/plan")
    send = page.get_by_role("button", name="Send the plan")
    await send.click()
    await expect(page.locator("#notice")).to_have_text("Give at least one robot something to do.")
    for name in ("R1", "Move", "R2"):
        await page.locator(f'#actions [data-action="{name}"]').click()
    await expect(page.locator(".chip")).to_have_count(1)
    await page.get_by_role("button", name="Next step").click()
    await page.locator('.place[data-action="R1"]').click()  # the robot on the map
    await expect(page.locator(".asked")).to_have_text("What does R1 do?")
    for _ in range(3):
        await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".asked")).to_have_text("R1 Move: which target?")
    await page.locator('#actions [data-action="R2"]').click()
    await page.reload()
    await expect(page.locator(".chip")).to_contain_text(["R1 Move R2"])
    await send.click()
    await expect(page.locator("#outcome")).to_have_text("Wrong.")
    await expect(page.locator("#answer")).to_contain_text("1. R")


async def test_points_are_drawn_moved_and_taken_back(browser: Browser, root: str) -> None:  # noqa: F811
    page = await start(browser, root, "viki/trace")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#notice")).to_contain_text("has 0 of 5 points")
    box = await page.locator(".picture").bounding_box()
    assert box is not None
    for number in range(5):
        await page.mouse.click(box["x"] + 60 + 60 * number, box["y"] + 100)
    await expect(page.locator(".dot")).to_have_count(5)
    await page.mouse.move(box["x"] + 60, box["y"] + 100)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 60, box["y"] + 200, steps=3)
    await page.mouse.up()
    dot = await page.locator(".dot").first.bounding_box()
    assert dot is not None
    assert abs(dot["y"] + dot["height"] / 2 - box["y"] - 200) < 2
    await expect(page.locator("button.path").nth(1)).to_have_attribute("aria-pressed", "true")
    await page.mouse.click(box["x"] + 60, box["y"] + 300)
    await expect(page.locator(".dot")).to_have_count(6)
    await page.get_by_role("button", name="Undo").click()
    await expect(page.locator(".dot")).to_have_count(5)


async def test_the_copy_of_a_board_is_painted(browser: Browser, root: str, tmp_path: Path) -> None:  # noqa: F811
    page = await start(browser, root, "perceive")
    await page.mouse.move(*await middle(page, '.cell[data-cell="0"]'))
    await page.mouse.down()
    await page.mouse.move(*await middle(page, '.cell[data-cell="2"]'), steps=8)
    await page.mouse.up()
    await page.get_by_role("radio", name="O", exact=True).click()
    await page.locator('.place[data-action="4"]').click()
    await page.keyboard.press("Tab")
    await page.locator('.cell[data-cell="8"]').press("o")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#outcome")).to_be_visible()
    [folder] = tmp_path.glob("play-*")
    line = (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()[0]
    [move] = json.loads(line)["episode"]["moves"]
    assert json.loads(move["action"]) == [[1, 1, 1], [-1, 0, -1], [-1, -1, 0]]


async def test_pages_of_the_manual_fill_the_width(browser: Browser, root: str) -> None:  # noqa: F811
    page = (await begin(browser, root, "comma/keypad", {"solver": "bot/best", "expert": "me"})).page
    for width, least in ((390, 350), (1280, 700)):
        await page.set_viewport_size({"width": width, "height": 900})
        for picture in await page.locator(".picture").all():
            box = await picture.bounding_box()
            assert box is not None
            assert box["width"] >= least
    await page.locator(".picture").first.click()
    await expect(page.locator("#enlarged")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.locator("#enlarged")).to_be_hidden()


async def test_end_of_a_game(browser: Browser, tmp_path: Path) -> None:
    async with served(tmp_path / "runs") as visit:
        page = await start(browser, visit().root, MATE)
        await page.fill("#typed", "Qg7#")
        await page.press("#typed", "Enter")
        await expect(page.locator("#outcome")).to_have_text("You won against bot/random after 1 move.")
        async with page.expect_download() as downloading:
            await page.click("#download")
        file = tmp_path / "game.jsonl"
        await (await downloading.value).save_as(file)
        assert Episode.from_json(file.read_bytes()).returns == {"white": 1.0, "black": -1.0}
        assert await serious(page) == []
        replay = await page.locator("#replay").get_attribute("href")
        await page.get_by_role("button", name="Swap seats").click()
        await expect(page).to_have_title(re.compile("chess: black"))
        await expect(page.locator("#rules")).to_contain_text("You are black")
        await page.goto(f"{visit().root}{replay}")
        await expect(page.locator("h1")).to_contain_text("human")
    for words in (["verify", str(file)], ["replay", str(file)]):
        assert main(words) == 0


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "game", ["chess", "comma/wire", "perceive", "viki/activate", "viki/plan", "viki/trace"]
)
async def test_axe_finds_nothing_serious(browser: Browser, root: str, game: str, scheme: str) -> None:  # noqa: F811
    page = await start(browser, root, game, "bot/best", color_scheme=scheme)
    assert await serious(page) == []


async def test_axe_finds_nothing_serious_where_games_are_chosen(browser: Browser, root: str) -> None:  # noqa: F811
    page = (await open_page(browser)).page
    for path in ("/play", "/play?game=chess", "/play?game=spy"):
        await page.goto(root + path)
        assert await serious(page) == []
