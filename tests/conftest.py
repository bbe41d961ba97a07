"""What every test shares: slow tests wait for `--slow`, and no test fails because a machine is busy."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("ludens", deadline=None)
settings.load_profile("ludens")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--slow"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: runs with --slow"))
