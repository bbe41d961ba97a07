"""Reports of every suite in every format: they can be read back, and print nothing that is not known."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ludens.core.errors import BadFile
from ludens.run.paper import compile_pdf, write_paper
from ludens.run.references import BLIND, DEAF
from ludens.run.report import FORMATS, render
from ludens.run.report.tables import metric_columns
from ludens.run.results import Results, load_results
from ludens.suites import CATALOGUE
from tests.support.every_suite import VARIANTS, play_suite
from tests.support.latex import compiled

WIDE = 200
UNKNOWN = re.compile(r"\b(nan|NaN|inf|None)\b")


SUITES = [pytest.param(name, marks=pytest.mark.slow) if name in VARIANTS else name for name in CATALOGUE]


@pytest.fixture(scope="module", params=SUITES)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A bot, a model that does not look, its blind control: one episode of each task, more of Kuhn poker."""
    return load_results(play_suite(request.param, tmp_path_factory.mktemp("run")))


@pytest.fixture(scope="module")
def wide(results: Results) -> str:
    """The tables for a wide terminal."""
    return _text(results, "table", width=WIDE)


def _text(results: Results, format: str, **options: Any) -> str:
    return render(results, format, **options).decode()


@pytest.mark.parametrize("width", [80, pytest.param(120, marks=pytest.mark.slow), WIDE])
def test_text_fits_the_terminal(width: int, results: Results, wide: str) -> None:
    text = wide if width == WIDE else _text(results, "table", width=width)
    assert all(len(line) <= width for line in text.splitlines() if not _is_long_word(line, width))
    assert "…" not in text
    assert not UNKNOWN.search(_without_folders(text, results))
    for found in results.suites:
        for column in metric_columns(found):
            assert column.task.name.rpartition("/")[2] in text


def _is_long_word(line: str, width: int) -> bool:
    """Words of names, such as folders, are not broken."""
    return any(len(word) > width // 2 for word in line.split())


def _without_folders(text: str, results: Results) -> str:
    for folder in results.plans:
        text = text.replace(str(folder), "")
    return text


@pytest.mark.parametrize("format", ["md", "html"])
def test_pages_say_nothing_that_is_not_known(format: str, results: Results) -> None:
    shown = re.sub(
        r"<pre>.*?</pre>|<script>.*?</script>|src=\"[^\"]*\"", "", _text(results, format), flags=re.DOTALL
    )
    assert not UNKNOWN.search(_without_folders(shown, results))


@pytest.mark.slow
def test_papers_compile(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="Typst is not installed: pip install 'ludens[paper]'")
    write_paper(results, tmp_path)
    assert 1 <= compile_pdf(tmp_path / "paper.typ", tmp_path / "paper.pdf") <= 12


def test_latex_compiles(results: Results, tmp_path: Path) -> None:
    compiled(_text(results, "latex"), tmp_path)


def test_json_is_strict(results: Results) -> None:
    def refuse(constant: str) -> None:
        raise BadFile(f"{constant} is not JSON.")

    whole = json.loads(render(results, "json"), parse_constant=refuse)
    assert [one["name"] for one in whole["suites"]] == [found.suite.name for found in results.suites]
    assert all(one["rows"] for one in whole["suites"])


@pytest.mark.parametrize("format", ["csv", "episodes-csv"])
def test_numbers_of_csv_are_known_or_empty(format: str, results: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(_text(results, format))))
    assert rows
    assert not {value for row in rows for value in row.values() if UNKNOWN.fullmatch(value)}


@pytest.mark.parametrize("format", ["parquet", "episodes-parquet"])
def test_parquet_can_be_read(format: str, results: Results) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    assert pq.read_table(io.BytesIO(render(results, format))).num_rows


def test_every_format_is_tested() -> None:
    assert set(FORMATS) == {
        "table", "md", "html", "latex", "json", "csv", "episodes-csv", "parquet", "episodes-parquet",
    }  # fmt: skip


def _estimates(results: Results) -> Iterator[tuple[str, Any, Any]]:
    for found in results.suites:
        for row in found.rows:
            for name, cell in row.cells.items():
                for metric in cell.task.metrics:
                    yield f"{row.name} on {name}", metric, cell.metrics[metric.name]


def test_intervals_are_plain_numbers_within_the_range_of_the_metric(results: Results) -> None:
    for where, metric, estimate in _estimates(results):
        numbers = (estimate.mean, estimate.low, estimate.high, estimate.standard_error)
        assert {type(number) for number in numbers} == {float}, (where, metric.name)
        least, greatest = metric.limits
        assert not estimate.low < min(least, estimate.mean), (where, metric.name, estimate)
        assert not estimate.high > max(greatest, estimate.mean), (where, metric.name, estimate)


def test_few_seeds_give_sentences_and_no_warnings(results: Results, wide: str) -> None:
    text = " ".join(wide.split())
    if any(found.is_arena for found in results.suites):  # its warnings say which intervals are open
        assert "fake/guesser is not significantly above its blind control" not in text
        return
    few = all(cell.few for found in results.suites for row in found.rows for cell in row.cells.values())
    assert ("Warning:" in text) is not few
    assert "fake/guesser: " in text
    named = {DEAF if found.suite.deaf else BLIND for found in results.suites if found.suite.references}
    assert all(name in text for name in named)
