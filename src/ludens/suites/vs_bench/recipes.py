"""Which players meet in the samples of strategic reasoning, and in what shares: the mixes of appendix D.

The paper took the targets of Hanabi, Overcooked and Pong from models and people that are not to be had; ours
come from scripted players, named here. Shares hold exactly over every full cycle of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Match = Mapping[str, str]
"""Seat to agent spec."""


@dataclass(frozen=True)
class Recipe:
    """How the samples of one game are made."""

    game: str
    matches: tuple[tuple[int, Match], ...]
    """Each match with its share."""
    classes: Mapping[str, int] = field(default_factory=dict)
    """Shares of kinds of target action; empty where any action will do."""
    kind_of: Callable[[str], str] = lambda action: action
    """The kind of an action, as `classes` names it."""
    per_episode: int = 1
    """Samples cut from one episode: more than one only where an episode takes long to play."""
    warm_up: int = 0
    """Up to so many random moves come first, where nothing else tells one match from the next."""
    steps: int = 1000
    """Where episodes are cut off at the latest."""


def _pairs(first: str, second: str, *shares: tuple[int, str, str]) -> tuple[tuple[int, Match], ...]:
    return tuple((share, {first: f"bot/{one}", second: f"bot/{other}"}) for share, one, other in shares)


_KUHN = ("0", "0.16666666666666666", "0.3333333333333333")

RECIPES: dict[str, Recipe] = {
    "hanabi": Recipe(
        "hanabi",
        _pairs("player_0", "player_1", (9, "strong", "strong"), (1, "literal", "strong")),
        classes={"play": 2, "discard": 3, "reveal": 4},
        kind_of=lambda action: action.strip("()").split()[0].lower(),
    ),
    "overcooked": Recipe(
        "overcooked",
        _pairs(
            "chef_0", "chef_1", (2, "planner", "planner"), (1, "planner", "greedy"), (1, "greedy", "planner")
        ),
        classes={"stay": 1, "act": 9},
        kind_of=lambda action: "stay" if action == "STAY" else "act",
        warm_up=25,
    ),
    "breakthrough": Recipe(
        "breakthrough",
        _pairs(
            "black",
            "white",
            *(
                (1, f"alphabeta?depth={black}", f"alphabeta?depth={white}")
                for black, white in ((3, 4), (3, 5), (4, 5), (4, 6), (4, 4), (5, 5))
            ),
        ),
        per_episode=20,
    ),
    "kuhn_poker": Recipe(
        "kuhn_poker",
        _pairs(
            "first",
            "second",
            *((1, f"equilibrium?alpha={a}", f"equilibrium?alpha={b}") for a in _KUHN for b in _KUHN),
        ),
    ),
    "pong": Recipe(
        "pong",
        ((1, {"player": "bot/tracker"}),),
        classes={"STAY": 1, "UP": 1, "DOWN": 1},
        per_episode=20,
        steps=400,
    ),
    "coin_dilemma": Recipe(
        "coin_dilemma",
        _pairs(
            "red",
            "blue",
            (2, "common_welfare", "common_welfare"),
            (2, "self_interest", "self_interest"),
            (1, "common_welfare", "self_interest"),
            (1, "self_interest", "common_welfare"),
            (1, "random", "self_interest"),
            (1, "self_interest", "random"),
        ),
    ),
    "monster_hunt": Recipe(
        "monster_hunt",
        _pairs(
            "red",
            "blue",
            (2, "common_welfare_1", "common_welfare_1"),
            (2, "common_welfare_2", "common_welfare_2"),
            (2, "common_welfare_3", "common_welfare_3"),
            (2, "self_interest", "self_interest"),
            (1, "random", "self_interest"),
            (1, "self_interest", "random"),
        ),
    ),
    "battle_of_colors": Recipe(
        "battle_of_colors",
        _pairs(
            "red",
            "blue",
            (2, "common_welfare", "common_welfare"),
            (2, "self_interest", "self_interest"),
            (1, "common_welfare", "self_interest"),
            (1, "self_interest", "common_welfare"),
            (1, "biased_red", "biased_red"),
            (1, "biased_blue", "biased_blue"),
        ),
    ),
}
