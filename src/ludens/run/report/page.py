"""The report as one self-contained HTML page, and a page for one episode with prompts and replies."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import groupby, islice, zip_longest
from pathlib import Path
from typing import Any
from unicodedata import category

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ludens.core.episode import Episode
from ludens.core.errors import UsageError
from ludens.run.arena.standings import standings_of
from ludens.run.cells import Cell
from ludens.run.comparisons import Place
from ludens.run.replays import evenly, last_picture
from ludens.run.report import charts, tables
from ludens.run.report.arena import (
    arena_charts,
    arena_tables,
    headline_tables,
    improvement,
    improvement_charts,
)
from ludens.run.report.references import evidence
from ludens.run.report.table import Column, Entry, TableRow, split
from ludens.run.report.tables import judged_table, standard_deviations
from ludens.run.results import Results, Row, SuiteResults
from ludens.run.verify import verification_text
from ludens.run.viewer import SizeLimit, data_uri, embed

TEMPLATES = Path(__file__).parent / "templates"
STYLES, SCRIPTS = ("page.css", "viewer.css"), ("page.js", "viewer.js")
_JOINERS = "\u200c\u200d"  # Persian and emoji need them, and they do not change the order of text.


def _hidden(c: str) -> bool:
    """Whether a character is a control, a change of writing direction, half a surrogate pair or the like."""
    return not (c.isprintable() or c in "\n\t" or c in _JOINERS or category(c) == "Zs")


def _number(c: str) -> str:
    return f"U+{ord(c):04X}"


def visible(value: Any) -> Any:
    """Text with hidden characters replaced by their numbers; other values unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return value.translate({ord(c): f"[{_number(c)}]" for c in set(value) if _hidden(c)})


def with_code(text: str) -> Markup:
    """Text as HTML, with what stands between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup("{}").format(visible(text))
    patterns = Markup("{}"), Markup("<code>{}</code>")
    return Markup("").join(patterns[i % 2].format(visible(part)) for i, part in enumerate(parts))


def pieces(text: str, limit: int) -> Iterator[tuple[bool, str]]:
    """The first characters as pieces of plain text (False) and numbers of hidden characters (True)."""
    text = text[:limit]
    hidden_characters = {c for c in set(text) if _hidden(c)}
    for hidden, group in groupby(text, hidden_characters.__contains__) if hidden_characters else ():
        if hidden:
            yield from ((True, _number(c)) for c in group)
        else:
            yield False, "".join(group)
    if text and not hidden_characters:
        yield False, text


def make_environment(*folders: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["pieces"] = pieces
    environment.filters["with_code"] = with_code
    return environment


def page_environment(folders: Sequence[Path], styles: Sequence[Path], scripts: Sequence[Path]) -> Environment:
    """An environment for pages that stand alone, each with all of these styles and scripts."""
    pages = make_environment(*folders)
    for kind, files in (("style", styles), ("script", scripts)):
        text = "\n".join(file.read_text("utf-8") for file in files)
        digest = base64.b64encode(sha256(text.encode()).digest()).decode("ascii")
        pages.globals[kind] = Markup(text)
        pages.globals[f"{kind}_hash"] = f"sha256-{digest}"
    return pages


@lru_cache(maxsize=1)
def environment() -> Environment:
    styles, scripts = ([TEMPLATES / name for name in names] for names in (STYLES, SCRIPTS))
    return page_environment((TEMPLATES,), styles, scripts)


def render_page(template: str, **context: Any) -> str:
    """A whole page. Its policy lets no script and style run but our own, whatever a model has said."""
    return environment().get_template(template).render(**context)


MAX_STEPS = 8
"""Steps of one episode that are shown, besides the last."""


@dataclass(frozen=True)
class Pick:
    """An episode to show, and why."""

    row: Row
    cell: Cell
    place: Place
    tags: tuple[str, ...]
    value: float | None
    """Of the task's first metric."""

    @property
    def key(self) -> str:
        return self.cell.episodes[self.place].key

    @property
    def value_text(self) -> str:
        metric = self.cell.task.metrics[0]
        scale, unit = (100, "%") if metric.percent else (1, "")
        return "" if self.value is None else f"{metric.name} {scale * self.value:.4g}{unit}"


def pick_episodes(results: SuiteResults, most: int) -> list[Pick]:
    """At most `most` episodes of every entrant and task, the most interesting of each first."""
    groups = [_ranked(row, cell, most) for row, _, cell in results.cells()]
    return [pick for rank in zip_longest(*groups) for pick in rank if pick is not None]


def _ranked(row: Row, cell: Cell, most: int) -> list[Pick]:
    metric = cell.task.metrics[0]
    values = cell.paired_values(metric)
    tags: dict[Place, list[str]] = {}
    if len(set(values.values())) > 1:
        sign = 1 if metric.higher_is_better else -1
        ranked = sorted(values, key=lambda place: sign * values[place])
        tags.setdefault(ranked[-1], []).append("best")
        tags.setdefault(ranked[0], []).append("worst")
    fallbacks = cell.episodes.fallbacks()
    for place in sorted(fallbacks, key=lambda p: -fallbacks[p])[:2]:
        tags.setdefault(place, []).append("fallbacks")
    for place in islice(cell.episodes, most):
        tags.setdefault(place, [])
    return [Pick(row, cell, place, tuple(tags[place]), values.get(place)) for place in islice(tags, most)]


def steps_to_show(episode: Episode, seats: Sequence[str]) -> set[int]:
    """Steps with rejected replies, then others evenly spaced."""
    own = list(dict.fromkeys(move.step for move in episode.moves if move.seat in seats))
    wrong = {move.step for move in episode.moves if move.seat in seats and move.verdict != "ok"}
    steps = set(evenly([step for step in own if step in wrong], MAX_STEPS - 2))
    return steps | set(evenly([step for step in own if step not in steps], MAX_STEPS - len(steps)))


MOST_OF_MATCH = 1
"""Episodes of one match and task that are shown, besides upsets: there are many matches."""
REPORT_SIZE = 4_000_000
"""About how many characters of pictures and prompts a report contains at most."""
EPISODE_SIZE = 30_000_000
PICTURE_SIZE = 256
OPENING_SIZE = 320


def page(results: Results, metrics: Sequence[str] = (), episodes: int = 4) -> str:
    limit = SizeLimit(REPORT_SIZE)
    suites = [_suite(suite, metrics, episodes, limit) for suite in results.suites]
    title = "Ludens report: " + ", ".join(suite.suite.name for suite in results.suites)
    runs = [(folder, plan, verification_text(folder)) for folder, plan in results.plans.items()]
    picture = _opening_picture(results)
    return render_page("report.html", title=title, runs=runs, picture=picture, suites=suites)


def episode_page(episode: Episode, key: str, size: int) -> str:
    panel = embed(episode, key, size=size, limit=SizeLimit(EPISODE_SIZE))
    return render_page("episode.html", title=key, panel=panel)


def _opening_picture(results: Results) -> dict[str, str] | None:
    """The final position of the first episode that can be replayed with a picture, and its caption."""
    for suite in results.suites:
        for row, name, cell in suite.cells():
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


def _suite(results: SuiteResults, metrics: Sequence[str], episodes: int, limit: SizeLimit) -> dict[str, Any]:
    order = {
        (row.name, name): (i, n) for n, row in enumerate(results.rows) for i, name in enumerate(results.tasks)
    }
    picks = {(p.row.name, p.cell.task.name, p.place): p for p in upset_picks(results) if episodes}
    most = min(episodes, MOST_OF_MATCH) if results.is_arena else episodes
    for pick in pick_episodes(results, most):
        picks.setdefault((pick.row.name, pick.cell.task.name, pick.place), pick)
    cards = [_card(pick, limit) for pick in picks.values()]
    cards.sort(key=lambda card: order[card["pick"].row.name, card["pick"].cell.task.name])
    linked = [card["pick"].key for card in cards if "upset" in card["pick"].tags]
    upsets = {key: f"upset-{number}" for number, key in enumerate(linked, 1)}
    for card in cards:
        card["id"] = upsets.get(card["pick"].key, "")

    def link(row: TableRow, entry: Entry, column: Column) -> str | None:
        return f"#{upsets[entry]}" if column.name == "episode" and entry in upsets else None

    return {**sections(results, metrics), "cards": cards, "link": link}


def upset_picks(results: SuiteResults) -> list[Pick]:
    """The upsets of an arena, which its table links to."""
    if not results.is_arena:
        return []
    return [
        Pick(match.row, match.cell, match.place, ("upset",), match.game.score)
        for _, _, _, match in standings_of(results).upsets
    ]


def sections(results: SuiteResults, metrics: Sequence[str] = ()) -> dict[str, Any]:
    if results.is_arena:
        return _arena_sections(results)
    summaries = (
        tables.task_scores(results),
        improvement(results),
        tables.metric_summaries(results),
        standard_deviations(results),
    )
    return {
        "results": results,
        "evidence": evidence(results),
        "scores": split(tables.scores(results, metrics)),
        "summaries": list(filter(None, summaries)),
        "further": tables.further(results, metrics),
        "bars": list(charts.bar_charts(results, metrics)),
        "radars": [
            *filter(None, [charts.radar_chart(results)]),
            *charts.behaviour_charts(results),
            *charts.curve_charts(results),
            *improvement_charts(results),
        ],
        "confusion": list(charts.confusion_charts(results)),
        "pairs": tables.pairs(results),
        "matches": (),
        "replies": tables.replies(results),
        "judged": judged_table(results),
    }


def _arena_sections(results: SuiteResults) -> dict[str, Any]:
    first = headline_tables(results)
    return {
        **{name: [] for name in ("evidence", "summaries", "radars", "confusion")},
        **dict.fromkeys(("further", "pairs")),
        "results": results,
        "scores": first,
        "bars": arena_charts(results),
        "matches": arena_tables(results)[len(first) : -1],
        "replies": tables.replies(results),
        "judged": judged_table(results),
    }


def _card(pick: Pick, limit: SizeLimit) -> dict[str, Any]:
    result = pick.cell.read(pick.place)
    steps = steps_to_show(result.episode, result.seats)
    panel = embed(result.episode, result.key, size=PICTURE_SIZE, limit=limit, steps=steps)
    return {"pick": pick, "seats": result.seats, "panel": panel}
