"""The leaderboard: rows by player and settings, packs that are refused, pages that open from a folder."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from shutil import copy, copytree

import pytest
from playwright.async_api import Browser, expect

from ludens.core.errors import BadFile, BadOption
from ludens.run.board.entries import BoardSection, public_spec, section_of
from ludens.run.board.site import PICTURES, RESULTS, Submissions, read_submissions, write_site
from ludens.run.board.tree import CELLS, MARKS, START, advance, lines, read_tree, winner
from ludens.run.pack import BadPack
from ludens.run.proof import pack_run
from ludens.run.results import load_results
from tests.support.forgery import Forgery
from tests.support.reported import make_run
from tests.support.submissions import submit
from tests.web.browser import launched, open_page


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("submissions")
    packs = asyncio.run(submit(folder))
    run = make_run(folder / "reported", {"seer": "fake/seer", "rude": "fake/rude?memory=last"}, limit=4)
    (packs / "more").mkdir()
    pack_run(run, packs / "more" / "reported.ludens", workers=0)
    return packs


@pytest.fixture(scope="module")
def submissions(packs: Path, tmp_path_factory: pytest.TempPathFactory) -> Submissions:
    return read_submissions(packs, tmp_path_factory.mktemp("runs"), workers=0)


@pytest.fixture(scope="module")
def site(submissions: Submissions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "site"
    assert write_site(submissions, out, title="A <board>", episodes=1) == 11
    return out


def sections(submissions: Submissions) -> dict[str, BoardSection]:
    results = load_results([one.run for one in submissions.accepted])
    return {suite.suite.name: section_of(suite) for suite in results.suites}


def test_one_row_per_player_and_settings(submissions: Submissions) -> None:
    rows = sections(submissions)["demo"].rows({})
    entries = {(row.name, row.detail): row.kind for row in rows}
    assert entries == {
        ("compat/alpha", ""): "model",
        ("compat/alpha", "blind"): "blind",
        ("compat/beta", "memory all, temperature 0"): "model",  # and neither its address nor its rpm
        ("compat/beta", "blind, memory all, temperature 0"): "blind",
        ("nano‡", ""): "model",
        ("nano‡", "blind"): "blind",
        ("bot/random", ""): "bot",
        ("bot/best", ""): "bot",
        ("human", ""): "person",
        ("blind baseline", ""): "reference",
        ("upper bound", ""): "reference",
    }
    nano = next(row for row in rows if (row.name, row.kind) == ("nano‡", "model"))
    assert re.match(r"100\.0†? \[", str(nano.values[0]))
    assert nano.values[-3] != "no control"
    assert rows[0].kind != "reference"


def test_published_rows_and_overall(submissions: Submissions) -> None:
    rows = sections(submissions)["reported"].rows({})
    published = [row for row in rows if row.kind == "published"]
    assert [(row.name, row.detail, str(row.values[0])) for row in published] == [
        ("GPT_0", "Some & Body 2024", "50.0")
    ]
    seer = next(row for row in rows if row.name == "fake/seer")
    assert re.fullmatch(r"\d+\.\d \[.*\]", str(seer.values[3]))


def test_packs_of_one_player_are_pooled(packs: Path, tmp_path: Path) -> None:
    """Nobody improves a row by submitting again: all episodes count."""
    one = make_run(tmp_path / "one", {"mine": "fake/rude?memory=last"}, limit=2)
    two = make_run(tmp_path / "two", {"yours": "fake/rude?memory=last"}, limit=2, seed=50)
    section = section_of(load_results([one, two]).suites[0])
    [entry] = section.entries
    cells = entry.cells["turns"]
    assert [len(cell.episodes) for cell in cells] == [2, 2]
    metric = section.results.tasks["turns"].metrics[0]
    pooled, alone = entry.estimate("turns", metric), [cell.table_estimate(metric) for cell in cells]
    assert pooled is not None
    assert pooled.mean == pytest.approx(sum(estimate.mean for estimate in alone) / 2)
    assert pooled.n == 4
    assert entry.overall is not None
    assert section.rows({})[0].values[-2] == "12"  # three tasks, two episodes each, twice


def test_a_bot_counts_once_on_a_seed(tmp_path: Path) -> None:
    runs = [make_run(tmp_path / str(limit), {"r": "bot/random"}, limit=limit) for limit in (4, 8)]
    results = [section_of(load_results(some).suites[0]) for some in (runs[1:], runs)]
    alone, pooled = (section.entries[0] for section in results)
    assert len(pooled.cells["turns"]) == 2
    assert pooled.episodes == alone.episodes
    for name, cells in alone.cells.items():
        for metric in cells[0].task.metrics:
            assert pooled.estimate(name, metric) == alone.estimate(name, metric)
    assert pooled.overall == alone.overall


@pytest.mark.parametrize(
    ("spec", "public"),
    [
        ("compat/x@http://10.0.0.1/v1?temperature=0&key_env=MY_KEY&rpm=3", "compat/x?temperature=0"),
        ("openai/gpt-4.1?memory=all&cache=/home/me/c", "openai/gpt-4.1?memory=all"),
        ("bot/mcts?simulations=5&rollouts=1", "bot/mcts?rollouts=1&simulations=5"),
    ],
)
def test_rows_show_no_address_and_no_key(spec: str, public: str) -> None:
    assert str(public_spec(spec)) == public


def test_the_site_holds_together(site: Path, submissions: Submissions) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(list((site / "entries").iterdir())) == 11
    assert len(list((site / "packs").iterdir())) == len(submissions.accepted)
    for page in pages:
        text = page.read_text("utf-8")
        assert "Content-Security-Policy" in text
        assert "http" not in re.sub(r'http-equiv|data-text="[^"]*"', "", text.partition("<style>")[0])
        for link in re.findall(r'href="([^"#]+)"', text):
            assert (page.parent / link).exists(), link
    index = (site / "index.html").read_text("utf-8")
    assert "A &lt;board&gt;" in index
    assert "127.0.0.1" not in index
    assert not any("127.0.0.1" in page.read_text("utf-8") for page in (site / "entries").iterdir())
    assert index.count(">part of the suite</small>") == 11
    data = json.loads((site / RESULTS).read_text())
    assert {entry["suite"] for entry in data["entries"]} == {"demo", "reported"}
    replays = {path.name for path in (site / "replays").iterdir()}
    linked = {name for page in pages for name in re.findall(r"replays/(\w+\.html)", page.read_text("utf-8"))}
    assert replays == linked


def test_a_site_is_replaced_and_other_folders_are_not(
    site: Path, submissions: Submissions, tmp_path: Path
) -> None:
    again = Path(copytree(site, tmp_path / "site"))
    (again / "replays" / ("0" * 16 + ".html")).write_text("of an earlier board")
    (again / "CNAME").write_text("mine")
    write_site(submissions, again, title="A <board>", episodes=1)
    here, before = ({p.relative_to(root) for root in [r] for p in r.rglob("*")} for r in (again, site))
    assert here - before == {Path("CNAME")}
    assert (again / "index.html").read_bytes() == (site / "index.html").read_bytes()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(BadOption, match="contains no leaderboard"):
        write_site(submissions, tmp_path / "mine", title="")


def test_what_is_not_verified_is_refused(packs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packs"
    folder.mkdir()
    copy(packs / "person.ludens", folder / "a.ludens")
    copy(packs / "person.ludens", folder / "b.ludens")
    damaged = bytearray((packs / "person.ludens").read_bytes())
    damaged[2000] ^= 1
    (folder / "c.ludens").write_bytes(damaged)
    forgery = Forgery(packs / "person.ludens")
    forgery.episodes[0]["record"]["episode"]["returns"] = {"x": 1.0, "o": -1.0}
    forgery.episodes[1]["record"]["episode"]["returns"] = {"x": 1.0, "o": -1.0}
    forgery.write(folder / "d.ludens")
    (folder / "e.ludens").symlink_to(packs / "bots.ludens")
    (tmp_path / "runs").mkdir()
    with pytest.raises(BadPack, match=r"b\.ludens.* same episodes as 'a\.ludens'; --skip"):
        read_submissions(folder, tmp_path / "runs", workers=0)
    (tmp_path / "more").mkdir()
    some = read_submissions(folder, tmp_path / "more", skip=True, workers=0)
    assert [one.name for one in some.accepted] == ["a.ludens"]
    assert list(some.refused) == ["b.ludens", "c.ludens", "d.ludens", "e.ludens"]
    assert "hash chain" in some.refused["c.ludens"]
    assert "returns differ" in some.refused["d.ludens"]
    assert some.refused["e.ludens"] == "it is a link."
    write_site(some, tmp_path / "site", title="Some", episodes=0)
    index = (tmp_path / "site" / "index.html").read_text()
    assert "c.ludens</code>: line" in index
    assert "<h3>Refused</h3>" in index
    for name in ("a", "b"):
        (folder / f"{name}.ludens").unlink()
    (tmp_path / "none").mkdir()
    with pytest.raises(BadFile, match=r"no pack in .* is valid"):
        read_submissions(folder, tmp_path / "none", skip=True, workers=0)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with launched() as started:
        yield started


async def test_the_board_in_a_browser(site: Path, browser: Browser) -> None:
    opened = await open_page(browser, viewport={"width": 360, "height": 800})
    page = opened.page
    await page.goto((site / "index.html").as_uri())
    assert await page.evaluate("document.documentElement.scrollWidth") == 360
    rows, hits = page.locator("table.board tbody tr:visible"), page.locator("#hits")
    total = await rows.count()
    await expect(hits).to_have_text(f"{total} of {total} rows")
    await page.locator("#search").fill("BETA temperature")
    await expect(rows).to_have_count(2)
    await page.get_by_label("blind controls").uncheck()
    await expect(rows).to_have_count(1)
    await page.locator("#search").fill("no such model")
    await expect(page.locator("#nothing")).to_be_visible()
    await page.locator("#search").fill("")
    await page.get_by_label("blind controls").check()
    await expect(rows).to_have_count(total)
    await page.get_by_role("columnheader", name="tic_tac_toe both").get_by_role("button").click()
    values = await page.locator("table.board").first.evaluate(
        "table => [...table.tBodies[0].rows].map((row) => row.dataset.numbers.split(' , ')[0])"
    )
    known = [float(value) for value in values if value]
    assert known == sorted(known, reverse=True)
    assert "" not in values[: len(known)]
    await page.get_by_role("columnheader", name="tic_tac_toe both").get_by_role("button").click()
    await expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    await page.get_by_role("link", name="nano‡").first.click()
    await expect(page.get_by_text("Must be trusted")).to_be_visible()
    await page.locator(".replays a").first.click()
    await expect(page.locator(".panel")).to_have_attribute("data-step", "0")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator(".panel")).to_have_attribute("data-step", "1")
    assert await page.locator(".panel img").first.evaluate("image => image.naturalWidth") == PICTURES
    await page.get_by_role("link", name="A <board>").click()
    await expect(page.locator("h1")).to_have_text("A <board>")
    assert opened.problems == []


@pytest.mark.parametrize("seat", ["x", "o"])
async def test_a_game_without_a_server(seat: str, site: Path, browser: Browser) -> None:
    opened = await open_page(browser)
    page = opened.page
    await page.goto((site / "play.html").as_uri())
    await page.get_by_label("O, second" if seat == "o" else "X, first").check()
    nano = "o" if seat == "x" else "x"
    line = max(lines(nano, read_tree().seats[nano]), key=len)
    for number, cell in enumerate(line):
        if MARKS[number % 2] == seat:
            await page.locator(f"[data-cell={CELLS[cell]}]").click()
    marks = await page.locator(".grid button").all_text_contents()
    expected = {cell: MARKS[number % 2].upper() for number, cell in enumerate(line)}
    assert marks == [expected.get(cell, "") for cell in range(9)]
    position = START
    for number, cell in enumerate(line):
        position = advance(position, MARKS[number % 2], cell)
    says = {"": "A draw.", seat: "You win."}.get(winner(position), "nano wins.")
    await expect(page.locator("#state")).to_have_text(says)
    await page.get_by_role("button", name="New game").click()
    await expect(page.locator("#state")).to_contain_text("Your move")
    assert len("".join(await page.locator(".grid button").all_text_contents())) == (seat == "o")
    assert opened.problems == []
