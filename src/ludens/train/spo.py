"""Iterative-SPO: alternate between two stages by how well the decision is made (Vision-Zero, eqs. 7-10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ludens.core.errors import BadFile
from ludens.core.options import option
from ludens.games.spy.game import CLUE, DECISION
from ludens.train.section import Section


@dataclass(frozen=True)
class SwitchOptions(Section, name="switch"):
    """When to switch. The defaults are the paper's."""

    first: str = option(DECISION, choices=(CLUE, DECISION), help="stage in which training starts")
    rho: float = option(0.95, low=0, high=1, help="weight of the past in the moving averages")
    accuracy: float = option(
        0.9, low=0, high=1, help="decision -> clue: at least this share of games decided right"
    )
    low_na: float = option(0.1, low=0, high=1, help="decision -> clue: at most this share of n/a votes")
    error: float = option(
        0.4, low=0, high=1, help="clue -> decision: at least this share of games decided wrong"
    )
    high_na: float = option(0.5, low=0, high=1, help="clue -> decision: at least this share of n/a votes")
    k_min: int = option(5, low=0, help="fewest iterations in a stage")
    patience: int = option(20, low=0, help="iterations after which a switch is forced; 0 for never")
    from_first: bool = option(False, help="start the moving averages at the first value instead of 0")
    relative: bool = option(
        False, help="measure accuracy from the base rate (before training) upwards: 0 there, 1 at perfect"
    )


@dataclass
class Switch:
    """The state of the alternation. `update` is called once per iteration, after training."""

    options: SwitchOptions
    stage: str = ""
    iterations: int = 0
    """In this stage."""
    accuracy: float = 0.0
    """Moving average."""
    na: float = 0.0
    """Moving average."""
    base: float | None = None
    """The accuracy before training."""

    def __post_init__(self) -> None:
        self.stage = self.stage or self.options.first

    def start(self, accuracy: float, na: float) -> None:
        """Take in the statistics of the untrained policy: the base rate."""
        self.base = accuracy
        if self.options.from_first:
            self.accuracy, self.na = accuracy, na

    def update(self, accuracy: float, na: float) -> bool:
        """Take in the statistics of held-out games of this iteration; returns whether the stage changed."""
        options = self.options
        self.accuracy = options.rho * self.accuracy + (1 - options.rho) * accuracy
        self.na = options.rho * self.na + (1 - options.rho) * na
        self.iterations += 1
        if not self._due():
            return False
        self.stage = CLUE if self.stage == DECISION else DECISION
        self.iterations = 0
        return True

    def _due(self) -> bool:
        options = self.options
        if options.patience and self.iterations >= options.patience:
            return True
        if self.iterations < options.k_min:
            return False
        if self.stage == DECISION:
            return self.level >= options.accuracy and self.na <= options.low_na
        return 1 - self.level >= options.error or self.na >= options.high_na

    @property
    def level(self) -> float:
        """What is compared with the thresholds."""
        if not self.options.relative or self.base is None or self.base == 1:
            return self.accuracy
        return (self.accuracy - self.base) / (1 - self.base)

    def state(self) -> dict[str, Any]:
        """For checkpoints."""
        return {
            "stage": self.stage,
            "iterations": self.iterations,
            "accuracy": self.accuracy,
            "na": self.na,
            "base": self.base,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """The reverse of `state`."""
        if set(state) != set(self.state()) or state["stage"] not in (CLUE, DECISION):
            raise BadFile("the checkpoint's switching state is not valid.")
        for name, value in state.items():
            setattr(self, name, value)


def decision_statistics(games: Sequence[tuple[Sequence[str | None], str]]) -> tuple[float, float]:
    """Accuracy and n/a rate over games (equation 7), each given as its votes and the spy's seat.

    A vote is a seat, or None for n/a. A game is decided right where the spy alone is the most frequent vote,
    n/a counted as a vote of its own: ties and mostly n/a are wrong.
    """
    if not games:
        raise ValueError("no games")
    right, na = [], []
    for votes, spy in games:
        counts = Counter(votes).most_common(2)
        alone = len(counts) < 2 or counts[0][1] > counts[1][1]
        right.append(1.0 if counts and counts[0][0] == spy and alone else 0.0)
        na.append(fmean(vote is None for vote in votes) if votes else 0.0)
    return fmean(right), fmean(na)
