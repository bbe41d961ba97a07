"""`ludens bench spy` measures games per second and memory, with targets."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_every_figure_has_a_target(ludens: Run) -> None:
    measured = json.loads(ludens("bench", "spy", "--seconds", "0.002", "--json").out)["spy"]
    assert [(row["unit"], row["target"]) for row in measured] == [
        ("pairs/s", 400), ("games/s", 300), ("games/s", 60), ("MB", 500),
    ]  # fmt: skip
    assert all(row["value"] > 0 for row in measured)
    assert "20 games, 256 in flight" in measured[-1]["note"]
