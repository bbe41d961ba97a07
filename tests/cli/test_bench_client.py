"""The client benchmark really calls, counts and compares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.client import VARIABLE, measure, picture_png, rows
from ludens.core.errors import BadFile


def test_our_client_alone() -> None:
    [row] = measure(calls=40, concurrency=8, latency=0.001)
    assert (row["client"], row["calls"], row["ratio"]) == ("ludens", 40, 1.0)
    assert row["cpu_ms"] > 0
    assert row["wall_ms"] > 0


def test_row_without_the_other_clients_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    ours, others = rows(0.01)
    assert ours.target == 2_000
    assert (others.value, "--setup" in others.note) == (None, True)


def test_picture_is_as_large_as_a_board() -> None:
    assert 10_000 < len(picture_png()) < 15_000


def test_missing_environment(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"make it with .*--setup"):
        measure(calls=8, concurrency=4, environment=tmp_path / "none")


@pytest.mark.slow
@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} is not set")
def test_other_clients() -> None:
    rows = measure(calls=200, concurrency=16, environment=Path(os.environ[VARIABLE]))
    assert [row["client"] for row in rows] == ["ludens", "openai", "inspect"]
    assert rows[0]["ratio"] == 1.0
    assert all(row["cpu_ms"] > 0 for row in rows)
