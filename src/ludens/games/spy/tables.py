"""What a chart shows in numbers, and what can be said about it: which values are higher or lower than others.

The clues are the same for all charts with the same labels, so that one chart can be asked whether what was
said about another is true of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any, Self

from ludens.core.errors import BadFile
from ludens.core.validation import Invalid, read_value

READABLE = 0.1
"""Values that are compared differ by at least this share of the largest value; in a pie, of a third of the
whole."""


@dataclass(frozen=True)
class ChartData:
    """What one chart shows."""

    kind: str
    title: str
    unit: str
    labels: tuple[str, ...]
    values: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"labels": list(self.labels), "values": list(self.values)}

    @classmethod
    def from_json(cls, data: object) -> Self:
        try:
            return read_value(cls, data)
        except Invalid as error:
            raise BadFile(f"a chart of a picture set is not valid {error}.") from None

    def swapped(self, a: int, b: int) -> ChartData:
        values = list(self.values)
        values[a], values[b] = values[b], values[a]
        return ChartData(self.kind, self.title, self.unit, self.labels, tuple(values))

    def share(self, part: float) -> float:
        """A share of the largest value; in a pie, of a third of the whole."""
        return part * (sum(self.values) / 3 if self.kind == "pie" else max(self.values))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """One value is higher than others, or lower."""

    one: int
    others: tuple[int, ...]
    higher: bool

    def holds(self, chart: ChartData) -> bool | None:
        """None where the chart does not show it clearly."""
        least, sign = chart.share(READABLE), 1 if self.higher else -1
        leads = [sign * (chart.values[self.one] - chart.values[other]) for other in self.others]
        return True if min(leads) >= least else False if min(leads) <= -least else None


@lru_cache(maxsize=256)
def _comparisons(labels: tuple[str, ...]) -> Mapping[str, _Comparison]:
    return dict(_told(labels))


def _told(labels: tuple[str, ...]) -> Iterator[tuple[str, _Comparison]]:
    places = range(len(labels))
    for word, extreme, higher in (("higher", "highest", True), ("lower", "lowest", False)):
        for one, other in permutations(places, 2):
            words = f"The value of {labels[one]} is {word} than the value of {labels[other]}"
            yield words, _Comparison(one, (other,), higher)
        for one in places:
            others = tuple(place for place in places if place != one)
            yield f"{labels[one]} has the {extreme} value of all", _Comparison(one, others, higher)


def chart_clues(chart: ChartData) -> list[str]:
    """What can be said about a chart."""
    told = _comparisons(chart.labels)
    return [clue for clue, comparison in told.items() if comparison.holds(chart)]


def check_chart(clue: str, chart: ChartData) -> bool | None:
    """Whether a clue is true of a chart; None where it cannot be decided."""
    comparison = _comparisons(chart.labels).get(clue)
    return None if comparison is None else comparison.holds(chart)
