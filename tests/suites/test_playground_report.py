"""A run of playground-mini from the command line to its report: tables, scores, radar, ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ludens.cli import main
from ludens.run.report import load_results, render
from ludens.suites.playground import DENSITIES, GAMES

TASKS = ",".join(f"{task}/{game}" for task in ("perceive", "qa", "rule") for game in GAMES)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "mini"
    command = ["eval", "playground-mini", "-m", "bot/guess", "-m", "bot/oracle"]
    assert main([*command, "--tasks", TASKS, "--limit", "3", "--out", str(folder)]) == 0
    return folder


def test_the_papers_tables_are_parts_of_the_report(run: Path) -> None:
    told = render(load_results([run]), "md").decode()
    for part in ("playground-mini: perceive", "playground-mini: qa", "playground-mini: rule"):
        assert part in told
    assert "GPT-4o (published: LVLM-Playground, tables 2-4)" in told


def test_scores_need_all_games_of_their_task(run: Path) -> None:
    [found] = load_results([run]).suites
    oracle = next(row for row in found.rows if row.name == "bot/oracle")
    assert {name: score.mean for name, score in oracle.summaries.items()} == pytest.approx(
        {"perceive": 100.0, "qa": 100.0, "rule": 100.0}
    )


def test_the_radar_has_the_scores_as_axes_once_all_are_there(run: Path) -> None:
    from ludens.run.report.charts import radar_chart

    chart = radar_chart(load_results([run]).suites[0])
    assert chart is not None
    # Without the games played to the end one score is missing: every task is an axis of its own.
    assert "perceive/chess" in chart.axes
    theirs = [ring for ring in chart.rings if ring.kind == "published"]
    assert [ring.label.partition(" ")[0] for ring in theirs] == [
        "Claude-3.5-sonnet",
        "Gemini1.5-pro",
        "GPT-4o",
    ]
    assert theirs[2].values[chart.axes.index("perceive/chess")] == 44.7


def test_sweeps_are_drawn_as_curves_with_published_lines(tmp_path: Path) -> None:
    from ludens.run.report.charts import curve_charts

    folder = tmp_path / "sweep"
    tasks = ",".join(f"density/{pieces}" for pieces in DENSITIES)
    command = ["eval", "playground-sweeps", "-m", "bot/oracle", "--tasks", tasks, "--limit", "2"]
    assert main([*command, "--out", str(folder)]) == 0
    results = load_results([folder])
    [chart] = curve_charts(results.suites[0])
    assert chart.points == list(DENSITIES)
    ours, *theirs = chart.lines
    assert (ours.label, ours.values) == ("bot/oracle", [100.0] * 5)
    assert len(chart.whiskers(ours)) == 5
    claude = next(line for line in theirs if line.label == "Claude-3.5-sonnet (published)")
    assert claude.values == pytest.approx([87.8, 72.8, 68.6, 69.4, 77.4])
    assert not chart.whiskers(claude)
    assert chart.y(100) < chart.y(claude.values[0]) < chart.y(claude.values[2]) < chart.y(0)
    page = render(results, "html").decode()
    assert "Gomoku boards by number of stones: cells right %" in page
    assert chart.path(claude) in page


def test_ratings_are_chosen_when_reporting(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def qa(*flags: str) -> float:
        assert main(["report", str(run), "--format", "json", *flags]) == 0
        rows = json.loads(capsys.readouterr().out)["suites"][0]["rows"]
        [row] = [r for r in rows if (r["entrant"], r["metric"]) == ("bot/guess", "perceive")]
        return float(row["mean"])

    capsys.readouterr()
    formula, paper = qa(), qa("--ratings", "paper")
    assert formula == qa("--ratings", "formula") != paper
    assert main(["report", str(run), "--ratings", "stars"]) == 2
    assert "'stars'" in capsys.readouterr().err


def test_answers_by_letter_are_drawn(run: Path) -> None:
    page = render(load_results([run]), "html").decode()
    assert "bot/guess: qa/chess, right" in page
    assert "Scores over several tasks" in page
