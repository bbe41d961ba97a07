"""The metrics of LVLM-Playground, and two of our own that separate logic from luck."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from ludens.games.qa.rules import QUESTIONS
from ludens.run.stats import Estimate, pooled_share
from ludens.run.task import COUNT, EpisodeResult, Metric, Observation, mean_of, own_return, rate_of, won

Counts = dict[str, tuple[int, int]]
"""For each class, how many are right and how many there are."""


def pooled(name: str, counts: Callable[[EpisodeResult], Counts], *, about: str) -> Metric:
    """A share over the things in all episodes, such as moves or cells; the mean over classes of them."""

    def combine(observations: Sequence[Observation]) -> Estimate:
        seeds: dict[int, Counts] = {}
        for seed, found in observations:  # seatings of one seed are alike
            known = seeds.setdefault(seed, {})
            for kind, (right, whole) in found.items():
                before = known.get(kind, (0, 0))
                known[kind] = before[0] + right, before[1] + whole
        return pooled_share(seeds.values())

    return Metric(name, counts, combine, percent=True, paired=False, about=about)


def _by_code(played: EpisodeResult) -> Counts:
    return {code: (right, cells) for code, (right, cells) in played.episode.facts["by_code"].items()}


def _occupied(played: EpisodeResult) -> Counts:
    found = [counts for code, counts in _by_code(played).items() if code != played.episode.facts["empty"]]
    return {"": (sum(right for right, _ in found), sum(cells for _, cells in found))}


CELLS = mean_of("cells right", own_return, percent=True, about="share of the cells of a board (formula 5)")
BALANCED = pooled(
    "balanced accuracy",
    _by_code,
    about="the share of cells right among all cells with the same content, averaged over contents: "
    "one content everywhere scores 1 in the number of contents",
)
OCCUPIED = pooled("occupied cells right", _occupied, about="of the cells of all boards that are not empty")
EXACT = rate_of(
    "whole board right", lambda played: bool(played.episode.facts["exact"]), about="boards without an error"
)
READABLE = rate_of(
    "readable",
    lambda played: bool(played.episode.facts["readable"]),
    about="replies with an answer of the right form",
)
VALID = rate_of(
    "valid move", lambda played: bool(played.episode.facts["valid"]), about="as the game itself says"
)


def _above_chance(played: EpisodeResult) -> float | None:
    facts = played.episode.facts
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
    lambda played: bool(played.episode.facts["right"]),
    about="questions answered right",
    labels=lambda played: [(played.episode.facts["correct"], played.episode.facts["answer"])],
)
"""The labels are letters, so that a preference for one of them shows."""


def _of_kind(kind: str) -> Metric:
    def right(played: EpisodeResult) -> bool | None:
        facts = played.episode.facts
        return bool(facts["right"]) if facts["kind"] == kind else None

    return rate_of(f"right: {kind}", right, about=f"of the questions of type {kind}")


def accuracy(game: str) -> tuple[Metric, ...]:
    """All questions about a game, then each type separately."""
    return ACCURACY, *(_of_kind(kind) for kind in QUESTIONS[game])


def unbeaten(played: EpisodeResult) -> bool:
    """Won or drawn against an opponent; solved where there is none."""
    [seat] = played.seats
    if played.episode.culprit == seat:
        return False
    alone = len(played.episode.returns) == 1
    earned = played.episode.returns[seat]
    return earned > 0 if alone else earned >= 0


def steps(played: EpisodeResult) -> float:
    """Valid moves made in a game (E.2)."""
    return float(
        sum(move.verdict != "fallback" for move in played.episode.moves if move.seat in played.seats)
    )


UNBEATEN = rate_of("unbeaten", unbeaten, about="won or drawn; solved where there is no opponent")
STEPS = mean_of("successful steps", steps, bounds=COUNT, about="valid moves in a game (E.2)")
INVALID = rate_of(
    "lost by invalid replies",
    lambda played: played.episode.culprit in played.seats,
    higher_is_better=False,
    about="games lost by three invalid replies in a row",
)
WINS = rate_of("won", won)


def _share_of_moves(name: str, part: str, *of: str, about: str) -> Metric:
    """A share of the moves of all games."""

    def counts(played: EpisodeResult) -> Counts:
        facts = played.episode.facts
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
    """The metrics of whole games."""
    return UNBEATEN, STEPS, WINS, INVALID, *EXTRA.get(game, ())
