"""The demands of each game on each ability, and the score of a task over all games.

The paper rates games by four formulas over properties of each game, scales the results to half a star up to
five, and weights games by their stars (its formula 6). The printed stars do not all follow from the formulas;
both are here: `formula` computes them, `paper` has the printed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import log10
from typing import Literal

from ludens.run.stats import Estimate, weighted_sum
from ludens.run.task import Summary

Ability = Literal["perception", "reasoning", "decision", "adversary"]
Stars = Mapping[str, Mapping[Ability, float]]
"""Game to ability to stars; abilities that a game does not need are missing."""

LEAST, MOST = 0.5, 5.0

ABILITIES: Mapping[str, tuple[Ability, ...]] = {
    "perceive": ("perception",),
    "qa": ("perception", "reasoning"),
    "rule": ("perception", "reasoning", "decision"),
    "e2e": ("perception", "reasoning", "decision", "adversary"),
}
"""The abilities each task needs."""


@dataclass(frozen=True)
class Demands:
    """The properties of a game that the formulas use, as the paper states them."""

    log_states: float
    """Decimal logarithm of the number of positions, possible in play or not."""
    pieces: int
    cells: int
    branching: int
    length: int
    uncertainty: int = 0
    resources: int = 1
    opponent: bool = True

    @property
    def raw(self) -> dict[Ability, float]:
        """Formulas 1 to 4 with the paper's coefficients."""
        found: dict[Ability, float] = {
            "perception": 0.8 * self.log_states + 1.5 * log10(self.pieces) + 1.2 * log10(self.cells) ** 2,
            "reasoning": self.log_states + log10(self.branching) + self.uncertainty,
            "decision": log10(self.branching) + log10(self.length) + log10(self.resources),
        }
        if self.opponent:
            found["adversary"] = self.length * log10(self.branching)
        return found


DEMANDS: Mapping[str, Demands] = {
    "tic_tac_toe": Demands(9 * log10(3), pieces=2, cells=9, branching=5, length=7),
    "reversi": Demands(64 * log10(3), pieces=2, cells=64, branching=10, length=60),
    "sudoku": Demands(81 * log10(9), pieces=9, cells=81, branching=5, length=50, opponent=False),
    "minesweeper": Demands(81.0, pieces=10, cells=81, branching=41, length=50, uncertainty=1, opponent=False),
    "gomoku": Demands(225 * log10(3), pieces=2, cells=225, branching=113, length=45),
    "chess": Demands(64 * log10(13), pieces=12, cells=64, branching=35, length=80, resources=6),
}

PRINTED: Stars = {
    "tic_tac_toe": {"perception": 0.5, "reasoning": 0.5, "decision": 0.5, "adversary": 0.5},
    "reversi": {"perception": 1.5, "reasoning": 1.5, "decision": 2.5, "adversary": 2.5},
    "sudoku": {"perception": 3.5, "reasoning": 2.0, "decision": 2.0},
    "minesweeper": {"perception": 4.0, "reasoning": 5.0, "decision": 3.0},
    "gomoku": {"perception": 5.0, "reasoning": 4.0, "decision": 3.5, "adversary": 4.0},
    "chess": {"perception": 3.5, "reasoning": 3.0, "decision": 5.0, "adversary": 5.0},
}
"""The stars of the paper's table 1."""


def computed() -> Stars:
    """The stars by the formulas: half a star for the lowest demand of an ability, five for the highest."""
    raw = {game: demands.raw for game, demands in DEMANDS.items()}
    stars: dict[str, dict[Ability, float]] = {game: {} for game in raw}
    for ability in ABILITIES["e2e"]:
        known = {game: values[ability] for game, values in raw.items() if ability in values}
        low, high = min(known.values()), max(known.values())
        for game, value in known.items():
            stars[game][ability] = LEAST + (MOST - LEAST) * (value - low) / (high - low)
    return stars


RATINGS: Mapping[str, Callable[[], Stars]] = {"formula": computed, "paper": lambda: PRINTED}


def weight(stars: Stars, task: str, game: str) -> float:
    """The weight of a game in a task: its stars for all the abilities the task needs."""
    return sum(stars[game].get(ability, 0.0) for ability in ABILITIES[task])


def score(task: str, stars: Stars, shown: Mapping[str, Estimate]) -> Estimate:
    """The score of a task over all games (formula 6), from estimates by task name, as in `perceive/chess`."""
    weights = {game: weight(stars, task, game) for game in DEMANDS}
    total = sum(weights.values())
    return weighted_sum([shown[f"{task}/{game}"] for game in weights], [w / total for w in weights.values()])


def summaries(ratings: str) -> tuple[Summary, ...]:
    """The four scores of the paper's figure 4."""
    stars = RATINGS[ratings]()
    return tuple(
        Summary(task, partial(score, task, stars), tuple(f"{task}/{game}" for game in DEMANDS))
        for task in ABILITIES
    )
