"""axe-core on every page that is not a game: home, runs, a run, an episode, search, a study."""

from __future__ import annotations

import asyncio
import os
import re
from html import unescape
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.support.runs import plan_of, played
from tests.support.web_client import TOKEN, Visitor, served
from tests.web.browser import launched, open_page
from tests.web.test_play import begin
from tests.web.test_study import PAIRS, base_of, study_of

AXE = Path(__file__).with_name("axe") / "axe.min.js"
"""axe-core 4.10.3, unchanged, under the MPL 2.0: see LICENSE next to it."""
SHOTS = os.environ.get("LUDENS_SCREENSHOTS", "")
"""A folder for screenshots of every page, to be looked at."""


async def serious(page: Page) -> list[str]:
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    results = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{rule['id']}: {node['html'][:120]}"
        for rule in results["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


async def look(page: Page, name: str, scheme: str) -> None:
    for width in (360, 768, 1280) if SHOTS else ():
        await page.set_viewport_size({"width": width, "height": 900})
        await page.wait_for_load_state("networkidle")
        await page.screenshot(path=f"{SHOTS}/{name}-{scheme}-{width}.png", full_page=name != "home")


async def addresses(visitor: Visitor) -> dict[str, str]:
    """Pages to look at, by name."""
    text = ""
    while "/episode/" not in text:
        _, _, text = await visitor.get("/run/spies")
        await asyncio.sleep(0.05)
    [episode] = {unescape(link) for link in re.findall(r'href="(/episode/spies\?[^"]+)"', text)}
    texts = await visitor.get("/run/turns")
    turns = sorted({unescape(link) for link in re.findall(r'href="(/episode/turns\?[^"]+)"', texts[2])})
    key = re.search(r"key=([^&]+)&at=([^&]+)", turns[1])
    assert key is not None
    return {
        "home": "/",
        "runs": "/runs",
        "run": "/run/turns",
        "replies": "/replies/turns?verdict=ok",
        "episode": episode,
        "compare": f"{turns[0]}&with_key={key[1]}&with_at={key[2]}",
        "watch": "/watch",
        "progress": f"{base_of(visitor)}/progress",
        "error": "/run/none",
    }


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
async def test_axe_finds_nothing_serious(scheme: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    await played(runs / "spies", plan_of("bot/random", suite="play?game=spy"))
    await played(runs / "turns", plan_of("bot/random", suite="tests.support.suites:TURNS"))
    async with served(runs, study=study_of(PAIRS, tmp_path)) as visit, launched() as browser:
        visitor = visit()
        await visitor.get(f"/?token={TOKEN}")
        _, seat = await begin(visitor, "tic_tac_toe")
        await seat.turn()
        problems = list[str]()
        page = await _signed_in(browser, visitor, scheme)
        for name, path in (await addresses(visitor)).items():
            await page.goto(visitor.root + path)
            await page.wait_for_load_state("networkidle")
            problems += [f"{name}: {problem}" for problem in await serious(page)]
            await look(page, name, scheme)
        await page.goto(visitor.root + base_of(visitor))
        for step in ("consent", "before", "task", "waiting"):
            problems += [f"study, {step}: {problem}" for problem in await serious(page)]
            await look(page, f"study-{step}", scheme)
            if step == "before":
                await page.fill('[name="q.age"]', "40")
            if step != "waiting":
                await page.click("button.primary")
                await page.wait_for_load_state("networkidle")
        assert problems == []
        await page.evaluate("document.querySelector('main').append(new Image())")
        assert any("image-alt" in problem for problem in await serious(page))


async def _signed_in(browser: Browser, visitor: Visitor, scheme: str) -> Page:
    watched = await open_page(browser, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    await watched.page.goto(f"{visitor.root}/?token={TOKEN}")
    return watched.page
