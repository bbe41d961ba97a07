"""Statistics of results: estimates with intervals, comparisons, classification scores.

Pure functions from numbers to small frozen results. Every interval is 95%; random draws use a generator made
from a fixed seed, and no result depends on the order of the episodes. What is not known is NaN.
"""

from ludens.run.stats.compare import (
    Classification,
    Comparison,
    LabelScore,
    classification,
    excludes_zero,
    games_needed,
    indistinguishable,
    paired_difference,
    seat_swapped,
    seat_swapped_rate,
)
from ludens.run.stats.estimate import (
    Bounds,
    Estimate,
    exactly,
    macro_average,
    mean,
    micro_average,
    normalised,
    pooled_share,
    rate,
    weighted_sum,
)

__all__ = [
    "Bounds",
    "Classification",
    "Comparison",
    "Estimate",
    "LabelScore",
    "classification",
    "exactly",
    "excludes_zero",
    "games_needed",
    "indistinguishable",
    "macro_average",
    "mean",
    "micro_average",
    "normalised",
    "paired_difference",
    "pooled_share",
    "rate",
    "seat_swapped",
    "seat_swapped_rate",
    "weighted_sum",
]
