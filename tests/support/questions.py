"""Whether two sets of seeds ask the same questions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ludens.core.game import Game
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of

_STEP = re.compile(
    r"\b(?:step|turn|move|round|decision)s?\W{0,3}\d+(?:\W{0,3}(?:of|/)\W{0,3}\d+)?", re.IGNORECASE
)


def content(view: View, state: State, seat: str) -> str:
    """What is seen and asked, without the number of the step: equal for questions that are the same."""
    seen = view.text(state, seat) if view.has_text else " ".join(p.hash for p in view.images(state, seat))
    return "\n".join((_STEP.sub("", f"{seen}\n{view.notes(state, seat)}"), *state.legal(seat)))


def shared_share(game: Game, first: Iterable[int], second: Iterable[int]) -> float:
    """The share of the questions of the second seeds that the first have too."""
    view, [seat] = view_of(game, RenderOptions(), 0), game.seats
    contents = {content(view, game.start(seed), seat) for seed in first}
    shared = [content(view, game.start(seed), seat) in contents for seed in second]
    return sum(shared) / len(shared)
