"""The demo suite: five small tasks, one for each type of game; none can be solved without looking."""

from __future__ import annotations

from pathlib import Path

from ludens.run.task import COUNT, MODEL, Suite, Task, fact, mean_of, own_return, rate_of
from ludens.run.twins import both_of
from ludens.suites.playground import THREE_TRIES
from ludens.suites.playground.metrics import unbeaten


def _both_sides(first: str, second: str, opponent: str) -> tuple[dict[str, str], dict[str, str]]:
    return {first: MODEL, second: opponent}, {first: opponent, second: MODEL}


SUITE = Suite(
    name="demo",
    about="Five small tasks: perfect play, social dilemma, perception, deduction, conversation.",
    tasks=(
        Task(
            name="tic_tac_toe",
            game="tic_tac_toe?opening=3&twins=true",
            seatings=_both_sides("x", "o", "bot/minimax"),
            episodes=12,
            metrics=(
                both_of(unbeaten, "pairs of twin worlds (same words, other openings) won or drawn in both"),
                rate_of("unbeaten", unbeaten),
            ),
            config=THREE_TRIES,
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
            game="perceive?board=breakthrough&twins=true",
            seatings=({"viewer": MODEL},),
            episodes=12,
            metrics=(
                both_of(about="of the cells that differ between twin boards, those right on both"),
                mean_of("cells", lambda result: result.episode.returns["viewer"], percent=True),
                rate_of("whole board right", fact("exact")),
            ),
        ),
        Task(
            name="vote",
            game="spy/vote?source=flat&twins=true",
            seatings=({"voter": MODEL},),
            episodes=14,
            metrics=(both_of(fact("right")), rate_of("right", fact("right"), about="votes for the spy")),
        ),
        Task(
            name="keypad",
            game="comma/keypad?mistakes=1",
            seatings=({"solver": MODEL, "expert": MODEL},),
            episodes=12,
            metrics=(
                rate_of("solved", fact("solved")),
                mean_of(
                    "mistakes",
                    lambda result: float(result.episode.facts["mistakes"]),
                    bounds=COUNT,
                    higher_is_better=False,
                ),
            ),
        ),
    ),
    references=Path(__file__).with_name("demo.toml"),
    deviations=("Sizes and opponents are chosen for speed; the suites of papers use the papers' own.",),
)
