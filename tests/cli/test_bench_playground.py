"""`ludens bench playground` has figures for every game, with targets and the released code."""

from __future__ import annotations

from benchmarks.playground import RELEASED, rows
from ludens.suites.playground import GAMES, OPPONENTS


def test_every_game_has_its_figures() -> None:
    found = {row.what: row for row in rows(0.003)}
    assert all(row.value is not None and row.value > 0 for row in found.values())
    for game in GAMES:
        assert found[f"{game}: pictures"].target == 400
        assert found[f"{game}: questions with examples"].unit == "questions/s"
        ours, theirs = found[f"{game}: legal positions with pictures"], found[f"{game}: released code"]
        assert ours.value is not None
        assert theirs.value == 1000 / RELEASED[game]
        assert theirs.ratio == ours.value * RELEASED[game] / 1000
    assert tuple(RELEASED) == GAMES
    assert {what for what, row in found.items() if row.unit == "ms/move"} == {
        f"{game}: {bot}" for game, (_, bot) in OPPONENTS.items()
    }
