"""`ludens bench runs`: its server speaks, and what it measures was really played."""

from __future__ import annotations

import pytest

from ludens.bench.run_child import played, suite_of
from ludens.bench.run_server import _first_legal
from ludens.bench.runs import _server, rows


def test_the_server_reads_the_last_list_of_actions() -> None:
    request = bytearray(
        b'{"a":"Your legal actions: A1, B2\\n\\n"},{"b":"Your legal actions: c3d4, e5\\n\\nMore"} trailing'
    )
    assert _first_legal(request, len(request)) == b"c3d4"
    single = bytearray(b'"legal actions: RIGHT\\n"')
    assert _first_legal(single, len(single)) == b"RIGHT"


def test_a_small_run_against_the_server_is_played_without_fallbacks() -> None:
    with _server() as url:
        taken = played(suite_of("tic_tac_toe", ("x", "o"), 3, 4), f"vllm/bench@{url}", 3)
    assert (taken["complete"], taken["episodes"], taken["calls"], taken["fallbacks"]) == (True, 3, 6, 0)
    assert taken["megabytes"] > 10


@pytest.mark.slow
def test_the_figures() -> None:
    bots, image, text = rows(0.05)
    assert (bots.unit, image.unit, text.unit) == ("episodes/s", "calls/s", "calls/s")
    assert all(row.value and row.value > 0 for row in (bots, image, text))
    assert "256 calls in" in image.note
    assert "of 500 MB" in text.note
