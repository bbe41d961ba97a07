"""Games that people played in the browser, as suites: so their episodes are runs like any other.

    play     one game (`ludens web`)
    study    the tasks of a study (`ludens web --study FILE`)

Everything is in the options, so that `run.json` alone says what was played.
"""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.options import Touch, option
from ludens.core.registry import make
from ludens.run.task import MODEL, RETURN, WON, Suite, SuiteBuilder, Task


@dataclass(frozen=True)
class Play(SuiteBuilder):
    """One game; every seat is a person's unless the run gives it to another player."""

    game: str = option("tic_tac_toe", help="the game, with its options", touches=Touch.GAME)

    def build(self) -> Suite:
        made = make(self.game)
        seating = dict.fromkeys(made.seats, MODEL)
        metrics = (RETURN, WON) if len(made.seats) > 1 else (RETURN,)
        return Suite(
            name="play",
            about="A game that people played in the browser.",
            tasks=(Task(made.name, self.game, (seating,), 1, metrics),),
        )
