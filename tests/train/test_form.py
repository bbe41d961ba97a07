"""Figures in the documentation are those of a recipe, a game and bots as they were: the page says if they
have changed since."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

import ludens.train.form as forms
from ludens.agents import AGENTS, import_agent
from ludens.games import tic_tac_toe
from ludens.train.form import form
from ludens.train.recipe import Recipe

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "experiments"
FIGURES: dict[str, Any] = orjson.loads((PAGES / "figures.json").read_bytes())
EARLIER = re.compile(r"^Figures of an earlier form: ([^.]*(?:\.toml[^.]*)+)\.", re.MULTILINE)


def earlier(page: str) -> set[str]:
    """The recipes that a page lists as those of an earlier form."""
    listed = EARLIER.search((PAGES / page).read_text(encoding="utf-8"))
    return set(re.findall(r"`([^`]+)`", listed[1])) if listed else set()


def complaint(name: str, entry: dict[str, str], now: str) -> str:
    """What is wrong with the figures of a recipe, and what to do; empty if nothing is."""
    page, said = entry["page"], name in earlier(entry["page"])
    if entry["form"] and entry["form"] != now:
        return (
            f"{name}, its game or its bots have changed since the figures in docs/experiments/{page} (commit "
            f"{entry['commit']}): run `ludens train {name}` again and store the form {now} with the new ones "
            "in figures.json, or empty its form and list it there under 'Figures of an earlier form'."
        )
    if said == bool(entry["form"]):
        return f"docs/experiments/{page} must {'not ' * said}list {name} under 'Figures of an earlier form'."
    return ""


meaning_of = cache(forms._meaning)
"""Recipes share games and bots."""


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_those_of_the_recipe_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_meaning", meaning_of)
    monkeypatch.setattr(AGENTS, "_added", dict(AGENTS._added))
    if "agent" in FIGURES[name]:  # --agent in the command of the recipe
        import_agent(FIGURES[name]["agent"])
    complained = complaint(name, FIGURES[name], form(Recipe.read(ROOT / name)))
    assert not complained, complained
    assert FIGURES[name]["commit"] in (PAGES / FIGURES[name]["page"]).read_text(encoding="utf-8")


def test_every_recipe_with_figures_has_a_form() -> None:
    named = {
        recipe
        for page in PAGES.glob("*.md")
        for recipe in re.findall(r"recipes/[a-z/-]+\.toml", page.read_text(encoding="utf-8"))
    }
    assert named <= FIGURES.keys()


def test_a_complaint_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, entry = "recipes/tic-tac-toe.toml", {"page": "games.md", "commit": "abc", "form": "1"}
    (tmp_path / "games.md").write_text(f"Figures of an earlier form: `{name}`. It has changed.")
    monkeypatch.setattr(sys.modules[__name__], "PAGES", tmp_path)
    assert "run `ludens train recipes/tic-tac-toe.toml` again" in complaint(name, entry, "2")
    assert "must not list" in complaint(name, entry, "1")
    assert "must list" in complaint("recipes/other.toml", {**entry, "form": ""}, "2")


def test_what_changes_a_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recipe = Recipe.read(ROOT / "recipes" / "tic-tac-toe.toml")
    now = form(recipe)
    assert form(recipe.override({"run.seed": "7", "monitor.keep": "9", "model.device": "cpu"})) == now
    assert form(recipe.override({"loss.kl": "0.5"})) != now
    assert form(recipe.override({"demonstrations.bot": "bot/best"})) != now

    source = Path(tic_tac_toe.__file__).read_text(encoding="utf-8")
    file, meaning = tmp_path / "tic_tac_toe.py", forms._meaning

    def rewritten(text: str) -> str:
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(forms, "_meaning", lambda path: meaning(file if path.name == file.name else path))
        return form(recipe)

    assert rewritten(f"# A comment.\n{source}\n") == now
    assert rewritten(f"{source}\nMORE = 1\n") != now
    monkeypatch.undo()
    monkeypatch.setattr(tic_tac_toe.TicTacToe, "version", "another", raising=False)
    assert form(recipe) != now


def test_newer_versions_of_python_have_more_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    """`type_params` of 3.12: a form is the same on every version."""
    function = ast.parse("def f(x): return x").body[0]
    now = forms._dump(function)
    monkeypatch.setattr(function, "_fields", (*function._fields, "more", "other"), raising=False)
    function.more, function.other = [], None  # type: ignore[attr-defined]
    assert forms._dump(function) == now
    function.more = [ast.Pass()]  # type: ignore[attr-defined]
    assert forms._dump(function) != now
