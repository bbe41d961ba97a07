"""`ludens bench nano` measures replies in numpy and in onnxruntime, without torch."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchmarks import nano
from tests.cli.conftest import Run


def test_a_move_has_a_target(ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="the extra 'fast' is not installed")
    monkeypatch.setattr(nano, "SIZE", replace(nano.SIZE, width=64, encoder=1, decoder=1, side=64))
    measured = json.loads(ludens("bench", "nano", "--seconds", "0.001", "--json").out)["nano"]
    targets = [("ms", 60), ("ms", 60), ("ms", None), ("ms", 60), ("ms", 60)]  # the last two: onnxruntime
    assert [(row["unit"], row["target"]) for row in measured] == targets
    move, batched, board, *faster = (row["value"] for row in measured)
    assert 0 < move < board
    assert min(batched, *faster) > 0
    assert "GFLOP/s" in measured[0]["note"]
