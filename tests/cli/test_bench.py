"""`ludens bench` measures and prints; it does not fail because something is slow."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from ludens.bench import BENCHES, DEFAULT, Row, bench, rate
from ludens.bench.play import Other, through_state
from ludens.core.registry import make
from tests.cli.conftest import Run


def test_every_benchmark_can_be_loaded() -> None:
    assert set(DEFAULT) <= set(BENCHES)
    assert all(callable(bench(name)) and bench(name).__doc__ for name in BENCHES)


def test_rows_have_targets(ludens: Run) -> None:
    ran = ludens("bench", "play", "--seconds", "0.03", "--json")
    assert ran.code == 0, ran.err
    measured = json.loads(ran.out)
    rows = {row["what"]: row for row in measured["play"]}
    targets = {what: row["target"] for what, row in rows.items() if row["target"]}
    assert targets == {
        "tic_tac_toe through State": 5_000,
        "tic_tac_toe through play": 1_500,
        "breakthrough through State": 500,
        "coin_dilemma through State": 100_000,
    }
    assert all(rows[what]["value"] > 0 for what in targets)


def test_table_of_draw(ludens: Run) -> None:
    ran = ludens("bench", "draw", "--seconds", "0.01")
    assert ran.code == 0
    assert "Ludens, zlib" in ran.out
    assert "plain Pillow RGB" in ran.out


def test_registered_benchmark(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BENCHES, "mine", "tests.cli.test_bench:_mine")
    ran = ludens("bench", "mine")
    assert ran.code == 0
    assert "mine: Counting." in ran.out
    assert "1,234" in ran.out
    assert ran.err == "measuring mine ...\n"


def _mine(seconds: float) -> Iterator[Row]:
    """Counting."""
    yield Row("counting", 1234.4, "things/s")
    yield Row("counting without light", None, "things/s", note="no light")


def test_rate_uses_each_seed_once() -> None:
    seen: list[int] = []

    def work(seed: int) -> int:
        seen.append(seed)
        return 3

    assert rate(work, 0.001) > 0
    assert len(seen) == len(set(seen))


def test_games_or_steps_are_counted() -> None:
    game = make("coin_dilemma?horizon=7")
    assert (through_state(game, games=True)(1), through_state(game, games=False)(1)) == (1, 7)


@pytest.mark.parametrize("module", ["no_such_module_here", "no_such_module_here.inside"])
def test_missing_libraries_are_reported(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.bench.play.OTHERS", {"Other": Other(module, "other[x]", _never)})
    [row] = [row for row in bench("play")(0.003) if row.what == "Other"]
    assert (row.value, row.ratio, row.note) == (None, None, "not installed: pip install 'other[x]'")


def test_libraries_without_their_own_packages_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ludens.bench.play.OTHERS", {"Other": Other("json", "other[x]", _incomplete)})
    [row] = [row for row in bench("play")(0.003) if row.what == "Other"]
    assert (row.value, row.note) == (None, "not installed: pip install 'other[x]'")


def _incomplete() -> Callable[[int], int]:
    raise ModuleNotFoundError("No module named 'pygame'")


def _never() -> Callable[[int], int]:
    raise AssertionError("it is not installed")


def test_installed_libraries_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textarena", _arena())
    monkeypatch.setattr("ludens.bench.play.installed", lambda module: module == "textarena")
    [row] = [row for row in bench("play")(0.003) if row.what.startswith("TextArena")]
    assert row.value is not None
    assert row.value > 0
    assert row.ratio is not None
    assert row.ratio > 0


class _Arena:
    """Has TextArena's interface; fails when a cell is taken twice."""

    def reset(self, num_players: int, seed: int) -> None:
        self.taken: set[str] = set()

    def get_observation(self) -> tuple[int, str]:
        return len(self.taken) % 2, "board"

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        assert action not in self.taken
        self.taken.add(action)
        return len(self.taken) == 7, {}

    def close(self) -> None: ...


def _arena() -> ModuleType:
    module = ModuleType("textarena")
    vars(module)["make"] = lambda name: _Arena()
    return module
