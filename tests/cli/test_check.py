"""`ludens check` lists the packages that pyproject.toml declares."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from ludens.cli import check
from tests.cli.conftest import Run

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEVELOPMENT = {"all", "dev", "docs", "test"}


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", requirement)[0] for requirement in requirements}


def test_packages_and_extras_are_those_of_the_project() -> None:
    assert set(check.CORE) == _names(PROJECT["dependencies"])
    declared = {
        name: _names(packages)
        for name, packages in PROJECT["optional-dependencies"].items()
        if name not in DEVELOPMENT
    }
    assert {name: set(packages) for name, (_, packages) in check.EXTRAS.items()} == declared


def test_required_packages_are_found(ludens: Run) -> None:
    ran = ludens("check", "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert None not in found["core"].values()
    assert set(found["extras"]) == set(check.EXTRAS)


def test_a_missing_extra_is_listed_with_its_command(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(check.EXTRAS, "moon", ("flights", ("no-such-package-here",)))
    ran = ludens("check")
    assert ran.code == 0
    assert "pip install 'ludens[moon]'" in ran.out
    monkeypatch.setitem(check.EXTRAS, "moon", ("flights", ("numpy",)))
    assert "ludens[moon]" not in ludens("check").out


def test_a_missing_required_package_is_a_failure(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "CORE", (*check.CORE, "no-such-package-here"))
    ran = ludens("check")
    assert ran.code == 1
    assert "no-such-package-here   missing" in ran.out
