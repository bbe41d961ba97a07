"""`ludens bench web`: people who play."""

from __future__ import annotations

from benchmarks.web_play import play_rows


def test_few_people_for_a_moment() -> None:
    waiting, cpu = play_rows(0.1)
    assert "4 people" in waiting.what
    assert (waiting.target, cpu.target) == (50.0, 5.0)
    assert waiting.value is not None
    assert cpu.value is not None
    assert cpu.value > 0
    assert "median" in waiting.note
