"""`ludens bench` measures, compares with targets and other commits, and prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks import BENCHES, DEFAULT, ROOT, Row, against, bench, rate
from benchmarks.play import Other, through_state
from ludens.core.registry import make
from tests.cli.conftest import Run


def test_every_benchmark_can_be_loaded() -> None:
    assert set(DEFAULT) <= set(BENCHES)
    assert all(callable(bench(name)) and bench(name).__doc__ for name in BENCHES)


def test_rows_have_targets(ludens: Run) -> None:
    ran = ludens("bench", "play", "--seconds", "0.03", "--json")
    assert ran.code in (0, 1), ran.err  # it may be slow here
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
    assert ran.code in (0, 1)
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


@pytest.mark.parametrize(
    ("value", "unit", "target", "missed"),
    [(9, "images/s", 10, True), (11, "images/s", 10, False), (9, "ms", 10, False), (11, "ms", 10, True)],
)
def test_missed_target_is_the_exit_status(
    ludens: Run, monkeypatch: pytest.MonkeyPatch, value: float, unit: str, target: float, missed: bool
) -> None:
    rows = [Row("work", value, unit, target), Row("unknown", None, unit, target)]
    monkeypatch.setattr("benchmarks.load", lambda path: lambda seconds: rows)
    ran = ludens("bench", "play")
    assert ran.code == (1 if missed else 0)
    assert ("below the target: work\n" in ran.err) == missed


def test_benchmarks_need_the_checkout(ludens: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("ludens.cli.bench.__file__", str(tmp_path / "lib" / "ludens" / "cli" / "bench.py"))
    ran = ludens("bench")
    assert (ran.code, ran.out) == (2, "")
    assert "benchmarks are part of the source checkout" in ran.err


def test_another_commit_is_measured_in_turns(
    ludens: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The other one is half as fast, cannot run one row, and does not know another."""
    calls: list[Path] = []

    def measure(name: str, seconds: float, root: Path) -> tuple[list[Row], str]:
        calls.append(root)
        if root == ROOT:
            rows = [Row("rate", 50.0, "images/s", 1e9), Row("time", 20.0, "ms"), Row("new", 1.0, "ms")]
            return rows, ""
        return [Row("rate", 100.0, "images/s"), Row("time", 40.0, "ms")], "no module named new"

    monkeypatch.setattr(against, "measure", measure)
    monkeypatch.setattr(against, "checkout", lambda commit: nullcontext(tmp_path))
    ran = ludens("bench", "draw", "--against", "abc123", "--json")
    assert calls == [ROOT, tmp_path] * 3
    rows = {row["what"]: row for row in json.loads(ran.out)["draw"]}
    assert (rows["rate"]["ratio"], rows["time"]["ratio"], rows["new"]["ratio"]) == (0.5, 2.0, None)
    assert rows["new"]["note"] == "skipped on abc123: no module named new"
    assert ran.code == 1
    assert ran.err.endswith("below the 90% of abc123: rate\n")


def test_every_episode_of_a_large_run_is_read() -> None:
    rows = {row.what: row for row in bench("rows")(0.001)}
    assert rows.keys() == {"resume", "report"}
    for row in rows.values():
        assert row.target == 50_000
        assert row.value is not None
        assert row.value > 0
        assert int(row.note.split()[0]) >= 100


def test_unknown_commits_are_refused(ludens: Run) -> None:
    ran = ludens("bench", "draw", "--against", "no-such-commit")
    assert ran.code == 2
    assert "no-such-commit" in ran.err


@pytest.mark.slow
def test_comparison_with_the_same_commit(ludens: Run) -> None:
    ran = ludens("bench", "play", "--seconds", "0.01", "--against", "HEAD", "--json")
    rows = {row["what"]: row for row in json.loads(ran.out)["play"]}
    assert rows["tic_tac_toe through play"]["ratio"] > 0


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
    monkeypatch.setattr("benchmarks.play.OTHERS", {"Other": Other(module, "other[x]", _never)})
    [row] = [row for row in bench("play")(0.003) if row.what == "Other"]
    assert (row.value, row.ratio, row.note) == (None, None, "not installed: pip install 'other[x]'")


def test_libraries_without_their_own_packages_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.play.OTHERS", {"Other": Other("json", "other[x]", _incomplete)})
    [row] = [row for row in bench("play")(0.003) if row.what == "Other"]
    assert (row.value, row.note) == (None, "not installed: pip install 'other[x]'")


def _incomplete() -> Callable[[int], int]:
    raise ModuleNotFoundError("No module named 'pygame'")


def _never() -> Callable[[int], int]:
    raise AssertionError("it is not installed")


def test_installed_libraries_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textarena", _arena())
    monkeypatch.setattr("benchmarks.play.installed", lambda module: module == "textarena")
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
