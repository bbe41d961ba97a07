"""Results held against each other: a model against itself without pictures, one entrant against another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isnan
from typing import TYPE_CHECKING, Literal

from ludens.core.options import configure
from ludens.core.spec import parse_spec
from ludens.run.stats import Estimate, games_needed, indistinguishable, paired_difference
from ludens.run.task import Metric

if TYPE_CHECKING:
    from ludens.run.cells import Cell

SIGNIFICANT = 0.05
FEWEST_MOVED = 6
"""With fewer differences that are not 0, no sign-flip test falls below 5%: 2 / 2**5 = 6.25%."""

Verdict = Literal["a", "b", "open", "unpaired"]


@dataclass(frozen=True)
class Control:
    """What the same model does with blank pictures, and whether seeing made a difference."""

    name: str
    """Whose line of the table it is."""
    estimate: Estimate
    """Of the task's first metric."""
    sees: bool
    """Whether it does better with pictures, beyond chance. If not, the report warns."""
    sentence: str


@dataclass(frozen=True)
class Pair:
    """Two entrants on the seeds both have played; swapped seatings of one seed are one observation."""

    a: str
    b: str
    task: str
    metric: Metric
    difference: Estimate
    """Of a - b; `n` counts seeds."""
    p_value: float
    needed: int | None
    """Further episodes each must play to be told apart; 0 when they are; None when no number is known."""

    @property
    def verdict(self) -> Verdict:
        """Who is better, if anybody can be said to be."""
        if self.difference.n == 0:
            return "unpaired"
        if isnan(self.p_value) or self.p_value >= SIGNIFICANT:
            return "open"
        return "a" if (self.difference.mean > 0) == self.metric.higher_is_better else "b"


def is_blind(spec: str) -> bool:
    """Whether a spec asks for blank pictures."""
    from ludens.models.specs import PromptOptions

    parsed = parse_spec(spec)
    given = parsed.options.get("blind")
    return given is not None and configure(PromptOptions, {"blind": given}, parsed.name).blind


def control_key(spec: str) -> tuple[str, str | None, frozenset[tuple[str, str]]]:
    """What a model and its blind control have in common: all of the spec but `blind`."""
    parsed = parse_spec(spec)
    rest = frozenset((key, value) for key, value in parsed.options.items() if key != "blind")
    return parsed.name, parsed.address, rest


def blind_control(ours: Cell, blind: Cell, name: str) -> Control:
    """Hold a model against its blind control on the task's first metric."""
    metric = ours.task.metrics[0]
    theirs = blind.metrics[metric.name]
    seen, unseen = ours.values(metric), blind.values(metric)
    if seen and unseen and {*seen.values(), *unseen.values()} <= {0.0, 1.0}:
        unclear, sentence = indistinguishable(_answers(seen), _answers(unseen), metric.name)
    else:
        unclear, sentence = _means_alike(ours, blind, metric)
    gain = ours.metrics[metric.name].mean - theirs.mean
    better = gain > 0 if metric.higher_is_better else gain < 0
    return Control(name, theirs, better and not unclear, sentence)


def _answers(values: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], bool]:
    return {place: value == 1.0 for place, value in values.items()}


def _means_alike(ours: Cell, blind: Cell, metric: Metric) -> tuple[bool, str]:
    """The tripwire for numbers that are not right-or-wrong: paired where seeds are shared."""
    a, b = ours.metrics[metric.name], blind.metrics[metric.name]
    paired = compare(("", ours), ("", blind), metric)
    if paired.difference.n:
        unclear = paired.verdict == "open"
        p = paired.p_value
        how = f" on the {paired.difference.n} seeds both have played, " + (
            "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        )
    else:
        unclear, how = games_needed(a, b) != 0, ""
    scale, unit = (100, "%") if metric.percent else (1, "")
    seen, unseen = f"{scale * a.mean:.3g}{unit} with pictures", f"{scale * b.mean:.3g}{unit} blind"
    if unclear:
        return True, f"{metric.name} {seen} is not distinguishable from {unseen}{how}."
    side = "above" if a.mean > b.mean else "below"
    return False, f"{metric.name} {seen} is {side} {unseen}{how}."


def compare(one: tuple[str, Cell], other: tuple[str, Cell], metric: Metric) -> Pair:
    """The difference of two named entrants at one task."""
    (a, ours), (b, theirs) = one, other
    swaps = len(ours.task.seatings)
    left, right = _by_seed(ours, metric), _by_seed(theirs, metric)
    shares = metric.percent and all(0 <= value <= 1 for value in (*left.values(), *right.values()))
    found = paired_difference(left, right, bounds=(-1.0, 1.0) if shares else None)
    needed: int | None = 0
    if isnan(found.p_value) or found.p_value >= SIGNIFICANT:
        moved = sum(value != right[seed] for seed, value in left.items() if seed in right)
        needed = _needed(found.difference, moved)
        needed = None if needed is None else needed * swaps
    return Pair(a, b, ours.task.name, metric, found.difference, found.p_value, needed)


def _needed(difference: Estimate, moved: int) -> int | None:
    """Further seeds: enough for the normal approximation, and for the test to have signs to flip."""
    by_size = games_needed(difference, 0.0)
    if by_size is None or not moved:
        return None
    return max(by_size, ceil(difference.n * FEWEST_MOVED / moved) - difference.n, 1)


def _by_seed(cell: Cell, metric: Metric) -> dict[int, float]:
    """The mean over the seatings of each seed that was played in all of them."""
    seeds: defaultdict[int, list[float]] = defaultdict(list)
    for (seed, _), value in cell.values(metric).items():
        seeds[seed].append(value)
    swaps = len(cell.task.seatings)
    return {seed: sum(values) / swaps for seed, values in seeds.items() if len(values) == swaps}
