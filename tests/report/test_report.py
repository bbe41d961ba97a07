"""The technical report: tables agree with what is stored, and follow it when it changes."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from ludens.run.references import read_references, references_of
from ludens.run.report.table import Value
from ludens.run.task import suite
from report import __main__ as whole
from report import checks, experiments, suites

NAMES = re.compile(r"\btables\.(\w+)")


@pytest.mark.parametrize("name", suites.REBUILT)
def test_bounds_are_the_reference_scores(name: str) -> None:
    system = suite(name)
    assert system.references is not None
    stored = [one for one in read_references(system.references).values() if one.scores]
    rows = suites.bounds(name).rows
    assert len(rows) == len(system.tasks)
    for row, task in zip(rows, system.tasks, strict=True):
        metric = task.metrics[0]
        known = {
            (score.player, metric.in_table_units(score.estimate).mean)
            for one in stored
            for score in one.scores
            if score.metric == metric.name
        }
        _, _, blind, best, _, low, high, _ = row.entries
        assert isinstance(low, Value)
        assert isinstance(high, Value)
        assert {(blind, low.estimate.mean), (best, high.estimate.mean)} <= known


def test_a_changed_score_changes_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system, strips = suite("vision-zero"), suites.shares("vision-zero")
    first, second = system.tasks[:2]
    score = references_of(system, system.tasks)[first.name].get("blind", first.metrics[0])
    assert system.references is not None
    assert score is not None
    stored = f'metric = "{score.metric}", player = "{score.player}", mean = {score.mean:.7g},'
    text = system.references.read_text("utf-8")
    assert stored in text
    (tmp_path / "references.toml").write_text(
        text.replace(stored, stored.replace(f"{score.mean:.7g}", "0.123")), encoding="utf-8"
    )
    elsewhere = replace(system, references=tmp_path / "references.toml")
    monkeypatch.setattr(suites, "suite", lambda name: elsewhere)
    [row, other, *_] = suites.bounds("vision-zero").rows
    assert (row.entries[0], other.entries[0]) == (first.name, second.name)
    assert str(row.entries[5]).split()[0] == "12.3"
    assert suites.shares("vision-zero")[0]["share"] < strips[0]["share"]
    assert suites.shares("vision-zero")[1] == strips[1]


def test_a_wrong_count_is_seen(tmp_path: Path) -> None:
    table = checks.known_counts()
    assert {row.entries[2] for row in table.rows} == {"yes"}
    file = tmp_path / "counts.toml"
    file.write_text('counts = [{ game = "tic_tac_toe", position = "start", depth = 2, count = 71 }]')
    [row, *_] = checks.known_counts(file).rows
    assert row.entries[2:] == ["NO", "2", "71", "72"]


def test_tables_of_pages_are_read_and_missing_ones_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n## Won\n\n| who | won |\n| --- | --- |\n| [`a`](b.md) | **1.5** [1, 2] |\n")
    table = experiments.markdown_table(page, "Won", "title")
    assert [(column.name, column.numbers) for column in table.columns] == [("who", False), ("won", True)]
    assert [list(row.entries) for row in table.rows] == [["a", "1.5 [1, 2]"]]
    with pytest.raises(KeyError, match="Lost"):
        experiments.markdown_table(page, "Lost", "title")
    with pytest.raises(KeyError, match="1 tables, not 2"):
        experiments.markdown_table(page, "Won", "title", 1)


def test_recorded_figures_are_found() -> None:
    assert len(experiments.loss_curve()) > 10
    assert experiments.nano_facts()["nano_parameters"].endswith(" million")
    assert all(table.rows for table in experiments.documented().values())


def test_the_prose_types_no_table_and_shows_all_that_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    prose = whole.SOURCE.read_text("utf-8")
    assert not re.search(r"\btable\(|^\|", prose, flags=re.MULTILINE)
    monkeypatch.setattr(checks, "game_checks", tuple)
    assert set(NAMES.findall(prose)) == whole.tables().keys()


@pytest.mark.slow
def test_the_report_is_built(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="Typst is not installed: pip install 'ludens[paper]'")
    document = whole.write(tmp_path)
    assert 8 <= whole.compile_pdf(document, tmp_path / "ludens.pdf") <= 15


def test_the_stored_arena_is_whole(tmp_path: Path) -> None:
    from ludens.run.pack import unpack

    (tmp_path / "arena.ludens").write_bytes(
        gzip.decompress((experiments.RUNS / "arena.ludens.gz").read_bytes())
    )
    (tmp_path / "run").mkdir()
    assert len(unpack(tmp_path / "arena.ludens", tmp_path / "run").keys) > 100
