"""Playing by clicking on the picture, in a real browser: the mouse hits what the view says is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

import ludens
from ludens import Place, RenderOptions
from ludens.core.registry import GAMES
from ludens.run.lines import read_records
from tests.support.playable import playable
from tests.support.web_client import served
from tests.web.browser import Watched, open_page
from tests.web.test_play_browser import YOUR_TURN

pytestmark = pytest.mark.asyncio(loop_scope="module")
WIDTHS = (390, 1024, 1440, 1920)
QUICK = ("chess", "comma/atm", "hanabi", "overcooked", "sudoku")
"""One game of each kind: two clicks, a line of a message, cards, a grid, a menu."""
RECORDER = """
(() => {
  const moves = [];
  let socket, snapshot;
  window.WebSocket = class extends WebSocket {
    constructor(address) {
      super(address);
      socket = this;
      this.addEventListener("message", (event) => {
        if (event.isTrusted) snapshot = JSON.parse(event.data);
      });
    }
    send(text) { moves.push(JSON.parse(text).move); }
  };
  window.choices = () => [...document.querySelectorAll(".menu button")].map((button) => {
    const { x, y, width, height } = button.getBoundingClientRect();
    return [button.dataset.action, x + width / 2, y + height / 2];
  });
  window.ask_again = () => {
    document.querySelector("#say button.primary")?.click();
    snapshot.received = snapshot.turn;
    snapshot.turn += 1;
    socket.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(snapshot) }));
    return moves.splice(0);
  };
})()
"""
"""Keeps the moves that a page sends from the server; `ask_again` returns them and repeats the question.
`choices` are the buttons of the menu, with their middles."""


@pytest_asyncio.fixture(loop_scope="module")
async def root(tmp_path: Path) -> AsyncIterator[str]:
    async with served(tmp_path) as visit:
        yield visit().root


async def begin(
    browser: Browser, root: str, game: str, seats: dict[str, str], script: str = "", **options: Any
) -> Watched:
    """A page on which a game with seed 0 has begun."""
    watched = await open_page(browser, **options)
    page = watched.page
    await page.add_init_script(script)
    await page.goto(f"{root}/play?game={quote(game)}")
    for seat, player in seats.items():
        await page.locator(f'[name="seat.{seat}"]').select_option(player)
    await page.locator('[name="seed"]').fill("0")
    await page.get_by_role("button", name="Play", exact=True).click()
    await expect(page.locator("#status")).to_contain_text("Your turn")
    return watched


async def middles(page: Page) -> Callable[[Place], tuple[float, float]]:
    """Where on the page the middle of a place of the last picture is."""
    picture = page.locator(".picture img").last
    await picture.scroll_into_view_if_needed()
    box = await picture.bounding_box()
    assert box is not None
    left, top, width, height = box["x"], box["y"], box["width"], box["height"]
    return lambda place: (
        left + width * (place.x + place.width / 2),
        top + height * (place.y + place.height / 2),
    )


async def click(page: Page, place: Place) -> None:
    """Click on the middle of a place of the last picture."""
    await page.mouse.click(*(await middles(page))(place))


def first_places(game: str) -> tuple[Any, ludens.Places]:
    """The first state of seed 0, and the places of the seat that begins, seen from its own side."""
    made = ludens.make(game)
    state = made.start(0)
    seat = state.to_act[0]
    return state, made.view(RenderOptions(side=seat)).places(state, seat)


async def missed(page: Page, places: ludens.Places, actions: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The actions that clicks in the middle of their places do not play, with what they play instead."""
    shared, wrong = Counter(places.values()), []
    middle = await middles(page)
    await page.evaluate("ask_again()")
    for action in actions:
        for place in places[action]:
            await page.mouse.click(*middle(place))
        if shared[places[action]] > 1:
            for name, x, y in await page.evaluate("choices()"):
                if name == action:
                    await page.mouse.click(x, y)
        played = await page.evaluate("ask_again()")
        if played != [action]:
            wrong.append((action, played))
    return wrong


async def check_clicks(browser: Browser, root: str, game: str, most: int) -> None:
    """At every width, actions of a game's first state are clicked: so many at most, spread over all."""
    state, places = first_places(game)
    actions = list(places)[:: -(-len(places) // most)]
    seats = dict.fromkeys(state.returns, "bot/random") | {state.to_act[0]: "me"}
    watched = await begin(browser, root, game, seats if len(seats) > 1 else {}, RECORDER)
    for width in WIDTHS:
        await watched.page.set_viewport_size({"width": width, "height": 900})
        assert await missed(watched.page, places, actions) == [], width
    assert not watched.problems
    await watched.page.context.close()


@pytest.mark.parametrize("game", QUICK)
async def test_clicks_play_what_is_under_them(browser: Browser, root: str, game: str) -> None:
    await check_clicks(browser, root, game, 8)


@pytest.mark.parametrize(
    "rule",
    ["img { max-width: 200px; }", ".pictures img { max-width: 50%; height: auto; border: 9px solid; }"],
)
async def test_picture_and_places_are_one_box(browser: Browser, root: str, rule: str) -> None:
    """Also when a rule for pictures of other pages comes later in the style sheet."""
    page = (await begin(browser, root, "tic_tac_toe", {"x": "me", "o": "bot/random"})).page
    frame = await page.locator(".picture").bounding_box()
    await page.evaluate(
        "rule => { const [sheet] = document.styleSheets; sheet.insertRule(rule, sheet.cssRules.length); }",
        rule,
    )
    for part in (".picture", ".picture img", ".picture .places"):
        assert await page.locator(part).bounding_box() == frame, part


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES.names())
async def test_every_place_plays_its_action(browser: Browser, root: str, game: str) -> None:
    playable(game)
    if first_places(game)[1]:
        await check_clicks(browser, root, game, 10_000)


@pytest.mark.parametrize("width", [390, 1200])
async def test_tic_tac_toe_is_played_by_clicking_cells(
    browser: Browser, root: str, tmp_path: Path, width: int
) -> None:
    _, places = first_places("tic_tac_toe")
    seats = {"x": "me", "o": "bot/random"}
    watched = await begin(browser, root, "tic_tac_toe", seats, viewport={"width": width, "height": 800})
    page, clicked = watched.page, list[str]()
    while not await page.locator("#end").is_visible():
        action = await page.locator("#actions button").last.get_attribute("data-action")
        assert action is not None
        await click(page, *places[action])
        clicked.append(action)
        await expect(page.locator("#log li", has_text=f"x: {action}")).to_have_count(1)
        await page.wait_for_selector(f"{YOUR_TURN}, #end:not([hidden])")
    await expect(page.locator("#saved")).not_to_be_empty()
    [folder] = (found.parent for found in tmp_path.glob("*/run.json"))
    [record] = read_records(folder)
    assert [move.action for move in record.episode.moves if move.seat == "x"] == clicked
    assert not watched.problems


async def test_a_piece_is_moved_by_two_clicks(browser: Browser, root: str) -> None:
    _, places = first_places("chess")
    watched = await begin(browser, root, "chess", {"white": "me", "black": "bot/random"})
    page, (d2, d4), (e2, _) = watched.page, places["d2d4"], places["e2e4"]
    await click(page, e2)
    await expect(page.locator(".place.chosen")).to_have_count(1)
    await expect(page.locator(".place:not(.chosen, .other)")).to_have_count(2)
    await click(page, e2)
    await expect(page.locator(".place.chosen")).to_have_count(0)
    await click(page, d2)
    await click(page, d4)
    await expect(page.locator("#log li").first).to_have_text("white: d2–d4")
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
    """The action is done with the Solver's message; the right wire solves the puzzle."""
    state, places = first_places("comma/wire")
    right = f"cut_wire_{state.manual.right(state.puzzle.wires, state.puzzle.serial)}"
    watched = await begin(browser, root, "comma/wire", {"solver": "me", "expert": "bot/blind"})
    page = watched.page
    await page.locator("#words").fill("I cut this one.")
    await click(page, *places[right])
    await expect(page.locator("ol.chosen li")).to_contain_text([f"Cut wire {right[-1]}"])
    await page.locator("#say button.primary").click()
    await expect(page.locator("#end")).to_be_visible()
    await expect(page.locator("#returns")).to_contain_text("1")
    assert not watched.problems
