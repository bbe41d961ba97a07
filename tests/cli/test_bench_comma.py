"""`ludens bench comma` measures every puzzle, with targets and the released code."""

from __future__ import annotations

import json

from ludens.suites.comma import PUZZLES
from tests.cli.conftest import Run


def test_every_puzzle_has_both_figures(ludens: Run) -> None:
    measured = json.loads(ludens("bench", "comma", "--seconds", "0.003", "--json").out)["comma"]
    rows = {row["what"]: row for row in measured}
    assert set(rows) == {
        *(f"{puzzle}: {what}" for puzzle in PUZZLES for what in ("pictures", "random episodes")),
        "released code: pictures",
        "released code: random episodes",
    }
    assert all(row["value"] > 0 for row in measured)
    assert {rows[f"{puzzle}: pictures"]["target"] for puzzle in PUZZLES} == {400}
    assert rows["wire: random episodes"]["target"] == 2_000
    assert all(rows[f"released code: {what}"]["ratio"] > 0 for what in ("pictures", "random episodes"))
