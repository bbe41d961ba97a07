"""The report as one page that needs nothing else: no network, no other file. Also a page for one episode."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from ludens.core.episode import Episode
from ludens.run.report.cards import Budget, badge, body
from ludens.run.report.charts import bar_charts, behaviour_charts, confusion_charts, radar_chart, summary
from ludens.run.report.escape import esc, said
from ludens.run.report.gallery import Pick, picks, telling_steps
from ludens.run.report.parted import parted
from ludens.run.report.tables import Entry, Table, Value, composites, details, digest, further, pairs, scores
from ludens.run.results import Results, SuiteResults

BYTES = 4_000_000
"""About how large the gallery of a page may get; pictures and prompts beyond are left out."""
ONE_EPISODE_BYTES = 30_000_000
SIZE = 256

_ASSETS = Path(__file__).parent / "assets"


def page(results: Results, metrics: Sequence[str] = (), episodes: int = 4) -> str:
    """The whole report."""
    budget = Budget(BYTES)
    names = ", ".join(found.suite.name for found in results.suites)
    main = [f"<header><h1>Ludens report: {esc(names)}</h1>{_lead(results)}</header>"]
    for number, found in enumerate(results.suites):
        main += _suite(found, metrics, episodes, budget, f"s{number}")
    main.append(_repeat(results))
    return _document(f"Ludens report: {names}", "".join(main))


def episode_page(episode: Episode, key: str, size: int, templates: Path | None = None) -> str:
    """One episode with every picture, prompt and reply."""
    shown = body(episode, size=size, templates=templates, steps=None, budget=Budget(ONE_EPISODE_BYTES))
    heading = f"<header><h1>{esc(key)}</h1></header>"
    return _document(key, f'{heading}<section class="episode alone">{shown}</section>')


def _lead(results: Results) -> str:
    lines = [
        f"<li><code>{esc(folder)}</code>: suite {esc(plan.suite)}, theme {esc(plan.theme)}, {plan.size} px, "
        f"made with {esc(', '.join(f'{k} {v}' for k, v in plan.made_with.items()))}</li>"
        for folder, plan in results.plans.items()
    ]
    return f'<ul class="lead">{"".join(lines)}</ul>'


def _suite(
    found: SuiteResults, metrics: Sequence[str], episodes: int, budget: Budget, name: str
) -> Iterator[str]:
    sections = {
        "Summary": _warnings(found)
        + _in_parts(scores(found, metrics))
        + _titled(composites(found))
        + _titled(digest(found))
        + _folded(further(found, metrics)),
        "Charts": _charts(found, metrics),
        "Confusion": _confusion(found),
        "Comparisons": _comparisons(found),
        "Conduct": table(details(found)) + _voids(found),
        "Episodes": _gallery(found, episodes, budget),
        "Deviations": "".join(f"<li>{esc(line)}</li>" for line in found.suite.deviations),
    }
    kept = {title: html for title, html in sections.items() if html}
    links = "".join(f'<a href="#{name}-{title.lower()}">{title}</a>' for title in kept)
    yield f'<div class="suite"><h2>{esc(found.suite.name)}</h2><p>{esc(found.suite.about)}</p>'
    yield f'<nav>{links}<a href="#repeat">Repeat</a></nav>'
    for title, html in kept.items():
        inner = f"<ul>{html}</ul>" if title == "Deviations" else html
        yield f'<section id="{name}-{title.lower()}"><h3>{title}</h3>{inner}</section>'
    yield "</div>"


def _warnings(found: SuiteResults) -> str:
    warnings = [f"<li>{esc(warning)}</li>" for warning in found.warnings]
    if not warnings:
        return ""
    return (
        '<div class="warning" role="alert"><b>Nothing shows that pictures made a difference.</b> Where a '
        "model is not seen to do better with pictures than with blank ones, its score says nothing about "
        "seeing; or there are too few episodes to tell."
        f"<ul>{''.join(warnings)}</ul></div>"
    )


def table(made: Table) -> str:
    """A table of the report."""
    heads = "".join(
        f'<th class="{"number" if c.numbers else "word"}">{esc(c.name)}'
        + (f"<small>{esc(c.unit)}</small>" if c.unit else "")
        + "</th>"
        for c in made.columns
    )
    lines = []
    for line in made.lines:
        cells = zip(made.columns, line.entries, strict=True)
        row = "".join(f'<td class="{"number" if c.numbers else "word"}">{_entry(e)}</td>' for c, e in cells)
        lines.append(f'<tr class="{line.kind}">{row}</tr>')
    notes = "".join(f"<li>{esc(note)}</li>" for note in made.notes if not note.startswith("Warning: "))
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>" + (f'<ul class="fine">{notes}</ul>' if notes else "")
    )


def _entry(entry: Entry) -> str:
    if not isinstance(entry, Value):
        return esc(entry)
    return esc(entry.number) + (f"<small>{esc(entry.interval)}</small>" if entry.interval else "")


def _in_parts(made: Table) -> str:
    parts = parted(made)
    return table(made) if len(parts) == 1 else "".join(_titled(part) for part in parts)


def _titled(made: Table | None) -> str:
    return "" if made is None else f"<h4>{esc(made.title)}</h4>{table(made)}"


def _folded(made: Table | None) -> str:
    if made is None:
        return ""
    return f'<details class="folded"><summary>{esc(made.title)}</summary>{table(made)}</details>'


def _charts(found: SuiteResults, metrics: Sequence[str]) -> str:
    drawn = [
        f"<figure><figcaption>{esc(heading)}</figcaption>{chart}</figure>"
        for heading, chart in bar_charts(found, metrics)
    ]
    around = radar_chart(found)
    if around:
        drawn.append(f"<figure><figcaption>Tasks on one scale, 0 to 100</figcaption>{around}</figure>")
    drawn += [
        f"<figure><figcaption>{esc(heading)}</figcaption>{chart}</figure>"
        for heading, chart in behaviour_charts(found)
    ]
    if not drawn:
        return ""
    legend = (
        "Whiskers are 95% intervals. A dashed line is the blind control; hollow bars are published numbers."
    )
    return f'<div class="charts">{"".join(drawn)}</div><p class="fine">{legend}</p>'


def _confusion(found: SuiteResults) -> str:
    drawn = [
        f"<figure><figcaption>{esc(heading)}<small>{esc(summary(classes))}</small></figcaption>"
        f"{chart or '<p>Too many labels to draw; the JSON report has them.</p>'}</figure>"
        for heading, chart, classes in confusion_charts(found)
    ]
    return f'<div class="charts">{"".join(drawn)}</div>' if drawn else ""


def _comparisons(found: SuiteResults) -> str:
    made = pairs(found)
    return "" if made is None else f"<p>{esc(made.title)}.</p>{table(made)}"


def _voids(found: SuiteResults) -> str:
    lines = [
        f"<li>{esc(row.name)}, {esc(task)}: {count} x <bdi>{said(reason, 400)}</bdi></li>"
        for row in found.rows
        for task, cell in row.cells.items()
        for reason, count in cell.voids.items()
    ]
    return f"<h4>Why episodes were void</h4><ul>{''.join(lines)}</ul>" if lines else ""


def _gallery(found: SuiteResults, most: int, budget: Budget) -> str:
    chosen = picks(found, most)
    if not chosen:
        return ""
    cards = {id(pick): _card(found, pick, budget) for pick in chosen}
    tasks, rows = list(found.tasks), [row.name for row in found.rows]
    ordered = sorted(chosen, key=lambda p: (tasks.index(p.cell.task.name), rows.index(p.row.name)))
    filters = _filter("task", tasks) + _filter("entrant", rows)
    filters += _filter("kind", ["best", "worst", "fallbacks"])
    return (
        f'<form class="filters">{filters}<output></output></form>'
        f'<div class="gallery">{"".join(cards[id(pick)] for pick in ordered)}</div>'
    )


def _filter(name: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{esc(value)}">{esc(value)}</option>' for value in values)
    return f'<label>{name} <select name="{name}"><option value="">all</option>{options}</select></label>'


def _card(found: SuiteResults, pick: Pick, budget: Budget) -> str:
    episode, task = pick.played.episode, pick.cell.task
    templates = pick.row.render[2]
    steps = telling_steps(episode, pick.played.seats)
    inner = body(
        episode, size=SIZE, templates=Path(templates) if templates else None, steps=steps, budget=budget
    )
    metric = task.metrics[0]
    scale, unit = (100, "%") if metric.percent else (1, "")
    value = "" if pick.value is None else f"{metric.name} {scale * pick.value:.4g}{unit}"
    fallbacks = sum(m.verdict == "fallback" and m.seat in pick.played.seats for m in episode.moves)
    tags = "".join(badge(tag) for tag in pick.tags if tag != "fallbacks")
    tags += f'<span class="badge v-fallback">{fallbacks} fallback</span>' if fallbacks else ""
    return (
        f'<details class="episode" data-task="{esc(task.name)}" data-entrant="{esc(pick.row.name)}"'
        f' data-kind="{esc(" ".join(pick.tags))}">'
        f"<summary><b>{esc(task.name)}</b> <span>{esc(pick.row.name)}</span>"
        f" <span>seed {episode.seed}, {esc(' and '.join(pick.played.seats))}</span> <span>{esc(value)}</span>"
        f" {tags}</summary>{inner}</details>"
    )


def _repeat(results: Results) -> str:
    plans = "".join(
        f"<details><summary><code>{esc(folder)}/run.json</code></summary>"
        f"<pre>{esc(plan.to_json().decode())}</pre></details>"
        for folder, plan in results.plans.items()
    )
    return (
        '<section id="repeat"><h3>How to repeat</h3><p>Each plan below is everything a run needs: put it '
        "into an empty folder as <code>run.json</code> and <code>ludens resume FOLDER</code> plays it again. "
        f"One seed gives one episode, as far as models repeat themselves.</p>{plans}</section>"
    )


@lru_cache(maxsize=1)
def _assets() -> tuple[str, str]:
    return (_ASSETS / "page.css").read_text("utf-8"), (_ASSETS / "page.js").read_text("utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(sha256(text.encode()).digest()).decode("ascii") + "'"


def _document(title: str, main: str) -> str:
    """The page around its content. Only our own script and style may run, whatever a model has said."""
    style, script = _assets()
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{esc(title)}</title><style>{style}</style></head>"
        f"<body><main>{main}</main><script>{script}</script></body></html>\n"
    )
