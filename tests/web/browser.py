"""A real browser for tests: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.async_api import Browser, Page, async_playwright, expect

TIMEOUT = 60_000
"""Milliseconds that a busy machine may need for what takes a moment."""
expect.set_options(timeout=TIMEOUT)
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first needs half the time of the others: it draws no windows around pages."""
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def chromium() -> str:
    """The program; skips the test where there is none."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    pytest.skip("Chromium is not installed: apt-get install chromium-headless-shell")


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A browser."""
    program = chromium()
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Watched:
    """A page, and everything that went wrong on it."""

    page: Page
    problems: list[str] = field(default_factory=list)


async def open_page(browser: Browser, **options: Any) -> Watched:
    """A new page in a profile of its own: errors, refused resources and dialogs are collected."""
    context = await browser.new_context(**options)
    context.set_default_timeout(TIMEOUT)
    page = await context.new_page()
    watched = Watched(page)

    async def dialog(opened: Any) -> None:
        watched.problems.append(f"dialog {opened.message}")
        await opened.dismiss()

    page.on("dialog", dialog)
    page.on("pageerror", lambda error: watched.problems.append(str(error)))
    page.on("console", lambda said: watched.problems.append(said.text) if said.type == "error" else None)
    return watched
