"""The contents of the fields of tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from ludens.run.stats import Estimate

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Source:
    """The episodes behind a number: of one entrant, on one task; of all where empty."""

    entrant: str = ""
    task: str = ""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its interval, in the unit the table shows."""

    estimate: Estimate
    digits: int = 1
    signed: bool = False
    published: bool = False
    """Published numbers have no interval."""
    source: Source | None = None
    """Whose episodes it was computed from."""

    @property
    def known(self) -> bool:
        """Whether the number is known."""
        return not isnan(self.estimate.mean)

    @property
    def point(self) -> bool:
        """Whether all observations were equal, so that their spread is unknown."""
        return not self.published and self.estimate.n > 0 and self.estimate.low == self.estimate.high

    @property
    def number(self) -> str:
        """The mean."""
        return self._text(self.estimate.mean, self.signed)

    @property
    def interval(self) -> str:
        """The interval; empty if there is none."""
        if self.published or not self.known:
            return ""
        if isnan(self.estimate.low):
            return f"[n = {self.estimate.n}]"
        if self.point:
            return f"[{self.estimate.n} equal]"
        low, high = self._text(self.estimate.low, self.signed), self._text(self.estimate.high, self.signed)
        return f"[{low}, {high}]"

    def __str__(self) -> str:
        return f"{self.number} {self.interval}".rstrip()

    def _text(self, number: float, signed: bool) -> str:
        if isnan(number):
            return NOTHING
        if number in (float("inf"), float("-inf")):
            return "∞" if number > 0 else "-∞"
        text = f"{number:+.{self.digits}f}" if signed else f"{number:.{self.digits}f}"
        return text.lstrip("+-") if not float(text) else text


Entry = str | Value
"""The contents of one field of a table."""
