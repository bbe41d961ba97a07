"""The report as one self-contained HTML page, and a page for one episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludens.core.episode import Episode
from ludens.core.errors import UsageError
from ludens.run.replays import last_picture
from ludens.run.report import charts, tables
from ludens.run.report.curves import curve_charts
from ludens.run.report.deviations import standard_deviations
from ludens.run.report.episodes import Pick, SizeLimit, data_uri, pick_episodes, show_episode, steps_to_show
from ludens.run.report.html import render_page
from ludens.run.report.judged import judged_table
from ludens.run.report.references import evidence
from ludens.run.report.table import split
from ludens.run.results import Results, SuiteResults
from ludens.run.verified import verification_text

REPORT_SIZE = 4_000_000
"""About how many characters of pictures and prompts a report contains at most."""
EPISODE_SIZE = 30_000_000
PICTURE_SIZE = 256
OPENING_SIZE = 320


def page(results: Results, metrics: Sequence[str] = (), episodes: int = 4) -> str:
    """The whole report."""
    limit = SizeLimit(REPORT_SIZE)
    suites = [_suite(found, metrics, episodes, limit) for found in results.suites]
    title = "Ludens report: " + ", ".join(found.suite.name for found in results.suites)
    runs = [(folder, plan, verification_text(folder)) for folder, plan in results.plans.items()]
    picture = _opening_picture(results)
    return render_page("report.html", title=title, runs=runs, picture=picture, suites=suites)


def episode_page(episode: Episode, key: str, size: int) -> str:
    """One episode with every picture, prompt and reply."""
    shown = show_episode(episode, size=size, steps=None, limit=SizeLimit(EPISODE_SIZE))
    return render_page("episode.html", title=key, shown=shown)


def _opening_picture(results: Results) -> dict[str, str] | None:
    """The final position of the first episode that can be replayed with a picture, and its caption."""
    for found in results.suites:
        for row in found.rows:
            for name, cell in row.cells.items():
                place = next(iter(cell.episodes), None)
                if place is None:
                    continue
                episode = cell.read(place).episode
                try:
                    picture = data_uri(last_picture(episode, OPENING_SIZE))
                except UsageError:
                    continue
                return {"src": picture, "caption": f"{name}: {row.label}, seed {episode.seed}, at the end"}
    return None


def _suite(found: SuiteResults, metrics: Sequence[str], episodes: int, limit: SizeLimit) -> dict[str, Any]:
    order = {
        (row.name, name): (i, n) for n, row in enumerate(found.rows) for i, name in enumerate(found.tasks)
    }
    cards = [_card(pick, limit) for pick in pick_episodes(found, episodes)]
    cards.sort(key=lambda card: order[card["pick"].row.name, card["pick"].cell.task.name])
    return {**sections(found, metrics), "cards": cards}


def sections(found: SuiteResults, metrics: Sequence[str] = ()) -> dict[str, Any]:
    """The tables and charts of one suite."""
    radar = charts.radar_chart(found)
    return {
        "results": found,
        "evidence": evidence(found),
        "scores": split(tables.scores(found, metrics)),
        "summaries": [
            table
            for table in (
                tables.task_scores(found),
                tables.metric_summaries(found),
                standard_deviations(found),
            )
            if table is not None
        ],
        "further": tables.further(found, metrics),
        "bars": list(charts.bar_charts(found, metrics)),
        "radars": [*([radar] if radar else []), *charts.behaviour_charts(found), *curve_charts(found)],
        "confusion": list(charts.confusion_charts(found)),
        "pairs": tables.pairs(found),
        "replies": tables.replies(found),
        "judged": judged_table(found),
    }


def _card(pick: Pick, limit: SizeLimit) -> dict[str, Any]:
    played = pick.cell.read(pick.place)
    shown = show_episode(
        played.episode,
        size=PICTURE_SIZE,
        steps=steps_to_show(played.episode, played.seats),
        limit=limit,
    )
    return {"pick": pick, "seats": played.seats, "shown": shown}
