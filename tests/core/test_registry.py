"""Finding games by name: shipped, registered, brought by other packages; a wrong name meets its neighbour."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ludens.core.errors import BadFile, BadOption, UnknownName
from ludens.core.loading import CATALOGUES, load
from ludens.core.registry import GAMES, Registry, make
from tests.support.pebbles import Pebbles, Talk

CATALOGUE = {"kettle": "tests.support.pebbles:Pebbles"}
MORE = {"comma/wire": "tests.support.pebbles:Talk"}


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.setitem(CATALOGUES, "ludens.test_games", (f"{__name__}:CATALOGUE", f"{__name__}:MORE"))
    return Registry("game", "ludens.test_games")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package, installed: a module and the metadata that points to it."""
    (tmp_path / "kettle_games.py").write_text("from tests.support.pebbles import Pebbles as Whistle\n")
    metadata = tmp_path / "kettle_games-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: kettle-games\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[ludens.test_games]\n"
        "whistle = kettle_games:Whistle\n"
        "torn = kettle_games:Missing\n"
        "gone = no_such_module:Game\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "kettle_games", raising=False)


def test_shipped_names_lead_to_their_objects(registry: Registry) -> None:
    assert registry.names() == ["comma/wire", "kettle"]
    assert registry.get("kettle") is Pebbles


def test_registered_names_come_first(registry: Registry) -> None:
    registry.register("kettle", Talk)
    registry.register("pot", "tests.support.pebbles:Pebbles")
    assert registry.get("kettle") is Talk
    assert registry.get("pot") is Pebbles
    assert registry.names() == ["comma/wire", "kettle", "pot"]


@pytest.mark.usefixtures("plugin")
def test_other_packages_bring_games(registry: Registry) -> None:
    assert "whistle" in registry.names()
    assert registry.get("whistle") is Pebbles


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("name", ["torn", "gone"])
def test_a_broken_package_is_told_in_a_sentence(registry: Registry, name: str) -> None:
    with pytest.raises(BadFile, match=f"the game '{name}' of another package cannot be loaded"):
        registry.get(name)


@pytest.mark.parametrize(
    ("typed", "nearest"), [("ketle", "kettle"), ("KETTLE", "kettle"), ("wire", "comma/wire"), ("wrie", None)]
)
def test_a_wrong_name_is_told_its_neighbour(registry: Registry, typed: str, nearest: str | None) -> None:
    with pytest.raises(UnknownName) as error:
        registry.get(typed)
    assert error.value.nearest == nearest
    hint = f"did you mean '{nearest}'?" if nearest else "known: comma/wire, kettle."
    assert str(error.value) == f"unknown game {typed!r}; {hint}"


def test_a_very_long_name_is_cut() -> None:
    with pytest.raises(UnknownName) as error:
        make("x" * 100_000)
    assert len(str(error.value)) < 400


def test_games_are_made_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES._added, "test/pebbles", Pebbles)
    assert make("test/pebbles?heap=4") == make("test/pebbles", heap=4) == Pebbles(heap=4)
    assert make("test/pebbles?heap=4", heap=5) == Pebbles(heap=5)
    with pytest.raises(BadOption, match="at least 1 and at most 100"):
        make("test/pebbles", heap=0)
    with pytest.raises(UnknownName, match="unknown option of test/pebbles 'spec'"):
        make("test/pebbles", spec=1)
    with pytest.raises(BadOption, match="a game has no address"):
        make("test/pebbles@localhost")


def test_every_shipped_game_exists() -> None:
    for name in GAMES.names():
        assert GAMES.get(name).name == name


def test_load_takes_module_and_attribute() -> None:
    assert load("tests.support.pebbles:Pebbles") is Pebbles
