"""Recipes: every value checked, unknown names with the nearest known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.train.recipe import Recipe
from ludens.train.session import check

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_shipped_recipes_are_valid(file: Path) -> None:
    recipe = Recipe.read(file)
    check(recipe)
    assert Recipe.of(recipe.as_dict()) == recipe


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lost]\nkl = 0.1", r"'lost'.*'loss'"),
        ("[loss]\nkll = 0.1", r"'kll'.*'kl'"),
        ("[loss]\nkl = -1", "at least 0"),
        ("[loss]\nkl = 'much'", "must be a number"),
        ("[loss]\nnorm = 'sequense'", r"'sequense'.*'sequence'"),
        ("loss = 3", "must be a table"),
        ("[[opponents]]\nplayer = {}", r"'player'.*'players'"),
        ("[[opponents]]\nplayers = {spy = 'frozen'}\nweight = 0", "weight above 0"),
        ("[loss\n", "not TOML"),
    ],
)
def test_wrong_recipes(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(text)
    with pytest.raises((BadFile, BadOption, UnknownName), match=message):
        Recipe.read(file)


def test_missing_recipe(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        Recipe.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"run": {"algorithm": "spo"}}, "needs a game with a spy"),
        ({"advantage": {"kind": "role"}}, "needs a game with roles"),
        ({"model": {"kind": "hf"}}, "needs a path"),
        ({"server": {"url": "http://127.0.0.1:8000"}}, r"\[server\] needs kind"),
        ({"server": {"url": "127.0.0.1:8000"}}, "http://HOST:PORT"),
        ({"play": {"first_seed": 500_000}}, "overlap"),
        ({"play": {"game": "tic_tac_to"}}, "tic_tac_toe"),
    ],
)
def test_what_does_not_fit_together(sections: dict, message: str) -> None:
    with pytest.raises((BadOption, UnknownName), match=message):
        check(Recipe.of(sections))


def test_values_can_be_replaced() -> None:
    recipe = Recipe().override({"loss.kl": "0.5", "run.iterations": "3", "switch.relative": "true"})
    assert (recipe.loss.kl, recipe.run.iterations, recipe.switch.relative) == (0.5, 3, True)
    for name in ("loss", "lost.kl", "opponents.x", "loss."):
        with pytest.raises(BadOption, match=r"SECTION\.KEY"):
            Recipe().override({name: "1"})
