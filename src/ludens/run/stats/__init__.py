"""What may be said of a pile of results, and how surely.

Pure functions from numbers to small frozen results. Every interval is 95%; every draw comes from a generator
made on the spot from a seed, and no result depends on the order in which episodes finished. Where nothing can
be said the answer is NaN, never a guess and never a crash.
"""

from ludens.run.stats.classes import Classification, LabelScore, classification
from ludens.run.stats.combine import MacroMicro, macro_micro, normalised
from ludens.run.stats.compare import (
    Comparison,
    games_needed,
    indistinguishable,
    paired_difference,
    seat_swapped,
    seat_swapped_rate,
)
from ludens.run.stats.estimate import Estimate, exactly, mean, rate

__all__ = [
    "Classification",
    "Comparison",
    "Estimate",
    "LabelScore",
    "MacroMicro",
    "classification",
    "exactly",
    "games_needed",
    "indistinguishable",
    "macro_micro",
    "mean",
    "normalised",
    "paired_difference",
    "rate",
    "seat_swapped",
    "seat_swapped_rate",
]
