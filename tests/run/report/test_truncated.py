"""Replies cut off by the length limit: counted in tables and data, with a warning above 2%."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from ludens.core.spec import Spec
from ludens.models import MODELS
from ludens.models.chat import Answer, Request
from ludens.run.report import render
from ludens.run.report.references import warnings
from ludens.run.report.tables import replies
from ludens.run.results import Results, load_results
from tests.support.reported import Fake, make_run


class Verbose(Fake):
    """Every second answer is cut off; the text is that of a guesser."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)

    async def answer(self, request: Request) -> Answer:
        found = await super().answer(request)
        return replace(found, finish="length" if self.calls % 2 else "stop")


MODELS.register("verbose", Verbose)


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Results:
    entrants = {"wordy": "verbose/m?style=cot", "brief": "fake/guesser", "random": "bot/random"}
    folder: Path = tmp_path_factory.mktemp("cut") / "run"
    return load_results([make_run(folder, entrants, tasks=("see",))])


def test_they_are_counted_by_entrant_and_task(cut: Results) -> None:
    [found] = cut.suites
    stats = {row.name: row.cells["see"].reply_stats for row in found.rows}
    assert (stats["wordy"].replies, stats["wordy"].truncated, stats["wordy"].truncated_rate) == (8, 4, 0.5)
    assert (stats["brief"].replies, stats["brief"].truncated) == (8, 0)
    assert (stats["random"].replies, stats["random"].truncated) == (0, 0)
    table = replies(found)
    column = [c.name for c in table.columns].index("truncated")
    assert [row.entries[column] for row in table.rows] == ["4", "0", "0"]


def test_there_is_a_warning_above_two_percent(cut: Results) -> None:
    [found] = cut.suites
    [wordy] = [warning for warning in warnings(found) if "cut off" in warning]
    assert wordy.startswith("wordy (cot): 4 of 8 replies (50.0%) cut off by the length limit on see")
    assert f"Warning: {wordy}" in render(cut, "table").decode()
    assert wordy in render(cut, "html").decode()
    few = replace(found.rows[0].cells["see"].reply_stats, replies=100, truncated=2)
    row = replace(found.rows[0], cells={"see": replace(found.rows[0].cells["see"], reply_stats=few)})
    assert not warnings(replace(found, rows=(row,)))


def test_data_has_counts_and_settings(cut: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(render(cut, "csv").decode())))
    by_entrant = {row["entrant"]: row for row in rows if row["task"] == "see" and row["origin"] == "ours"}
    wordy, random = by_entrant["wordy"], by_entrant["random"]
    assert (wordy["replies"], wordy["truncated"], wordy["truncated_rate"]) == ("8", "4", "0.5")
    settings = ("modality", "blind", "style", "frames", "memory")
    assert [wordy[name] for name in settings] == ["offered", "False", "cot", "1", "none"]
    assert [random[name] for name in settings] == [""] * 5
    [suite] = orjson.loads(render(cut, "json"))["suites"]
    assert suite["rows"][0]["truncated"] == 4
    assert len(suite["warnings"]) == 1
