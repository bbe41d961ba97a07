"""Which games a checkpoint was trained on, in its files, in episodes and in reports."""

from __future__ import annotations

import tomllib
from pathlib import Path

import orjson
import pytest

from ludens.core.spec import Spec, parse_spec
from ludens.models import MODELS, model
from ludens.models.trained import games_of_checkpoint, games_of_recipe, trained_remark
from ludens.run.report import render
from ludens.run.report.tables import scores
from ludens.run.results import load_results
from ludens.train.nano.player import SHIPPED
from ludens.train.nano.weights import SETTINGS, export
from tests.support.reported import Fake, make_run

RECIPES = Path(__file__).parents[2] / "recipes"


class Taught(Fake):
    """A fake that was trained on tic-tac-toe."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.trained_on = frozenset({"tic_tac_toe"})


MODELS.register("taught", Taught)


def test_the_shipped_model_was_taught_what_its_recipe_teaches() -> None:
    recipe = tomllib.loads((RECIPES / "nano.toml").read_text("utf-8"))
    assert model("nano").trained_on <= games_of_recipe(recipe)
    assert {"tic_tac_toe", "perceive", "spy", "hanabi"} <= model("nano").trained_on


def test_a_checkpoint_has_its_recipe_inside_or_beside_it(tmp_path: Path) -> None:
    recipe = {"play": {"game": "spy?rounds=1"}, "demonstrations": [{"game": "chess"}, {"game": ""}]}
    games = {"spy", "chess"}
    inside = tmp_path / "inside"
    inside.mkdir()
    assert games_of_checkpoint(inside) == frozenset()
    (inside / "training.json").write_bytes(orjson.dumps({"recipe": recipe}))
    assert games_of_checkpoint(inside) == games
    (tmp_path / "run" / "supervised").mkdir(parents=True)
    (tmp_path / "run" / "recipe.json").write_bytes(orjson.dumps(recipe))
    assert games_of_checkpoint(tmp_path / "run" / "supervised") == games


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"recipe": 3}', b'{"recipe": {"demonstrations": [1]}}'])
def test_files_that_say_nothing_are_ignored(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "training.json").write_bytes(content)
    assert games_of_checkpoint(tmp_path) == frozenset()


def test_an_exported_model_names_its_games(tmp_path: Path) -> None:
    export(SHIPPED, tmp_path / "out", "int8")
    assert games_of_checkpoint(tmp_path / "out", SETTINGS) == model("nano").trained_on


def test_reports_mark_a_model_that_was_trained_on_the_tasks(tmp_path: Path) -> None:
    entrants = {"taught": "taught/m", "other": "fake/guesser"}
    results = load_results([make_run(tmp_path / "run", entrants, tasks=("turns", "see"))])
    [found] = results.suites
    taught, other = found.rows
    assert (taught.trained, other.trained) == ({"turns"}, frozenset())
    table = scores(found)
    assert [row.entries[0] for row in table.rows][:2] == ["taught\N{DOUBLE DAGGER}", "other"]
    assert "\N{DOUBLE DAGGER}: trained on these tasks; published models were not." in table.legend
    assert trained_remark("taught/m", "tic_tac_toe") not in table.notes
    rows = orjson.loads(render(results, "json"))["suites"][0]["rows"]
    known = {(row["entrant"], row["task"]): row["trained"] for row in rows if row["origin"] == "ours"}
    assert known["taught", "turns"] is True
    assert known["taught", "see"] is known["other", "turns"] is False
    assert parse_spec(taught.spec).name == "taught/m"
