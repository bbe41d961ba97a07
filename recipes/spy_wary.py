"""A teacher for the spy game: `bot/vague`, which in a share of its votes suspects a player who says little.

A share, so that a policy that imitates it draws such votes now and then, and self-play can find out what
they earn. A recipe is a file, and a file does not choose what is imported:

    ludens train recipes/spy-flat-past-wary.toml --agent recipes.spy_wary:Wary
"""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.options import option
from ludens.games.spy.bots import Vague
from ludens.games.spy.clues import full_names
from ludens.games.spy.game import ABSTAIN, SpyState
from ludens.games.spy.scene import Scene


@dataclass
class Wary(Vague):
    """Where no clue is false, it votes now and then for a player who has named no object in full."""

    wary: float = option(0.2, low=0, high=1, help="share of its votes without a false clue")
    kind = "recipes.spy_wary:Wary"

    def vote(self, state: SpyState, scene: Scene, seat: str) -> str:
        vote = super().vote(state, scene, seat)
        if vote != ABSTAIN or self.random.random() >= self.wary:
            return vote
        players = len(state.table)
        suspects = [
            str(place + 1)
            for place, other in enumerate(state.table)
            if other != seat and not any(map(full_names, state.clues[place::players]))
        ]
        return self.random.choice(suspects) if suspects else vote
