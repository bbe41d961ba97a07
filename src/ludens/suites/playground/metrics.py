"""The metrics of LVLM-Playground, and two of our own that separate logic from luck."""

from __future__ import annotations

from ludens.games.qa.rules import QUESTIONS
from ludens.run.task import EpisodeResult, Metric, mean_of, own_return, rate_of, won

CELLS = mean_of("cells right", own_return, percent=True, about="share of the cells of a board (formula 5)")
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
STEPS = mean_of("successful steps", steps, about="valid moves in a game (E.2)")
INVALID = rate_of(
    "lost by invalid replies",
    lambda played: played.episode.culprit in played.seats,
    higher_is_better=False,
    about="games lost by three invalid replies in a row",
)
WINS = rate_of("won", won)


def _share(part: str, *of: str) -> Metric:
    def value(played: EpisodeResult) -> float | None:
        facts = played.episode.facts
        whole = sum(facts[name] for name in of)
        return facts[part] / whole if whole else None

    return mean_of(_SAID[part], value, percent=True, about=_MEANT[part])


_SAID = {"safe_moves_taken": "safe moves taken", "solvable_digits": "solvable digits"}
_MEANT = {
    "safe_moves_taken": "of the moves made while some cell was certainly safe, those that opened such a cell",
    "solvable_digits": "of the digits placed, those that are in the one solution",
}

SAFE = _share("safe_moves_taken", "certain_moves")
SOLVABLE = _share("solvable_digits", "solvable_digits", "wrong_digits")
EXTRA: dict[str, tuple[Metric, ...]] = {"minesweeper": (SAFE,), "sudoku": (SOLVABLE,)}


def playing(game: str) -> tuple[Metric, ...]:
    """The metrics of whole games."""
    return UNBEATEN, STEPS, WINS, INVALID, *EXTRA.get(game, ())
