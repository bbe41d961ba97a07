"""The documentation site: it builds without warnings, is complete, and works without a network."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import ludens
from tests.web.browser import launched, open_page

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
WIDTHS = (390, 768, 1280, 1920)
PAGES = (
    "index", "games/index", "evaluate", "nano", "experiments/nano", "presets", "reference/games",
    "notebooks/quick_start",
)  # fmt: skip
BROKEN = "[...document.images].filter(i => !(i.complete && i.naturalWidth)).map(i => i.src)"


def documented() -> list[str]:
    pages = (page.read_text(encoding="utf-8") for page in sorted(REFERENCE.glob("*.md")))
    return [name for page in pages for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)]


def test_every_public_name_is_in_the_reference_once() -> None:
    public = [name.removeprefix("ludens.") for name in documented() if name.count(".") == 1]
    assert sorted(public) == sorted(set(ludens.__all__) - {"__version__"})


def test_names_of_modules_in_the_reference_exist() -> None:
    for name in documented():
        module, _, member = name.rpartition(".")
        if module == "ludens":
            continue
        path = ROOT / "src" / Path(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        assert re.search(rf"\b{member}\b", file.read_text(encoding="utf-8")), name


def test_results_come_from_the_reference_scores() -> None:
    """Every benchmark has a row; what is reached without looking is less in twin worlds."""
    hook = runpy.run_path(str(ROOT / "docs" / "hooks" / "pages.py"))
    rows = hook["results"]().splitlines()[2:]
    assert len(rows) == len(hook["BENCHMARKS"]) == 5
    for row in rows:
        published, most, twins = (int(number) for number in re.findall(r"(-?\d+)%", row))
        assert 0 <= twins < published <= most <= 100


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None or find_spec("mkdocstrings") is None:
        pytest.skip("needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return folder


@pytest.mark.slow
async def test_pages_load_nothing_from_other_hosts_and_fit(site: Path) -> None:
    async with launched() as browser:
        for width in WIDTHS:
            watched = await open_page(browser, viewport={"width": width, "height": 800})
            asked: list[str] = []
            watched.page.on("request", lambda request, asked=asked: asked.append(request.url))
            for name in PAGES:
                await watched.page.goto((site / f"{name}.html").as_uri())
                wide = await watched.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, name
                for picture in await watched.page.locator("img:visible").all():
                    await picture.scroll_into_view_if_needed()  # some load late
                await watched.page.wait_for_load_state("networkidle")
                assert await watched.page.evaluate(BROKEN) == [], name
            assert asked
            assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
            assert watched.problems == []


@pytest.mark.slow
async def test_search_works_from_files(site: Path) -> None:
    async with launched() as browser:
        watched = await open_page(browser)
        await watched.page.goto((site / "quick-start.html").as_uri())
        await watched.page.keyboard.press("/")
        await watched.page.keyboard.type("Overcooked")
        first = watched.page.locator(".md-search-result__item a").first
        await first.wait_for()
        assert "overcooked" in (await first.get_attribute("href") or "").lower()
