"""`ludens data` writes datasets and prints their distribution."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

pytest.importorskip("pyarrow")


def test_a_dataset_is_written_and_its_distribution_printed(ludens: Run, tmp_path: Path) -> None:
    out = tmp_path / "set"
    ran = ludens(
        "data", "vs-bench/coin_dilemma", "-n", "16", "--seed", "1", "--size", "256", "--out", str(out)
    )
    assert ran.code == 0, ran.err
    assert "bot/self_interest v bot/self_interest" in ran.out
    assert "16 pictures" in ran.out
    assert sorted(p.name for p in out.iterdir()) == [
        "README.md",
        "images",
        "manifest.json",
        "samples.parquet",
    ]
    assert len(list((out / "images").iterdir())) == 16


def test_json_is_the_manifest(ludens: Run, tmp_path: Path) -> None:
    ran = ludens("data", "vs-bench/kuhn", "-n", "4", "--json", "--out", str(tmp_path / "set"))
    assert json.loads(ran.out)["samples"] == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["data", "vs-bench", "--out", "x"], "a dataset is named SUITE/GAME"),
        (["data", "vs-bench/hanaby", "--out", "x"], "did you mean 'hanabi'"),
        (["data", "vs-bench/hanabi"], "missing option --out"),
        (["data", "vs-bench/hanabi", "--out", "x", "-n", "0"], "-n must be at least 1"),
        (["data", "vs-bench/hanabi", "--out", "x", "--from", "nowhere"], "is not a run"),
    ],
)
def test_usage_errors(
    ludens: Run, words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = ludens(*words)
    assert ran.code == 2
    assert says in ran.err
    assert not list(tmp_path.iterdir())
