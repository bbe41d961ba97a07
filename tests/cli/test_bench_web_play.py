"""`ludens bench web`: people who play."""

from __future__ import annotations

import pytest

from benchmarks.web_play import people_rows, play_rows


def test_few_people_for_a_moment() -> None:
    waiting, cpu = play_rows(0.1)
    assert "4 people" in waiting.what
    assert (waiting.target, cpu.target) == (50.0, 5.0)
    assert waiting.value is not None
    assert cpu.value is not None
    assert cpu.value > 0
    assert "median" in waiting.note


@pytest.mark.slow
def test_few_people_with_bots() -> None:
    waiting, cpu = people_rows(0.1)
    assert "6 people" in waiting.what
    assert (waiting.target, cpu.target) == (300.0, None)
    assert waiting.value is not None
    assert "two cores, load" in waiting.note
