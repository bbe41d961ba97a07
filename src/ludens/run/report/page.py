"""The report as one self-contained HTML page, and a page for one episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ludens.core.episode import Episode
from ludens.run.report import charts, tables
from ludens.run.report.episodes import Pick, SizeLimit, pick_episodes, show_episode, steps_to_show
from ludens.run.report.html import render_page
from ludens.run.results import Results, SuiteResults

REPORT_SIZE = 4_000_000
"""About how many characters of pictures and prompts a report contains at most."""
EPISODE_SIZE = 30_000_000
PICTURE_SIZE = 256


def page(results: Results, metrics: Sequence[str] = (), episodes: int = 4) -> str:
    """The whole report."""
    limit = SizeLimit(REPORT_SIZE)
    suites = [_suite(found, metrics, episodes, limit) for found in results.suites]
    title = "Ludens report: " + ", ".join(found.suite.name for found in results.suites)
    return render_page("report.html", title=title, plans=results.plans, suites=suites)


def episode_page(episode: Episode, key: str, size: int) -> str:
    """One episode with every picture, prompt and reply."""
    shown = show_episode(episode, size=size, steps=None, limit=SizeLimit(EPISODE_SIZE))
    return render_page("episode.html", title=key, shown=shown)


def _suite(found: SuiteResults, metrics: Sequence[str], episodes: int, limit: SizeLimit) -> dict[str, Any]:
    radar = charts.radar_chart(found)
    order = {
        (row.name, name): (i, n) for n, row in enumerate(found.rows) for i, name in enumerate(found.tasks)
    }
    cards = [_card(pick, limit) for pick in pick_episodes(found, episodes)]
    cards.sort(key=lambda card: order[card["pick"].row.name, card["pick"].cell.task.name])
    return {
        "results": found,
        "warnings": list(found.warnings),
        "scores": tables.split(tables.scores(found, metrics)),
        "summaries": list(filter(None, (tables.task_scores(found), tables.metric_summaries(found)))),
        "further": tables.further(found, metrics),
        "bars": list(charts.bar_charts(found, metrics)),
        "radars": [*([radar] if radar else []), *charts.behaviour_charts(found)],
        "confusion": list(charts.confusion_charts(found)),
        "pairs": tables.pairs(found),
        "replies": tables.replies(found),
        "cards": cards,
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
