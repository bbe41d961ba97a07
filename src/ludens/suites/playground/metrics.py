"""The metrics of LVLM-Playground, and two of our own that separate logic from luck."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log10
from typing import Literal

from ludens.games.qa.boards import QUESTIONS
from ludens.run.stats import Estimate, pooled_share, weighted_sum
from ludens.run.task import (
    COUNT,
    EpisodeResult,
    Metric,
    Observation,
    Summary,
    fact,
    mean_of,
    own_return,
    rate_of,
    won,
)

Counts = dict[str, tuple[int, int]]
"""For each class, how many are right and how many there are."""


def pooled(name: str, counts: Callable[[EpisodeResult], Counts], *, about: str) -> Metric:
    """A share over the things in all episodes, such as moves or cells; the mean over classes of them."""

    def combine(observations: Sequence[Observation]) -> Estimate:
        groups: dict[Hashable, Counts] = {}
        for group, classes in observations:  # seatings of one seed are alike
            sums = groups.setdefault(group, {})
            for kind, (right, total) in classes.items():
                before = sums.get(kind, (0, 0))
                sums[kind] = before[0] + right, before[1] + total
        return pooled_share(groups.values())

    return Metric(name, counts, combine, percent=True, paired=False, about=about)


def _by_code(result: EpisodeResult) -> Counts:
    return {code: (right, cells) for code, (right, cells) in result.episode.facts["by_code"].items()}


def _occupied(result: EpisodeResult) -> Counts:
    counts = [count for code, count in _by_code(result).items() if code != result.episode.facts["empty"]]
    return {"": (sum(right for right, _ in counts), sum(cells for _, cells in counts))}


CELLS = mean_of("cells right", own_return, percent=True, about="share of the cells of a board (formula 5)")
BALANCED = pooled(
    "balanced accuracy",
    _by_code,
    about="the share of cells right among all cells with the same content, averaged over contents: "
    "one content everywhere scores 1 in the number of contents",
)
OCCUPIED = pooled("occupied cells right", _occupied, about="of the cells of all boards that are not empty")
EXACT = rate_of("whole board right", fact("exact"), about="boards without an error")
READABLE = rate_of("readable", fact("readable"), about="replies with an answer of the right form")
VALID = rate_of("valid move", fact("valid"), about="as the game itself says")


def _above_chance(result: EpisodeResult) -> float | None:
    facts = result.episode.facts
    chance = facts["chance"]
    return (facts["valid"] - chance) / (1 - chance) if chance < 1 else None


ABOVE_CHANCE = mean_of(
    "above chance",
    _above_chance,
    bounds=(-inf, 1.0),
    about="valid moves on a scale from 0 for random answers to 1: (valid - chance) / (1 - chance) in each "
    "position, where chance is the share of valid moves among all that can be named",
)


ACCURACY = rate_of(
    "right",
    fact("right"),
    about="questions answered right",
    labels=lambda result: [(result.episode.facts["correct"], result.episode.facts["answer"])],
)
"""The labels are letters, so that a preference for one of them shows."""


def _of_kind(kind: str) -> Metric:
    return rate_of(
        f"right: {kind}",
        lambda result: fact("right")(result) if fact("kind")(result) == kind else None,
        about=f"of the questions of type {kind}",
    )


def accuracy(game: str) -> tuple[Metric, ...]:
    return ACCURACY, *(_of_kind(kind) for kind in QUESTIONS[game])


def unbeaten(result: EpisodeResult) -> bool:
    """Won or drawn against an opponent; solved where there is none."""
    [seat] = result.seats
    if result.episode.culprit == seat:
        return False
    alone = len(result.episode.returns) == 1
    earned = result.episode.returns[seat]
    return earned > 0 if alone else earned >= 0


def steps(result: EpisodeResult) -> float:
    return float(
        sum(move.verdict != "fallback" for move in result.episode.moves if move.seat in result.seats)
    )


UNBEATEN = rate_of("unbeaten", unbeaten, about="won or drawn; solved where there is no opponent")
STEPS = mean_of("successful steps", steps, bounds=COUNT, about="valid moves in a game (E.2)")
INVALID = rate_of(
    "lost by invalid replies",
    lambda result: result.episode.culprit in result.seats,
    higher_is_better=False,
    about="games lost by three invalid replies in a row",
)
WINS = rate_of("won", won)


def _share_of_moves(name: str, part: str, *of: str, about: str) -> Metric:
    def counts(result: EpisodeResult) -> Counts:
        facts = result.episode.facts
        return {"": (facts[part], sum(facts[name] for name in of))}

    return pooled(name, counts, about=about)


SAFE = _share_of_moves(
    "safe moves taken",
    "safe_moves_taken",
    "certain_moves",
    about="of the moves of all games made while some cell was certainly safe, those that opened such a cell",
)
SOLVABLE = _share_of_moves(
    "solvable digits",
    "solvable_digits",
    "solvable_digits",
    "wrong_digits",
    about="of the digits placed in all games, those that are in the one solution",
)
EXTRA: dict[str, tuple[Metric, ...]] = {"minesweeper": (SAFE,), "sudoku": (SOLVABLE,)}


def playing(game: str) -> tuple[Metric, ...]:
    return UNBEATEN, STEPS, WINS, INVALID, *EXTRA.get(game, ())


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
        demands: dict[Ability, float] = {
            "perception": 0.8 * self.log_states + 1.5 * log10(self.pieces) + 1.2 * log10(self.cells) ** 2,
            "reasoning": self.log_states + log10(self.branching) + self.uncertainty,
            "decision": log10(self.branching) + log10(self.length) + log10(self.resources),
        }
        if self.opponent:
            demands["adversary"] = self.length * log10(self.branching)
        return demands


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
        demands = {game: values[ability] for game, values in raw.items() if ability in values}
        low, high = min(demands.values()), max(demands.values())
        for game, value in demands.items():
            stars[game][ability] = LEAST + (MOST - LEAST) * (value - low) / (high - low)
    return stars


RATINGS: Mapping[str, Callable[[], Stars]] = {"formula": computed, "paper": lambda: PRINTED}


def weight(stars: Stars, task: str, game: str) -> float:
    return sum(stars[game].get(ability, 0.0) for ability in ABILITIES[task])


def score(task: str, stars: Stars, estimates: Mapping[str, Estimate]) -> Estimate:
    """The score of a task over all games (formula 6), from estimates by task name, as in `perceive/chess`."""
    weights = {game: weight(stars, task, game) for game in DEMANDS}
    total = sum(weights.values())
    parts = [estimates[f"{task}/{game}"] for game in weights]
    return weighted_sum(parts, [weight / total for weight in weights.values()])


def summaries(ratings: str) -> tuple[Summary, ...]:
    stars = RATINGS[ratings]()
    return tuple(
        Summary(task, partial(score, task, stars), tuple(f"{task}/{game}" for game in DEMANDS))
        for task in ABILITIES
    )
