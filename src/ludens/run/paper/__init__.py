"""Papers: the results of runs as a folder with a Typst document, its data, its bibliography and a PDF.

    results = load_results([Path("runs/first")])
    write_paper(results, Path("paper"))

The document reads `data.json`; nothing that a run says is ever Typst code. A paper depends only on the runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import MissingExtra
from ludens.core.files import save_file
from ludens.core.plain import one_line, shorten
from ludens.core.spec import Spec, parse_spec
from ludens.draw.fonts import FOLDER as FONTS
from ludens.run.plan import Plan, prompt_settings, versions
from ludens.run.report import render
from ludens.run.report.arena import arena_charts, headline_tables, improvement
from ludens.run.report.charts import PUBLISHED_RINGS, Bar, BarChart, bar_charts
from ludens.run.report.references import sentences, warnings
from ludens.run.report.table import Column, Entry, Table, TableRow, Value, notes_below_last, select, split
from ludens.run.report.tables import scores, task_scores
from ludens.run.results import Results, SuiteResults
from ludens.run.task import MODEL, Suite, suite
from ludens.run.verify import verification_text

DOCUMENT, PDF = "paper.typ", "paper.pdf"
_DEFAULTS = Plan("", {})
TEMPLATES = Path(__file__).parent / "templates"
MOST_COLUMNS = 6
"""Columns of numbers that fit on a page, next to a name."""
LABEL = 30
"""Most characters next to a bar."""


def write_paper(results: Results, folder: Path) -> list[Path]:
    """Write everything but the PDF, which `compile_pdf` makes of `paper.typ`; returns the files."""
    files = {name: (TEMPLATES / name).read_bytes() for name in (DOCUMENT, "parts.typ")}
    files["data.json"] = as_json(content(results))
    files["references.bib"] = bibliography(results).encode()
    files["tables.tex"] = render(results, "latex")
    files["results.csv"] = render(results, "csv")
    for name, data in files.items():
        save_file(folder / name, data)
    return [folder / name for name in files]


def content(results: Results) -> dict[str, Any]:
    """Everything that `paper.typ` shows, as plain values."""
    names = list(dict.fromkeys(one.suite.name for one in results.suites))
    return {
        "title": f"Results on {' and '.join(names)}",
        "citation": KEY,
        "episodes": f"{sum(map(_episodes, results.suites)):,}",
        "runs": len(results.plans),
        "suites": [suite_content(one, _plans_of(one, results)) for one in results.suites],
        "entrants": table_data(_entrants(results)),
        "tasks": [table_data(table) for table in _tasks(results)],
        "settings": table_data(_settings(results)),
        "versions": table_data(_versions(results)),
        "verified": [f"{folder.name}: {_verified(folder)}" for folder in results.plans],
    }


def _episodes(results: SuiteResults) -> int:
    return sum(len(cell.episodes) for _, _, cell in results.cells())


def suite_content(results: SuiteResults, plans: Mapping[Path, Plan]) -> dict[str, Any]:
    """The part of a paper on one suite."""
    charts = arena_charts(results) if results.is_arena else bar_charts(results, ())
    tables = headline_tables(results) if results.is_arena else split(scores(results))
    more = () if results.is_arena else (task_scores(results), improvement(results))
    # Sentences and warnings have a paragraph of their own.
    bare = [table_data(part) for table in (*tables, *filter(None, more)) for part in fitted(table)]
    paragraphs = {one_line(text) for text in (*sentences(results), *warnings(results))}
    for table in bare:
        table["notes"] = [note for note in table["notes"] if note not in paragraphs]
        table["warnings"] = [warning for warning in table["warnings"] if warning not in paragraphs]
    return {
        "name": results.suite.name,
        "about": one_line(results.suite.about),
        "citations": keys_of(results.suite),
        "findings": [one_line(text) for text in sentences(results)] if not results.is_arena else [],
        "warnings": [one_line(text) for text in warnings(results)],
        "tables": bare,
        "charts": [chart_data(chart) for chart in charts if isinstance(chart, BarChart)],
        "departures": list(dict.fromkeys(departures(results, plans))),
        "deviations": list(results.suite.deviations),
    }


def _plans_of(results: SuiteResults, everything: Results) -> dict[Path, Plan]:
    folders = {folder for row in results.rows for folder in row.folders}
    return {folder: plan for folder, plan in everything.plans.items() if folder in folders}


def departures(results: SuiteResults, plans: Mapping[Path, Plan]) -> Iterator[str]:
    """Where these runs differ from the suite as it is defined."""
    for folder, plan in plans.items():
        whole = suite(plan.suite)
        for option, value in parse_spec(plan.suite).options.items():
            if not results.is_arena:
                yield f"The suite was played with {option}={value}."
        if left_out := [task.name for task in whole.tasks if task.name not in plan.tasks_by_name]:
            yield f"Not played in {folder.name}: {', '.join(left_out)}."
        fewer = [
            f"{name} {plan.places(task):,} of {task.episodes:,}"
            for name, task in plan.tasks_by_name.items()
            if plan.places(task) < task.episodes
        ]
        if fewer:
            yield f"Fewer episodes than the suite has: {', '.join(fewer)}."
        if plan.seed:
            yield f"{plan.seed:,} was added to the seeds of the suite."
        if plan.samples > 1:
            yield f"Every seed and seating was played {plan.samples:,} times."
        if (plan.theme, plan.size) != (_DEFAULTS.theme, _DEFAULTS.size):
            usual = f"{_DEFAULTS.theme}, {_DEFAULTS.size}"
            yield f"Pictures: theme {plan.theme}, {plan.size} pixels (by default {usual})."
        if plan.template_folders():
            yield "Prompts were made from templates of the user."
        for seat, spec in plan.seated.items():
            yield f"The seat {seat} was given to {_spec(spec)}."
        for name, spec in plan.entrants.items():
            settings = {} if name in plan.controls else prompt_settings(spec)
            if settings:
                yield f"{name}: {', '.join(f'{option} {value}' for option, value in settings.items())}."
    for row in results.rows:
        for name, cell in row.cells.items():
            if len(cell.episodes) < cell.planned:
                yield f"Unfinished: {row.label}, {name} ({len(cell.episodes):,} of {cell.planned:,})."
        if row.trained:
            yield f"{row.label} was trained on the games of {', '.join(sorted(row.trained))}."


def _spec(text: str) -> str:
    """A spec without the address of a server, which says nothing to a reader."""
    spec = parse_spec(text)
    return str(Spec(spec.name, None, spec.options))


def _texts(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = ()
) -> Table:
    heads = [Column(name, numbers=name in numbers) for name in columns]
    return Table(title, heads, [TableRow("ours", row) for row in dict.fromkeys(map(tuple, rows))])


def _entrants(results: Results) -> Table:
    rows = [
        (name, _spec(spec), f"blind control of {plan.controls[name]}" if name in plan.controls else "")
        for plan in results.plans.values()
        for name, spec in plan.entrants.items()
    ]
    return _texts("Entrants", ("entrant", "spec", "remark"), rows)


def _tasks(results: Results) -> Iterator[Table]:
    """One table for each suite: games with their versions, seats, numbers of episodes and seeds."""
    columns = ("task", "game", "version", "other seats", "episodes", "seeds", "retries", "fallback")
    by_suite: dict[str, list[tuple[str, ...]]] = {}
    for plan in results.plans.values():
        by_suite.setdefault(plan.suite, []).extend(_task_rows(plan))
    for name, rows in by_suite.items():
        title = f"Tasks of {parse_spec(name).name}: games and seeds"
        yield _texts(title, columns, rows, ("version", "episodes", "retries"))


def _task_rows(plan: Plan) -> Iterator[tuple[str, ...]]:
    for name, task in plan.tasks_by_name.items():
        snapshot = plan.task_snapshot.get(name, {})
        version = str(snapshot.get("version", "")) if isinstance(snapshot, dict) else ""
        places = plan.places(task)
        first, last = (plan.seed + task.placed(index)[0] for index in (0, places - 1))
        seeds = f"{first:,}" if first == last else f"{first:,} to {last:,}"
        players = ", ".join(_spec(spec) for spec in task.opponents) or MODEL.lower()
        count, config = f"{plan.count(task):,}", task.config
        yield name, task.game, version, players, count, seeds, str(config.retries), config.fallback


def _settings(results: Results) -> Table:
    columns = ("run", "suite", "theme", "size", "samples", "seed offset", "retries of void episodes")
    rows = [
        (
            folder.name, parse_spec(plan.suite).name, plan.theme, str(plan.size), str(plan.samples),
            f"{plan.seed:,}", str(plan.void_retries),
        )
        for folder, plan in results.plans.items()
    ]  # fmt: skip
    return _texts("Settings of the runs", columns, rows, columns[3:])


def _versions(results: Results) -> Table:
    packages_of = [(folder.name, plan.made_with) for folder, plan in results.plans.items()]
    packages_of.append(("this document", versions()))
    packages = list(dict.fromkeys(name for _, one in packages_of for name in one))
    rows = [(run, *(made_with.get(name, "") for name in packages)) for run, made_with in packages_of]
    return _texts("Versions", ("run", *packages), rows)


def _verified(folder: Path) -> str:
    """Whether a run was verified; without the command, which names a folder of this machine."""
    return verification_text(folder).partition(": run `")[0].rstrip(".;") + "."


KEY = "ludens"
YEAR = 2026
SUBTITLE = "Vision-Language Models, Bots and People at Multi-Agent Visual Games"
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),", re.MULTILINE)


def own_entry() -> str:
    """The entry of Ludens, with the version that is installed."""
    fields = {
        "title": f"{{Ludens}} {versions()['ludens']}: {SUBTITLE}",
        "author": "{The Ludens authors}",
        "year": str(YEAR),
    }
    return "\n".join(
        [f"@misc{{{KEY},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}", ""]
    )


def entries_of(suite: Suite) -> str:
    """The entries of a suite's publications; empty if it has none."""
    return suite.paper.read_text("utf-8") if suite.paper is not None else ""


def keys_of(suite: Suite) -> list[str]:
    return _ENTRY.findall(entries_of(suite))


def bibliography(results: Results) -> str:
    entries = dict.fromkeys(entry for one in results.suites if (entry := entries_of(one.suite)))
    return "\n".join([own_entry(), *entries])


def as_json(data: Any) -> bytes:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def table_data(table: Table) -> dict[str, Any]:
    """A table as plain values; numbers are texts in their final form."""
    return {
        "title": one_line(table.title),
        "columns": [asdict(column) for column in table.columns],
        "rows": [
            {"kind": row.kind, "entries": [_entry(entry) for entry in row.entries]} for row in table.rows
        ],
        "notes": [one_line(note) for note in table.notes],
        "warnings": [one_line(warning) for warning in table.warnings],
        "legend": " ".join(map(one_line, table.legend)),
    }


def _entry(entry: Entry) -> dict[str, str]:
    if isinstance(entry, Value):
        return {"text": entry.number, "interval": entry.interval}
    return {"text": one_line(entry), "interval": ""}


def fitted(table: Table) -> list[Table]:
    """The table in parts no wider than a page: tasks become rows where that is enough, else it is divided."""
    names = next((place for place, column in enumerate(table.columns) if column.numbers), 1)
    numbers = range(names, len(table.columns))
    if len(numbers) <= MOST_COLUMNS:
        return [table]
    if names == 1 and len(table.rows) <= MOST_COLUMNS:
        return [_transposed(table)]
    wide = -(-len(numbers) // -(-len(numbers) // MOST_COLUMNS))
    starts = range(0, len(numbers), wide)
    return notes_below_last([select(table, range(names), numbers[at : at + wide]) for at in starts])


def _transposed(table: Table) -> Table:
    first, *rest = table.columns
    columns = [Column(first.name, numbers=False), *(Column(str(row.entries[0])) for row in table.rows)]
    rows = [
        TableRow("ours", [f"{column.name}, {column.unit}" if column.unit else column.name, *entries])
        for column, entries in zip(
            rest, zip(*(row.entries[1:] for row in table.rows), strict=True), strict=True
        )
    ]
    return replace(table, columns=[replace(columns[0], name="task"), *columns[1:]], rows=rows)


def chart_data(chart: BarChart) -> dict[str, Any]:
    """A chart as plain values; what is not a finite number is null."""
    return {
        "title": one_line(chart.title),
        "low": chart.low,
        "high": chart.high,
        "ticks": chart.ticks,
        "bars": [_bar(bar) for bar in _few(chart)],
        "lines": [{"value": line.value, "style": line.style} for line in chart.lines],
    }


def _bar(bar: Bar) -> dict[str, Any]:
    label = shorten(one_line(bar.short or bar.label), LABEL)
    span = {"low": bar.low, "high": bar.high} if bar.interval else {"low": None, "high": None}
    return {"label": label, "value": bar.value, "text": bar.text, "kind": bar.kind, **span}


def _few(chart: BarChart) -> list[Bar]:
    """All bars of ours and the best published ones."""
    sign = 1 if chart.title.endswith("lower is better") else -1
    published = [bar for bar in chart.bars if bar.kind == "published"]
    best = sorted(published, key=lambda bar: sign * bar.value)[:PUBLISHED_RINGS]
    return [bar for bar in chart.bars if bar not in published or bar in best]


def compile_pdf(document: Path, pdf: Path) -> int:
    """Compile a Typst document into a PDF; returns the number of pages.

    Only files in the folder of the document are read, and fonts of the machine are not used.

    Raises:
        MissingExtra: Typst is not installed.
    """
    try:
        import typst
    except ImportError:
        raise MissingExtra("making the PDF", "paper") from None
    # Without a time the same source gives the same PDF.
    typst.compile(
        str(document),
        output=str(pdf),
        root=str(document.parent),
        font_paths=[str(FONTS)],
        ignore_system_fonts=True,
        timestamp=0,
    )
    return count_pages(pdf)


def count_pages(pdf: Path) -> int:
    """The pages of a PDF that Typst has written."""
    counts = re.findall(rb"/Type ?/Pages ?/Count (\d+)", pdf.read_bytes())
    return max(map(int, counts), default=0)
