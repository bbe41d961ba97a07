"""Tables and charts of suites in which entrants meet each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any, ClassVar

from ludens.core.spec import parse_spec
from ludens.run.arena.reflect import with_notes
from ludens.run.arena.standings import CrossPlay, RatingColumn, Standings, standings_of
from ludens.run.comparisons import compare
from ludens.run.plan import is_blind
from ludens.run.report.charts import COLORS, Bar, BarChart, CurveChart, CurveLine, curve_line
from ludens.run.report.table import NOTHING, Column, Entry, RowKind, Source, Table, TableRow, Value
from ludens.run.report.tables import percent, raw, replies
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import UNKNOWN, Estimate
from ludens.run.task import OVERALL

STEP = "step "
"""Entrants of this name and a number are checkpoints of one training run."""


def arena_tables(results: SuiteResults) -> list[Table]:
    """All tables: ratings first."""
    standings = standings_of(results)
    tables = [*headline_tables(results), seats(standings), *(cross_play(one) for one in standings.cross_play)]
    tables += [head_to_head(standings), upsets(standings), replies(results)]
    return [table for table in tables if table is not None]


def headline_tables(results: SuiteResults) -> list[Table]:
    """The tables that come first: ratings and what sight is worth, or returns if no task is competitive."""
    standings = standings_of(results)
    tables = [ratings(standings), sight(standings)]
    if not standings.columns:
        tables += [cross_play(one) for one in standings.cross_play]
    return [table for table in tables if table is not None]


def _kind(standings: Standings, name: str) -> RowKind:
    return "blind" if is_blind(standings.specs[name]) else "ours"


def ratings(standings: Standings) -> Table | None:
    """Entrants x games: rating points."""
    if not standings.columns:
        return None
    columns = [Column("entrant", numbers=False), *(Column(c.title, "Elo") for c in standings.columns)]
    columns.append(Column("seeds"))
    rows = []
    for name in standings.order:
        estimates = [standings.ratings(column).rating(name) for column in standings.columns]
        most = max((estimate.n for estimate in estimates), default=0)
        entries: list[Entry] = [name, *map(_rating, estimates), str(most)]
        if most:
            rows.append(TableRow(_kind(standings, name), entries))
    return Table(
        "Ratings", columns, rows, list(_notes(standings)), standings.warnings, list(_legend(standings))
    )


def _rating(estimate: Estimate) -> Entry:
    if not estimate.n:
        return NOTHING
    return Value(estimate, 0) if estimate.standard_error else "0"


def _notes(standings: Standings) -> Iterator[str]:
    for column in standings.columns:
        for cycle in standings.cycles(column):
            a, b, c = cycle.names
            first, second, third = (f"{100 * score:.0f}%" for score in cycle.scores)
            yield (
                f"{column.title}: not transitive: {a} beats {b} ({first}), {b} beats {c} ({second}), "
                f"{c} beats {a} ({third}); p = {cycle.p_value:.3f} after Holm."
            )
    unfinished = [
        f"{row.name}, {name} ({len(cell.episodes)} of {cell.planned})"
        for row, name, cell in standings.results.cells()
        if len(cell.episodes) < cell.planned
    ]
    if unfinished:
        more = f" and {len(unfinished) - 3} more" if len(unfinished) > 3 else ""
        yield f"Not all games were played: {'; '.join(unfinished[:3])}{more}."
    yield from standings.results.cautions


def _legend(standings: Standings) -> Iterator[str]:
    zero = standings.anchor or "the weakest entrant"
    yield (
        f"Bradley-Terry ratings with draws and seat advantages, in Elo points relative to {zero}; brackets "
        "contain 95% intervals from a bootstrap over seeds."
    )
    yield "400 points are odds of 10 to 1. (blind): the same model with blank pictures."
    if any(not task.config.listed for task in standings.results.tasks.values()):
        yield "unlisted: players are not shown the legal moves."
    if any("notes=" in spec for spec in standings.specs.values()):
        yield "(notes N): prompts have notes that the model wrote after N rounds of practice (--reflect)."


def sight(standings: Standings) -> Table | None:
    """Models x games: rating points above the blind control."""
    if not (standings.columns and standings.controls):
        return None
    columns = [Column("entrant", numbers=False), *(Column(c.title, "Elo") for c in standings.columns)]
    rows = [
        TableRow(
            _kind(standings, name),
            [name, *(_gain(standings.sight(column)[name]) for column in standings.columns)],
        )
        for name in standings.order
        if name in standings.controls
    ]
    notes = ["Rating points of a model above the same model with blank pictures."]
    return Table("What sight is worth", columns, rows, notes)


def _gain(estimate: Estimate) -> Entry:
    return Value(estimate, 0, signed=True) if estimate.n else NOTHING


def seats(standings: Standings) -> Table | None:
    """What the seats of the first side are worth."""
    rows = []
    for column in standings.columns:
        if len(column.tasks) == 1:
            task = standings.results.tasks[column.tasks[0]]
            for (_, number), estimate in standings.ratings(column).advantages().items():
                own = [seat for seat, player in task.seatings[2 * number].items() if player == "MODEL"]
                rows.append(TableRow("ours", [task.name, " and ".join(own), _gain(estimate)]))
    columns = [*Column.texts("task", "seats"), Column("advantage", "Elo")]
    return Table("Seat advantages", columns, rows) if rows else None


def cross_play(one: CrossPlay) -> Table:
    """Entrants x partners: the return of the row's entrant."""
    columns = [Column("entrant", numbers=False), *(Column(f"with {name}") for name in one.names)]
    columns += [Column("self-play less cross-play"), Column("alpha-rank", "%")]
    rows = []
    for name in one.names:
        entries: list[Entry] = [name]
        entries += [
            Value(one.returns[pair], 2) if (pair := (name, b)) in one.returns else NOTHING for b in one.names
        ]
        alone, share = one.self_play.get(name), one.alpha_rank.get(name, nan)
        entries += [Value(alone, 2, signed=True) if alone else NOTHING, percent(share)]
        rows.append(TableRow("blind" if name.endswith("(blind)") else "ours", entries))
    motive = "one common return" if one.task.motive == "cooperative" else "each its own return"
    notes = [
        f"Mean returns ({motive}) of the row's entrant with the column's in the other seats.",
        "Self-play less cross-play: with itself less the mean with all others but blind controls, on shared "
        "seeds. Alpha-rank: share of the stationary distribution, of returns scaled to 0..1, alpha 100, "
        "without blind controls.",
    ]
    return Table(f"Cross-play: {one.task.name}", columns, rows, notes)


def head_to_head(standings: Standings) -> Table | None:
    """Matches x games: the score of the first."""
    scores = {column.title: standings.head_to_head(column) for column in standings.columns}
    pairs = dict.fromkeys(pair for some in scores.values() for pair in some)
    columns = Column.texts("first", "second")
    columns += [Column(column.title, "score of the first %") for column in standings.columns]
    rows = []
    for a, b in pairs:
        entries: list[Entry] = [a, b]
        for column in standings.columns:
            estimate = scores[column.title].get((a, b))
            task = column.tasks[0] if len(column.tasks) == 1 else ""
            source = Source(f"{a} vs {b}", task)
            entries.append(NOTHING if estimate is None else Value(estimate.scaled(100), 1, source=source))
        rows.append(
            TableRow("blind" if "blind" in (_kind(standings, a), _kind(standings, b)) else "ours", entries)
        )
    return Table("Head to head", columns, rows) if rows else None


def upsets(standings: Standings) -> Table | None:
    """Games that the weaker entrant won, least likely first."""
    columns = Column.texts("winner", "loser", "task", "episode")
    rows = [
        TableRow(
            "ours",
            [
                u.winner,
                u.loser,
                u.match.cell.task.name,
                u.match.key,
                percent(u.chance),
            ],
            Source(u.match.row.name, u.match.cell.task.name, str(u.match.place[0])),
        )
        for u in standings.upsets
    ]
    notes = ["`ludens replay RUN --key EPISODE` shows one."]
    return Table("Upsets to watch", [*columns, Column("chance", "%")], rows, notes) if rows else None


@dataclass(frozen=True)
class MatrixChart:
    """Entrants x entrants: a number in each field, darker the higher it is."""

    template: ClassVar = "matrix"
    left: ClassVar = 130
    top: ClassVar = 104
    side: ClassVar = 46

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float]]
    low: float
    high: float
    digits: int = 0

    @property
    def description(self) -> str:
        rows = (
            f"{name}: "
            + ", ".join(f"{other} {self.text(v)}" for other, v in zip(self.names, row, strict=True))
            for name, row in zip(self.names, self.values, strict=True)
        )
        return "; ".join(rows)

    @property
    def width(self) -> int:
        return self.left + self.side * len(self.names) + 70

    @property
    def height(self) -> int:
        return self.top + self.side * len(self.names) + 8

    def text(self, value: float) -> str:
        return f"{value:.{self.digits}f}" if isfinite(value) else NOTHING

    def share(self, value: float) -> float:
        return (
            (value - self.low) / (self.high - self.low) if isfinite(value) and self.high > self.low else 0.0
        )


def arena_charts(results: SuiteResults) -> list[Any]:
    """Ratings as bars, results of all pairs as heat maps, and the strength of checkpoints over training."""
    standings = standings_of(results)
    charts: list[Any] = [_bars(standings, column) for column in standings.columns]
    charts += filter(None, [_training(standings)])
    for column in standings.columns:
        scores = standings.head_to_head(column)
        pairs = {pair: 100 * score.mean for pair, score in scores.items()}
        pairs |= {(b, a): 100 - value for (a, b), value in pairs.items()}
        names = [name for name in standings.order if any(name in pair for pair in pairs)]
        values = [[pairs.get((a, b), nan) for b in names] for a in names]
        charts.append(
            MatrixChart(f"{column.title}: score % of the row against the column", names, values, 0, 100)
        )
    for one in standings.cross_play:
        values = [[one.returns.get((a, b), UNKNOWN).mean for b in one.names] for a in one.names]
        numbers = [value for row in values for value in row if isfinite(value)]
        title = f"{one.task.name}: return of the row with the column"
        charts.append(
            MatrixChart(title, one.names, values, min(numbers, default=0), max(numbers, default=1), 1)
        )
    return charts


def _bars(standings: Standings, column: RatingColumn) -> BarChart:
    bars = []
    for name in standings.order:
        estimate = standings.ratings(column).rating(name)
        if estimate.n:
            color = list(standings.specs).index(name) % COLORS
            text = Value(estimate, 0).mean
            low, high = estimate.low, estimate.high
            bars.append(Bar(name, estimate.mean, low, high, text, color, _kind(standings, name)))
    ends = [v for bar in bars for v in (bar.value, bar.low, bar.high, 0.0) if isfinite(v)]
    return BarChart(f"{column.title}: rating", bars, min(ends), max(max(ends), min(ends) + 1))


def _training(standings: Standings) -> CurveChart | None:
    """Ratings of checkpoints by their step."""
    steps = sorted(
        (int(name.removeprefix(STEP)), name)
        for name in standings.specs
        if name.startswith(STEP) and name.removeprefix(STEP).isdecimal()
    )
    if len(steps) < 2 or not standings.columns:
        return None
    lines = []
    for number, column in enumerate(standings.columns):
        ratings = standings.ratings(column)
        lines.append(curve_line(column.title, [ratings.rating(name) for _, name in steps], number % COLORS))
    return _curves("Rating over training", [step for step, _ in steps], lines)


def _curves(title: str, points: Sequence[int], lines: Sequence[CurveLine]) -> CurveChart:
    """Lines between the least and the greatest value, at least 0 to 1."""
    ends = [v for line in lines for v in (*line.values, *line.lows, *line.highs) if isfinite(v)]
    return CurveChart(title, [str(point) for point in points], lines, max([1.0, *ends]), min([0.0, *ends]))


def rating_rows(results: SuiteResults) -> Iterator[tuple[str, str, str, Estimate]]:
    """Entrant, games, metric and estimate: ratings and what sight is worth."""
    standings = standings_of(results)
    for column in standings.columns:
        task = column.tasks[0] if len(column.tasks) == 1 else f"{OVERALL}: {column.title}"
        for name in standings.order:
            if (estimate := standings.ratings(column).rating(name)).n:
                yield name, task, "rating", estimate
        for name, estimate in standings.sight(column).items():
            if estimate.n:
                yield name, task, "rating above blind", estimate


def arena_data(results: SuiteResults) -> dict[str, Any]:
    """Everything for the JSON report."""
    standings = standings_of(results)
    return {
        "anchor": standings.anchor,
        "entrants": standings.specs,
        "ratings": [
            {
                "games": column.title,
                "tasks": column.tasks,
                "entrants": {name: standings.ratings(column).rating(name) for name in standings.order},
                "above_blind": standings.sight(column),
                "seat_advantages": [
                    {"task": task, "seatings": [2 * number, 2 * number + 1], "advantage": estimate}
                    for (task, number), estimate in standings.ratings(column).advantages().items()
                ],
                "scores": [
                    {"first": a, "second": b, "score": score}
                    for (a, b), score in standings.head_to_head(column).items()
                ],
                "cycles": [cycle._asdict() for cycle in standings.cycles(column)],
                "parts": [sorted(part) for part in standings.ratings(column).parts],
            }
            for column in standings.columns
        ],
        "cross_play": [
            {
                "task": one.task.name,
                "returns": [{"entrant": a, "partner": b, "return": r} for (a, b), r in one.returns.items()],
                "self_play_less_cross_play": one.self_play,
                "alpha_rank": one.alpha_rank,
            }
            for one in standings.cross_play
        ],
        "upsets": [
            {
                "winner": upset.winner,
                "loser": upset.loser,
                "task": upset.match.cell.task.name,
                "key": upset.match.key,
                "chance": upset.chance,
            }
            for upset in standings.upsets
        ],
    }


def improvement(results: SuiteResults) -> Table | None:
    """Models with notes less the same models without, on shared seeds; None if no entrant has notes."""
    rows = []
    for row, number, base in _with_notes(results):
        for name, cell in row.cells.items():
            if (before := base.cells.get(name)) is None:
                continue
            for metric in cell.task.metrics[:1]:
                values = cell.paired_values(metric), before.paired_values(metric)
                clusters = {**before.episodes.clusters(), **cell.episodes.clusters()}
                pair = compare(metric, *values, len(cell.task.seatings), clusters)
                entries: list[Entry] = [base.name, str(number), name]
                entries += [raw(cell.metrics[metric.name], metric), raw(before.metrics[metric.name], metric)]
                entries += [raw(pair.difference, metric, signed=True), str(pair.difference.n)]
                rows.append(TableRow("ours", entries, Source(row.name, name)))
    columns = Column.texts("entrant", "after round", "task")
    columns += map(Column, ("with notes", "before practice", "difference", "seeds"))
    notes = [
        "Prompts contain notes that the model wrote after rounds of practice, on other seeds and pictures. "
        "Differences are paired on shared seeds."
    ]
    return Table("Improvement by notes", columns, rows, notes) if rows else None


def _with_notes(results: SuiteResults) -> Iterator[tuple[Row, int, Row]]:
    """Every row with notes, after which round they were written, and the row of the same model without."""
    bare = {row.spec: row for row in results.rows if "notes" not in parse_spec(row.spec).options}
    for row in results.rows:
        number = re.search(r"\(notes (\d+)\)", row.name)
        base = bare.get(with_notes(row.spec, ""))
        if number and base is not None and base is not row:
            yield row, int(number[1]), base


def improvement_charts(results: SuiteResults) -> list[CurveChart]:
    """The first metric of each task over rounds of practice."""
    versions = list(_with_notes(results))
    rounds = sorted({number for _, number, _ in versions})
    bases = list({base.name: base for _, _, base in versions}.values())
    charts = []
    for task in results.tasks.values() if rounds else ():
        lines = []
        for color, base in enumerate(bases):
            by_round = {0: base, **{number: row for row, number, own in versions if own is base}}
            cells = [by_round[n].cells.get(task.name) if n in by_round else None for n in (0, *rounds)]
            estimates = [cell.table_estimate() if cell else None for cell in cells]
            lines.append(curve_line(base.name, estimates, color % COLORS))
        title = f"{task.name}: {task.metrics[0].name} after rounds of practice"
        charts.append(_curves(title, (0, *rounds), lines))
    return charts
