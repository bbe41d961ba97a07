"""`ludens bench runs`: its server answers, and the runs it measures are really played."""

from __future__ import annotations

import pytest

from benchmarks.client import serving
from benchmarks.runs import LATENCY, measure, rows
from benchmarks.server import first_legal


def test_server_reads_last_list_of_actions() -> None:
    request = bytearray(
        b'{"a":"Your legal actions: A1, B2\\n\\n"},{"b":"Your legal actions: c3d4, e5\\n\\nMore"} trailing'
    )
    assert first_legal(request, len(request)) == b"c3d4"
    single = bytearray(b'"legal actions: RIGHT\\n"')
    assert first_legal(single, len(single)) == b"RIGHT"


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_small_run_against_the_server_has_no_fallbacks(workers: int) -> None:
    suite = "game=tic_tac_toe&first=x&second=o&episodes=3&horizon=4"
    with serving(LATENCY) as url:
        figures = measure(suite, f"vllm/bench@{url}", 3, workers)
    assert (figures["complete"], figures["episodes"], figures["calls"], figures["fallbacks"]) == (
        True,
        3,
        6,
        0,
    )
    assert figures["megabytes"] > 10 * (1 + workers)
    assert figures["wall"] > 0.4


@pytest.mark.slow
def test_rows() -> None:
    bots, *models = rows(0.05)
    assert bots.unit == "episodes/s"
    assert {row.what.split(",")[1].strip() for row in models} == {"image", "text"}
    for row in models:
        assert row.unit == "calls/s"
        assert (row.value or 0) > 0
        assert "of 500 MB" in row.note
