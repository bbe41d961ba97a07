"""The rows of a leaderboard: one for each model and its settings, over all packs that have it.

Rows are named by specs and not by the names that submitters chose. Packs of one model and settings are
pooled: a second submission adds its episodes to the first and replaces nothing. Episodes of one seed count as
one observation, so that playing it more often makes no interval narrower than it should be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import Literal

from ludens.core.options import options_of
from ludens.core.spec import Spec, parse_spec
from ludens.models.settings import NetworkSettings, PromptOptions, is_model
from ludens.run.cells import Cell
from ludens.run.comparisons import Place
from ludens.run.report.references import ReferenceScores
from ludens.run.report.table import NOTHING, TRAINED, Entry, Value
from ludens.run.report.tables import MetricColumn, metric_columns, quoted_value
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import Estimate, normalised
from ludens.run.task import OVERALL, Group, Metric, Observation, Published, Suite

Kind = Literal["model", "blind", "bot", "person", "reference", "published"]
KINDS: dict[Kind, str] = {
    "model": "models",
    "blind": "blind controls",
    "bot": "bots",
    "person": "people",
    "reference": "reference scores",
    "published": "published rows",
}
"""Kinds of rows, and what a filter calls them."""
_UNIMPORTANT = {*options_of(NetworkSettings)} - {*NetworkSettings.IDENTITY} | {"key_env"}
"""Options of models that do not affect answers."""


def public_spec(spec: str) -> Spec:
    """A player without its address and what does not affect its replies: equal ones share a row."""
    parsed = parse_spec(spec)
    dropped = _UNIMPORTANT if is_model(parsed) else frozenset[str]()
    options = {name: value for name, value in sorted(parsed.options.items()) if name not in dropped}
    return Spec(parsed.name, None, options)


@dataclass(frozen=True)
class BoardEntry:
    """One player with its settings on one suite."""

    suite: Suite
    spec: Spec
    rows: tuple[Row, ...]
    """Its results, of one or several packs."""

    @property
    def id(self) -> str:
        """A name for its page that no submitter can choose."""
        identity = [self.suite.name, str(self.spec), self.settings]
        return sha256("\n".join(identity).encode()).hexdigest()[:16]

    @property
    def kind(self) -> Kind:
        if self.rows[0].blind:
            return "blind"
        if is_model(self.spec):
            return "model"
        return "person" if self.spec.name == "human" else "bot"

    @property
    def name(self) -> str:
        return self.spec.name + (TRAINED if any(row.trained for row in self.rows) else "")

    @property
    def settings(self) -> str:
        """Options, players of other seats, and how pictures were drawn, where that is not the suite's."""
        row = self.rows[0]
        options = [
            name if value == "true" and name in options_of(PromptOptions) else f"{name} {value}"
            for name, value in self.spec.options.items()
        ]
        seats = [f"{seat}: {public_spec(spec)}" for seat, spec in row.seated.items()]
        theme, size, _ = row.render
        look = [f"theme {theme}"] * (theme != "classic") + [f"{size} px"] * (size != 512)
        return ", ".join((*options, *seats, *look))

    @cached_property
    def cells(self) -> Mapping[str, tuple[Cell, ...]]:
        """Task to its results, of one or several packs."""
        names = dict.fromkeys(name for row in self.rows for name in row.cells)
        cells = {name: tuple(row.cells[name] for row in self.rows if name in row.cells) for name in names}
        return {name: own for name, own in cells.items() if any(cell.episodes for cell in own)}

    @property
    def folders(self) -> list[Path]:
        """The runs that it is in."""
        return list(dict.fromkeys(folder for row in self.rows for folder in row.folders))

    @property
    def episodes(self) -> int:
        if self.kind == "bot":
            return sum(
                len({place for cell in cells for place in cell.episodes}) for cells in self.cells.values()
            )
        return sum(len(cell.episodes) for cells in self.cells.values() for cell in cells)

    def estimate(self, task: str, metric: Metric) -> Estimate | None:
        """A metric over all packs, in the unit that tables show; None if it did not play the task."""
        cells = self.cells.get(task, ())
        if len(cells) < 2:
            return cells[0].table_estimate(metric) if cells else None
        over = metric.over(list(self._observations(cells, metric)))
        anchors = self.suite.anchors.get(task)
        if anchors and metric.name == cells[0].task.metrics[0].name:
            return normalised(over, *anchors, metric.limits)
        return metric.in_table_units(over)

    def _observations(self, cells: Sequence[Cell], metric: Metric) -> Iterator[Observation]:
        """Group and value of each episode; a bot plays a seed in one way, which counts once."""
        places = set[Place]()
        for cell in cells:
            values = cell.values(metric)
            groups: Sequence[Group] = cell.episodes.seeds() if metric.twins else cell.episodes.groups()
            for place, group in zip(cell.episodes, groups, strict=True):
                if place in values and not (self.kind == "bot" and place in places):
                    yield group, values[place]
            places.update(cell.episodes)

    @property
    def overall(self) -> Estimate | None:
        if len(self.rows) == 1:
            return self.rows[0].overall
        summary = next((one for one in self.suite.summaries if one.name == OVERALL), None)
        if summary is None:
            return None
        estimates = {
            name: estimate
            for name, cells in self.cells.items()
            if (estimate := self.estimate(name, summary.metric or cells[0].task.metrics[0])) is not None
        }
        return summary.of(estimates, self.suite)

    @property
    def sight(self) -> str:
        """On how many tasks it is significantly better with pictures than its blind control."""
        if self.kind in ("blind", "bot", "person"):
            return NOTHING
        verdicts = [
            all(controls)
            for cells in self.cells.values()
            if (controls := [cell.blind.sees for cell in cells if cell.blind is not None])
        ]
        return f"{sum(verdicts)} of {len(verdicts)}" if verdicts else "no control"

    def sentences(self) -> Iterator[str]:
        """What its blind control showed, task by task."""
        for name, cells in self.cells.items():
            yield from (f"{name}: {cell.blind.sentence}" for cell in cells if cell.blind is not None)


@dataclass(frozen=True)
class BoardRow:
    """A line of the main table."""

    kind: Kind
    name: str
    detail: str
    values: Sequence[Entry]
    """One for each column of the section."""
    page: str = ""
    """Where its details are; empty for rows that no pack has."""
    part: bool = False
    """Whether none of its packs plays the whole suite on its own seeds."""

    @property
    def words(self) -> str:
        """What a search looks at."""
        part = "part of the suite" if self.part else ""
        return " ".join((self.name, self.detail, self.kind, KINDS[self.kind], part)).lower()

    @property
    def numbers(self) -> list[str]:
        """What columns are sorted by; empty where a number is unknown."""
        means = (
            value.estimate.mean if isinstance(value, Value) and value.is_known else None
            for value in self.values
        )
        return ["" if number is None else f"{number:.6g}" for number in means]


@dataclass(frozen=True)
class BoardSection:
    """A suite on the board."""

    results: SuiteResults
    entries: tuple[BoardEntry, ...]

    @property
    def columns(self) -> list[MetricColumn]:
        return metric_columns(self.results)

    @property
    def has_overall(self) -> bool:
        return any(summary.name == OVERALL for summary in self.results.suite.summaries)

    def rows(self, submitters: Mapping[str, str], parts: Collection[str] = ()) -> list[BoardRow]:
        """Entries, the best first; then reference scores and published rows.

        Args:
            submitters: Who submitted an entry, by its id.
            parts: The ids of entries that no pack has on the whole suite.
        """
        references = ReferenceScores(self.results)
        entries = [
            replace(self._row(entry, references, submitters.get(entry.id, "")), part=entry.id in parts)
            for entry in self.entries
        ]
        entries.sort(key=self._rank)
        return [*entries, *self._references(references), *map(self._published, self._quoted())]

    def _rank(self, row: BoardRow) -> tuple[bool, float, str]:
        """By the overall score, or by the first task."""
        place = len(self.columns) if self.has_overall else 0
        text = row.numbers[place]
        up = 1.0 if self.has_overall or self.columns[0].metric.higher_is_better else -1.0
        return not text, -up * float(text or 0), row.name

    def _row(self, entry: BoardEntry, references: ReferenceScores, submitter: str) -> BoardRow:
        values: list[Entry] = []
        for column in self.columns:
            estimate = entry.estimate(column.task.name, column.metric)
            marked = estimate is not None and all(
                references.marked(row, row.cells[column.task.name], column.metric)
                for row in entry.rows
                if column.task.name in row.cells
            )
            values.append(NOTHING if estimate is None else Value(estimate, column.digits, marked=marked))
        values += [_value(entry.overall)] if self.has_overall else []
        values += [entry.sight, f"{entry.episodes:,}", submitter]
        return BoardRow(entry.kind, entry.name, entry.settings, values, f"entries/{entry.id}.html")

    def _references(self, references: ReferenceScores) -> Iterator[BoardRow]:
        for name in references.rows:
            scores = [references.table_estimate(name, column.task, column.metric) for column in self.columns]
            values: list[Entry] = [
                NOTHING if score is None else Value(score, column.digits)
                for score, column in zip(scores, self.columns, strict=True)
            ]
            if any(value != NOTHING for value in values):
                values += [_value(references.summaries(name).get(OVERALL))] if self.has_overall else []
                yield BoardRow("reference", name, "", [*values, *[NOTHING] * 3])

    def _quoted(self) -> Iterator[Published]:
        names = {column.task.name for column in self.columns}
        return (source for source in self.results.published if names & source.values.keys())

    def _published(self, source: Published) -> BoardRow:
        values = [quoted_value(column.published(source), column.digits) for column in self.columns]
        values += [quoted_value(source.values.get(OVERALL))] if self.has_overall else []
        return BoardRow("published", source.model, source.source, [*values, *[NOTHING] * 3])


def _value(estimate: Estimate | None) -> Entry:
    return NOTHING if estimate is None or isnan(estimate.mean) else Value(estimate)


def section_of(results: SuiteResults) -> BoardSection:
    """The results of all packs of a suite, with one entry for each player and its settings."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in results.rows:
        seated = tuple(sorted((seat, str(public_spec(spec))) for seat, spec in row.seated.items()))
        groups.setdefault((str(public_spec(row.spec)), seated, row.render), []).append(row)
    entries = (BoardEntry(results.suite, public_spec(rows[0].spec), tuple(rows)) for rows in groups.values())
    return BoardSection(results, tuple(entry for entry in entries if entry.cells))
