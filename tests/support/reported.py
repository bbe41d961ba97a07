"""A small run with all a report can show: sighted and blind models, hostile replies, voids, anchors."""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from ludens.core.episode import Usage
from ludens.core.errors import AgentFailure
from ludens.core.registry import make
from ludens.core.spec import Spec
from ludens.core.view import RenderOptions, view_of
from ludens.games.perceive import canonical
from ludens.models import MODELS
from ludens.models.chat import Answer, Model, Request
from ludens.run.plan import make_plan
from ludens.run.stats import macro_average
from ludens.run.task import (
    MODEL,
    OVERALL,
    RETURN,
    WON,
    EpisodeResult,
    LabelPair,
    Published,
    Suite,
    Summary,
    Task,
    rate_of,
)
from tests.support.runs import played as play_into

SEE, SEEN = "perceive?board=tic_tac_toe", 8
INSULT = "<script>alert('you')</script>\u202e<b>Action: A1\u0000 & \"more\" </pre></details>"


def _cells(played: EpisodeResult) -> list[LabelPair]:
    """Each cell of the board, and the answer."""
    state: Any = make(SEE).start(played.seed)
    action = played.episode.moves[0].action
    read = json.loads(action) if action else None
    return [
        (str(code), str(read[r][c]) if read else None)
        for r, row in enumerate(state.matrix)
        for c, code in enumerate(row)
    ]


_SWAPPED = ({"x": MODEL, "o": "bot/random"}, {"x": "bot/random", "o": MODEL})

SUITE = Suite(
    "reported",
    "Everything a report <can> show.",
    (
        Task("turns", "tic_tac_toe", _SWAPPED, 8, (WON, RETURN)),
        Task("see", SEE, ({"viewer": MODEL},), SEEN,
             (rate_of("exact", lambda result: bool(result.episode.facts["exact"]), labels=_cells),)),
        Task("duel", "tic_tac_toe", _SWAPPED, 4, (RETURN,), first_seed=100, blindable=False),
    ),
    published=(Published("Some & Body 2024", "GPT_0", {"turns": 50.0, "see": 12.5, "duel": 31.0}),),
    deviations=("Boards are <small>.",),
    summaries=(Summary(OVERALL, macro_average),),
    anchors={"duel": (-1.0, 1.0)},
)  # fmt: skip
NAME = "tests.support.reported:SUITE"

ENTRANTS = {
    "seer": "fake/seer",
    "seer, blind": "fake/seer?blind=true",
    "guesser": "fake/guesser?memory=all",
    "guesser, blind": "fake/guesser?memory=all&blind=true",
    "rude": "fake/rude?memory=last",
    "random": "bot/random",
}

LABELS = [
    "seer",
    "seer, blind (blind)",
    "guesser (memory all)",
    "guesser, blind (blind, memory all)",
    "rude (memory last)",
    "random",
]
"""The entrants with the settings that differ from the suite's."""


@lru_cache(maxsize=1)
def _answers() -> dict[str, str]:
    """The right answer by the hash of the picture."""
    game = make(SEE)
    answers = {}
    for seed in range(SEEN):
        state: Any = game.start(seed)
        answers[view_of(game, RenderOptions(), seed).image(state, "viewer").hash] = canonical(state.matrix)
    return answers


class Fake(Model):
    """`seer` reads boards it can see, `guesser` never looks, `rude` replies with markup and has to retry."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(str(spec))
        self.calls = 0

    async def answer(self, request: Request) -> Answer:
        self.calls += 1
        if self.spec == "fake/seer" and self.calls == 3:
            raise AgentFailure("the <server> is away")
        text = self._text(request)
        return Answer(text, usage=Usage(1000, 10, images=len(request.pictures), cost=0.001))

    def _text(self, request: Request) -> str:
        asked = [part for message in request.messages for part in message.parts if isinstance(part, str)]
        if self.spec == "fake/rude" and self.calls % 5:
            return "Action: Z9" if self.calls % 5 == 1 else INSULT
        legal = [
            line for text in asked for line in text.splitlines() if line.startswith("Your legal actions: ")
        ]
        if legal:
            return (
                f"I take the first.\nAction: {legal[-1].removeprefix('Your legal actions: ').split(', ')[0]}"
            )
        shown = [_answers().get(picture.hash) for picture in request.pictures]
        if self.spec == "fake/seer" and shown and shown[-1]:
            return shown[-1]
        return canonical([[0] * 3] * 3)


MODELS.register("fake", Fake)


def make_run(folder: Path, entrants: dict[str, str] | None = None, **choices: Any) -> Path:
    """Play the suite into a folder."""
    plan = make_plan(NAME, entrants or ENTRANTS, **choices)
    asyncio.run(play_into(folder, plan))
    return folder
