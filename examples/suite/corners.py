"""A suite of your own: two tasks, a metric, and what a paper has published about them.

ludens suites corners:SUITE
ludens eval corners:SUITE --model nano --model bot/random --blind-control
"""

from __future__ import annotations

from ludens.run.task import MODEL, WON, EpisodeResult, Suite, Task, mean_of, rate_of

CORNERS = {"A1", "A3", "C1", "C3"}


def corners(played: EpisodeResult) -> float:
    """The share of the entrant's moves that go to a corner."""
    own = [move.action in CORNERS for move in played.episode.moves if move.seat in played.seats]
    return sum(own) / len(own)


def unbeaten(played: EpisodeResult) -> bool:
    return all(played.episode.returns[seat] >= 0 for seat in played.seats)


def against(opponent: str) -> tuple[dict[str, str], dict[str, str]]:
    """Both sides, so that who begins does not matter: every seed is played twice."""
    return {"x": MODEL, "o": opponent}, {"x": opponent, "o": MODEL}


SUITE = Suite(
    name="corners",
    about="Tic-tac-toe against chance and against perfect play, and how often a corner is taken.",
    tasks=(
        Task(
            name="chance",
            game="tic_tac_toe",
            seatings=against("bot/random"),
            episodes=20,
            metrics=(WON, mean_of("corners", corners, percent=True)),
        ),
        Task(
            name="perfect",
            game="tic_tac_toe",
            seatings=against("bot/minimax"),
            episodes=20,
            metrics=(rate_of("unbeaten", unbeaten), mean_of("corners", corners, percent=True)),
        ),
    ),
)
