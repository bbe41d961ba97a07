"""`ludens bench nano` measures replies in numpy, without torch."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks import nano
from tests.cli.conftest import Run


def test_a_move_has_a_target(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nano, "SIZE", replace(nano.SIZE, width=64, encoder=1, decoder=1, side=64))
    measured = json.loads(ludens("bench", "nano", "--seconds", "0.001", "--json").out)["nano"]
    assert [(row["unit"], row["target"]) for row in measured] == [("ms", 60), ("ms", 60), ("ms", None)]
    move, batched, board = (row["value"] for row in measured)
    assert 0 < move < board
    assert batched > 0
    assert "GFLOP/s" in measured[0]["note"]
