"""The pages in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from ludens.run.lines import read_records
from ludens.run.report import load_results, render
from ludens.run.report.page import episode_page
from ludens.run.rows import EPISODES
from tests.support.reported import INSULT
from tests.support.runs import TURNS, plan_of, played
from tests.web.browser import open_page
from tests.web.conftest import Client, Serve, serving, starting

pytestmark = pytest.mark.asyncio(loop_scope="module")
RUN = "first/reported"
KEY = "rude%3Aturns%3A0%3A1"


@pytest_asyncio.fixture(loop_scope="module")
async def serve() -> AsyncIterator[Serve]:
    """Starts a server for a folder of runs, in the event loop of the browser."""
    async with starting() as start:
        yield serving(start)


def address(client: Client, path: str) -> str:
    return f"http://127.0.0.1:{client.port}{path}"


async def at_step(page: Page, step: int) -> None:
    await expect(page.locator(".panel").first).to_have_attribute("data-step", str(step))


async def test_an_episode_is_replayed_by_keys(reported_runs: Path, serve: Serve, browser: Browser) -> None:
    client = await serve(reported_runs)
    [record] = [r for r in read_records(reported_runs / RUN) if r.key == "rude:turns:0:1"]
    last = len(record.episode.moves)
    watched = await open_page(browser)
    page = watched.page
    await page.goto(address(client, f"/episode/{RUN}?key={KEY}#step=1"))
    await at_step(page, 1)
    picture = page.locator(".seat .pictures img").first
    box = await picture.bounding_box()
    boards = [await picture.get_attribute("alt")]
    for key, step in (
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("End", last),
        ("ArrowRight", last),
    ):
        await page.keyboard.press(key)
        await at_step(page, step)
        assert page.url.endswith(f"#step={step}")
        assert await picture.bounding_box() == box  # nothing moves when the picture changes
        boards.append(await picture.get_attribute("alt"))
    # The alt text is the text twin, which changes with the board.
    assert boards[0] == boards[2] != boards[1]
    assert boards[-1] == await page.locator(".twin .text").first.text_content()
    await page.keyboard.press("Home")
    await page.locator(".speed").select_option("200")
    await page.locator("h1").click()
    await page.keyboard.press("Space")
    await at_step(page, last)
    await expect(page.locator("[data-go=play]")).to_have_text("Play")
    await page.locator(".slider").focus()
    await page.keyboard.press("ArrowLeft")
    await at_step(page, last - 1)
    await expect(page.locator(".verification")).to_contain_text("as recorded")
    await page.locator(".moves summary").click()
    await page.locator(".moves a").nth(2).click()
    await at_step(page, 2)
    assert watched.problems == []


async def test_what_a_reader_opens_stays_open_in_other_steps(
    reported_runs: Path, serve: Serve, browser: Browser
) -> None:
    client = await serve(reported_runs)
    watched = await open_page(browser)
    page = watched.page
    await page.goto(address(client, f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0#step=0"))
    await at_step(page, 0)
    await page.locator("details[data-reply] > summary").first.click()
    messages = page.locator("details[data-reply]").first.locator(".message")
    await expect(messages.first).to_contain_text("You play tic-tac-toe")
    await page.locator("h1").click()
    for step in (1, 2):
        await page.keyboard.press("ArrowRight")
        await at_step(page, step)
    await expect(page.locator("details[data-reply]").first).to_have_attribute("open", "")
    await expect(messages.first).to_be_visible()
    assert watched.problems == []


async def test_reports_and_single_pages_have_the_same_viewer(
    reported_runs: Path, tmp_path: Path, browser: Browser
) -> None:
    report, alone = tmp_path / "report.html", tmp_path / "episode.html"
    report.write_bytes(render(load_results([reported_runs / RUN]), "html", episodes=1))
    [record] = [r for r in read_records(reported_runs / RUN) if r.key == "rude:turns:0:0"]
    alone.write_text(episode_page(record.episode, record.key, 256), encoding="utf-8")
    last = len(record.episode.moves)
    watched = await open_page(browser, viewport={"width": 390, "height": 844})
    page = watched.page
    await page.goto(alone.as_uri() + "#step=1")
    await at_step(page, 1)
    for key, step in (("ArrowRight", 2), ("End", last), ("Home", 0)):
        await page.keyboard.press(key)
        await at_step(page, step)
        await expect(page.locator(".step:visible")).to_have_count(1)
    await page.locator("[data-go=all]").click()
    await expect(page.locator(".step:visible")).to_have_count(last + 1)
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
    await page.goto(report.as_uri())
    await page.keyboard.press("ArrowRight")
    cards = page.locator("details.episode[data-task=turns]")
    first, second = cards.nth(0), cards.nth(1)
    await first.locator("summary").first.click()
    await second.locator("summary").first.click()
    steps = [await card.locator(".panel").get_attribute("data-step") for card in (first, second)]
    assert steps == ["0", "0"]
    await page.keyboard.press("ArrowRight")  # only the viewer that was used last moves
    await expect(second.locator(".panel")).not_to_have_attribute("data-step", "0")
    await expect(first.locator(".panel")).to_have_attribute("data-step", "0")
    assert "#" not in page.url
    assert watched.problems == []


async def test_what_a_model_says_is_never_markup(reported_runs: Path, serve: Serve, browser: Browser) -> None:
    client = await serve(reported_runs)
    watched = await open_page(browser)
    page = watched.page
    await page.goto(address(client, f"/episode/{RUN}?key={KEY}&with_key=rude%3Aturns%3A0%3A0#step=1"))
    await at_step(page, 1)
    said = page.locator(".said", has_text="<script>").first
    assert INSULT.split("\u202e")[0] in (await said.text_content() or "")
    await page.locator(".prompt:not([hidden]) > summary").first.click()
    await expect(page.locator(".message").first).to_be_visible()
    assert await page.locator("script:not([src])").count() == 0
    assert await page.locator("bdi b, bdi script").count() == 0
    # The policy stops scripts even where markup would get into the page.
    refused = await page.evaluate(
        """() => new Promise((done) => {
            addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective));
            const script = document.createElement("script");
            script.textContent = "alert(1)";
            document.body.append(script);
            setTimeout(() => done("nothing was refused"), 20000);
        })"""
    )
    assert refused.startswith("script-src")
    assert not [problem for problem in watched.problems if "dialog" in problem]


async def test_a_run_is_followed_without_reloading(tmp_path: Path, serve: Serve, browser: Browser) -> None:
    await played(tmp_path / "whole", plan_of("bot/random", "bot/best", suite=TURNS))
    lines = (tmp_path / "whole" / EPISODES).read_bytes().splitlines(keepends=True)
    run = tmp_path / "runs" / "live"
    run.mkdir(parents=True)
    shutil.copy(tmp_path / "whole" / "run.json", run)
    (run / EPISODES).write_bytes(b"".join(lines[:3]))
    client = await serve(tmp_path / "runs")
    watched = await open_page(browser)
    page = watched.page
    await page.goto(address(client, "/run/live"))
    state = page.locator("#state")
    await expect(state).to_contain_text("3 of 16 episodes")
    await page.evaluate("window.kept = true")
    await page.locator("#results th button").first.click()
    await page.locator("#row-filter").fill("best")
    with (run / EPISODES).open("ab") as file:  # as another process would
        file.writelines(lines[3:])
    await expect(state).to_contain_text("16 of 16 episodes")
    await expect(page.locator("#list")).to_contain_text("16 episodes")
    assert await page.evaluate("window.kept")
    assert await page.locator("#row-filter").input_value() == "best"
    table = page.locator("#results table").first
    await expect(table.locator("th").first).to_have_attribute("aria-sort", "ascending")
    await expect(table.locator("tbody tr:visible")).to_have_count(1)
    shutil.rmtree(run)
    await expect(page.locator("#problem")).to_contain_text("deleted")
    assert not [problem for problem in watched.problems if "404" not in problem]


async def test_pages_fit_a_telephone_in_the_dark_and_need_no_mouse(
    reported_runs: Path, serve: Serve, browser: Browser
) -> None:
    client = await serve(reported_runs)
    watched = await open_page(browser, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = watched.page
    for path in ("/", "/runs", f"/run/{RUN}", f"/episode/{RUN}?key={KEY}&with_key=seer%3Aturns%3A0%3A1"):
        await page.goto(address(client, path))
        await page.wait_for_load_state("networkidle")
        assert await page.evaluate("document.documentElement.scrollWidth") == 390, path
        paper = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert paper == "rgb(20, 22, 26)"
    await page.goto(address(client, "/"))
    game = page.locator("button[data-game=tic_tac_toe]")
    before = await game.locator("img").get_attribute("src")
    await game.focus()
    box = await game.bounding_box()
    await page.keyboard.press("Enter")
    await expect(game.locator("img")).not_to_have_attribute("src", before or "")
    assert await game.bounding_box() == box
    assert "A" in (await game.locator("img").get_attribute("alt") or "")
    await page.fill("#search", "robots")
    await expect(page.locator("#matches")).to_contain_text("games")
    await expect(page.locator(".card:visible h3").first).to_contain_text("viki/")
    assert not await page.locator("button[data-game=tic_tac_toe]").is_visible()
    await page.fill("#search", "")
    assert await page.locator("button[data-game=tic_tac_toe]").is_visible()
    assert watched.problems == []
