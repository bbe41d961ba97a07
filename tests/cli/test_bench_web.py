"""`ludens bench web`: the run that it opens is a valid one."""

from __future__ import annotations

from itertools import islice

from benchmarks.web import measure, rows


async def test_a_small_run_is_opened_and_replayed() -> None:
    figures = await measure(20, 4)
    assert (figures["episodes"], figures["shown"]) == (20, 20)
    assert 0 < figures["open"] <= figures["all"]
    assert figures["step"] > 0
    assert figures["megabytes"] > 10


def test_rows_have_targets() -> None:
    found = list(islice(rows(0.002), 4))  # those about play are measured in `test_bench_web_play.py`
    assert [row.target for row in found] == [2.0, 2.0, 500, 30.0]
    assert "all after" in found[0].note
