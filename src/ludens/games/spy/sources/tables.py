"""Invented but plausible tables for charts: a title, a unit, labels, and values of a usual magnitude."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ludens.core.random import Stream

KINDS = ("bar", "line", "pie")
VISIBLE = 0.22
"""Swapped values differ by at least this share of the largest value; in a pie, of a third of the whole."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_YEARS = tuple(str(year) for year in range(2012, 2025))
_COUNTRIES = ("Brazil", "Canada", "Chile", "Egypt", "France", "Ghana", "India", "Italy", "Japan", "Kenya",
              "Mexico", "Norway", "Peru", "Poland", "Spain", "Turkey", "Vietnam")  # fmt: skip
_CITIES = ("Bergen", "Cairo", "Dublin", "Hanoi", "Lagos", "Lima", "Lyon", "Osaka", "Porto", "Quito", "Seoul",
           "Turin", "Utrecht")  # fmt: skip


@dataclass(frozen=True)
class _Topic:
    title: str
    unit: str
    labels: Sequence[str]
    low: float
    high: float
    digits: int = 0
    kinds: tuple[str, ...] = ("bar",)
    ordered: bool = False
    """Whether the labels are consecutive points in time."""


_TOPICS = (
    _Topic("Average rainfall", "mm", _MONTHS, 8, 160, 0, ("bar", "line"), True),
    _Topic("Mean temperature", "°C", _MONTHS, 2, 31, 1, ("bar", "line"), True),
    _Topic("Visitors to the museum", "thousand", _MONTHS, 12, 95, 0, ("bar", "line"), True),
    _Topic("Electricity price", "cent per kWh", _YEARS, 12, 42, 1, ("bar", "line"), True),
    _Topic("Library loans", "thousand", _YEARS, 110, 640, 0, ("bar", "line"), True),
    _Topic("Bicycles sold", "units", _YEARS, 900, 7200, 0, ("bar", "line"), True),
    _Topic("Coffee per person", "kg per year", _COUNTRIES, 0.8, 9.9, 1),
    _Topic("Forest area", "% of land", _COUNTRIES, 8, 72),
    _Topic("Internet users", "% of people", _COUNTRIES, 28, 98),
    _Topic("Monthly rent", "euro", _CITIES, 340, 1650),
    _Topic("Days with fog", "days per year", _CITIES, 5, 88),
    _Topic("Commuting time", "minutes", _CITIES, 18, 71),
    _Topic("Crops of a farm", "hectares", ("Wheat", "Maize", "Barley", "Potatoes", "Beets", "Oats"), 6, 60, 0,
           ("bar", "pie")),
    _Topic("Household spending", "euro a month", ("Rent", "Food", "Travel", "Clothes", "Health", "Savings"),
           80, 900, 0, ("bar", "pie")),
    _Topic("How pupils come to school", "pupils", ("Bus", "Walking", "Bicycle", "Car", "Train"), 18, 240, 0,
           ("bar", "pie")),
    _Topic("Sources of electricity", "TWh", ("Wind", "Solar", "Hydro", "Gas", "Nuclear", "Coal"), 9, 130, 0,
           ("bar", "pie")),
    _Topic("Books sold by genre", "thousand", ("Crime", "Romance", "Science", "Travel", "Children", "Poetry"),
           4, 88, 0, ("bar", "pie")),
    _Topic("Ice cream flavours sold", "scoops", ("Vanilla", "Lemon", "Mango", "Cherry", "Hazelnut"), 60, 880,
           0, ("bar", "pie")),
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """What one chart shows."""

    kind: str
    title: str
    unit: str
    labels: tuple[str, ...]
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"labels": list(self.labels), "values": list(self.values)}

    def swapped(self, a: int, b: int) -> Table:
        """The table with two values exchanged."""
        values = list(self.values)
        values[a], values[b] = values[b], values[a]
        return Table(self.kind, self.title, self.unit, self.labels, tuple(values))


def make_table(random: Stream, kind: str) -> Table:
    """A random table for a kind of chart; all its values differ."""
    topic = random.choice([topic for topic in _TOPICS if kind in topic.kinds])
    most = len(topic.labels)
    count = random.between(*{"bar": (4, 8), "line": (6, 12), "pie": (4, 6)}[kind])
    count = min(count, most)
    if topic.ordered:
        start = random.below(most - count + 1)
        labels = list(topic.labels[start : start + count])
    else:
        labels = random.sample(topic.labels, count)
    values: list[float] = []
    level = random.random()
    while len(values) < count:
        level = _next(level, random) if topic.ordered else random.random()
        value = round(topic.low + (topic.high - topic.low) * level, topic.digits)
        if value not in values:
            values.append(value if topic.digits else int(value))
    return Table(kind, topic.title, topic.unit, tuple(labels), tuple(values))


def _next(level: float, random: Stream) -> float:
    """The next value of a series that changes slowly and stays between 0 and 1."""
    moved = level + 0.5 * (random.random() - 0.5)
    return min(max(moved, -moved), 2 - moved)


def visible_swaps(table: Table) -> list[tuple[int, int]]:
    """The pairs of values whose exchange can be seen."""
    values = table.values
    least = VISIBLE * (sum(values) / 3 if table.kind == "pie" else max(values))
    places = range(len(values))
    return [(a, b) for b in places for a in range(b) if abs(values[a] - values[b]) >= least]
