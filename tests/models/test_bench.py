"""The client benchmark really calls, counts and compares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ludens.core.errors import BadFile
from ludens.models.bench import main, measure, picture_png


def test_ours_is_measured_alone() -> None:
    [row] = measure(calls=40, concurrency=8, latency=0.001)
    assert (row["client"], row["calls"], row["ratio"]) == ("ludens", 40, 1.0)
    assert row["cpu_ms"] > 0
    assert row["wall_ms"] > 0


def test_the_picture_is_as_large_as_a_board() -> None:
    assert 10_000 < len(picture_png()) < 15_000


def test_an_environment_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadFile, match="make it with --setup"):
        measure(calls=8, concurrency=4, others=tmp_path / "none")
    assert main(["--calls", "8", "--concurrency", "4", "--others", str(tmp_path)]) == 2
    assert "there is no environment" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif("LUDENS_OTHERS" not in os.environ, reason="LUDENS_OTHERS names no environment")
def test_the_others_are_measured_beside_ours() -> None:
    rows = measure(calls=200, concurrency=16, others=Path(os.environ["LUDENS_OTHERS"]))
    assert [row["client"] for row in rows] == ["ludens", "openai", "inspect"]
    assert rows[0]["ratio"] == 1.0
    assert all(row["cpu_ms"] > 0 for row in rows)
