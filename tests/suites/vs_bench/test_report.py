"""A run of the suite, reported: normalised by any anchors, radars of what was done, worst episodes shown."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from statistics import stdev

import pytest

from ludens.run.report import load_results, render
from ludens.run.report.charts import behaviour_charts
from ludens.run.report.table import Value
from ludens.run.report.tables import standard_deviations
from tests.support.runs import plan_of, played

DILEMMAS = ("decide/coin_dilemma", "decide/monster_hunt", "decide/battle_of_colors")
TASKS = ("decide/hanabi", *DILEMMAS, "reason/kuhn")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "vs"
    asyncio.run(played(folder, plan_of("bot/random", "bot/best", suite="vs-bench", tasks=TASKS, limit=4)))
    return folder


def test_the_best_known_players_come_near_a_hundred(run: Path) -> None:
    for options, low in (({}, 80), ({"anchors": "measured"}, 80), ({"anchors": "none"}, 12)):
        [found] = load_results([run], options).suites
        best, random = found.rows[1], found.rows[0]
        for task in TASKS[:4]:
            assert best.cells[task].table_estimate().mean > low, (task, options)
            assert random.cells[task].table_estimate().mean < 10, (task, options)
    assert (
        best.cells["decide/hanabi"].table_estimate().mean == best.cells["decide/hanabi"].metrics["final"].mean
    )
    assert best.cells["reason/kuhn"].metrics["accuracy"].mean >= 0.5


def test_what_players_did_is_drawn(run: Path) -> None:
    [found] = load_results([run]).suites
    charts = list(behaviour_charts(found))
    assert [chart.title.split(":")[0] for chart in charts] == list(DILEMMAS)
    hunt = charts[1]
    together = [row.cells["decide/monster_hunt"].metrics["together"].mean for row in found.rows]
    assert hunt.rings[1].numbers[hunt.axes.index("together")] == f"{together[1]:.1f}"
    assert together[1] > 10 * together[0]


def test_the_page_shows_radars_published_rows_and_the_worst_episodes(run: Path) -> None:
    page = render(load_results([run]), "html").decode()
    assert page.count("counts per episode") >= 3
    assert "gpt-4.1 (published: VS-Bench, table 2)" in page
    assert "by the rule <code>single</code> unless <code>?predict=paper</code> is given" in page
    worst = re.findall(r'data-task="([^"]+)" data-entrant="bot/random" data-kind="[^"]*worst', page)
    assert {"decide/coin_dilemma", "decide/monster_hunt"} <= set(worst)


def test_deviations_are_shown_in_the_unit_of_the_table(run: Path) -> None:
    for options, unit in (({}, 100 / (14.2 + 0.1)), ({"anchors": "none"}, 1.0)):
        [found] = load_results([run], options).suites
        table = standard_deviations(found)
        assert table is not None
        column = [c.name for c in table.columns].index("decide/coin_dilemma")
        ours, theirs = table.rows[0].entries[column], table.rows[2].entries[column]
        assert isinstance(ours, Value)
        assert isinstance(theirs, Value)
        cell = found.rows[0].cells["decide/coin_dilemma"]
        values = list(cell.values(cell.task.metrics[0]).values())
        assert ours.estimate.mean == pytest.approx(unit * stdev(values))
        assert theirs.estimate.mean > 0
    page = render(load_results([run], {"anchors": "none"}), "md").decode()
    assert "Standard deviations over episodes" in page
    assert "| gpt-4.1 (published: VS-Bench, table 4) | decide/hanabi | fireworks | 3.6" in page
