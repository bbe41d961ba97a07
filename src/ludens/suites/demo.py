"""The demo suite: five small tasks, one for each type of game."""

from __future__ import annotations

from pathlib import Path

from ludens.run.task import COUNT, MODEL, WON, EpisodeResult, Suite, Task, fact, mean_of, own_return, rate_of


def _both_sides(first: str, second: str, opponent: str) -> tuple[dict[str, str], dict[str, str]]:
    return {first: MODEL, second: opponent}, {first: opponent, second: MODEL}


def _unbeaten(played: EpisodeResult) -> bool:
    [seat] = played.seats
    return played.episode.returns[seat] >= 0 and played.episode.culprit != seat


SUITE = Suite(
    name="demo",
    about="Five small tasks: perfect play, search, social dilemma, perception, conversation.",
    tasks=(
        Task(
            name="tic_tac_toe",
            game="tic_tac_toe",
            seatings=_both_sides("x", "o", "bot/random"),
            episodes=20,
            metrics=(rate_of("unbeaten", _unbeaten), WON),
        ),
        Task(
            name="breakthrough",
            game="breakthrough?rows=6&columns=5",
            seatings=_both_sides("black", "white", "bot/mcts?simulations=20&rollouts=1"),
            episodes=8,
            metrics=(WON,),
        ),
        Task(
            name="coin_dilemma",
            game="coin_dilemma?horizon=10",
            seatings=({"red": MODEL, "blue": MODEL},),
            episodes=6,
            metrics=(mean_of("return", own_return, bounds=(-10.0, 10.0)),),
        ),
        Task(
            name="perceive",
            game="perceive?board=breakthrough",
            seatings=({"viewer": MODEL},),
            episodes=20,
            metrics=(
                mean_of("cells", lambda played: played.episode.returns["viewer"], percent=True),
                rate_of("whole board right", fact("exact")),
            ),
        ),
        Task(
            name="wire",
            game="comma/wire",
            seatings=({"solver": MODEL, "expert": MODEL},),
            episodes=6,
            metrics=(
                rate_of("solved", fact("solved")),
                mean_of(
                    "mistakes",
                    lambda played: float(played.episode.facts["mistakes"]),
                    bounds=COUNT,
                    higher_is_better=False,
                ),
            ),
        ),
    ),
    references=Path(__file__).with_name("demo.toml"),
    deviations=("Sizes and opponents are chosen for speed; the suites of papers use the papers' own.",),
)
