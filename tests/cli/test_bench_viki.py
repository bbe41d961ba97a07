"""`ludens bench viki` measures the planner and the generator."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_figures_of_planner_and_generator(ludens: Run) -> None:
    measured = json.loads(ludens("bench", "viki", "--seconds", "0.004", "--json").out)["viki"]
    assert [row["unit"] for row in measured] == ["s"] * 3 + ["states"] * 3 + ["samples/min", "images/s"]
    assert all(row["value"] > 0 for row in measured)
    assert measured[0]["value"] <= measured[1]["value"] <= measured[2]["value"]
