"""Statistics of results: estimates with intervals, comparisons, classification scores.

Pure functions from numbers to small frozen results. Every interval is 95%; random draws use a generator made
from a fixed seed, and no result depends on the order of the episodes. What is not known is NaN.
"""

from ludens.run.stats.classes import Classification, LabelScore, classification
from ludens.run.stats.combine import macro_average, micro_average, normalised, weighted_sum
from ludens.run.stats.compare import (
    Comparison,
    excludes_zero,
    games_needed,
    indistinguishable,
    paired_difference,
    seat_swapped,
    seat_swapped_rate,
)
from ludens.run.stats.estimate import Bounds, Estimate, exactly, mean, rate
from ludens.run.stats.pooled import pooled_share

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
