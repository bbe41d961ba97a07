"""The matches from which samples of strategic reasoning are drawn: the mixes of appendix D.

The paper's targets in Hanabi, Overcooked and Pong were models and people that are not available; ours are the
scripted players named here. A random player is never a target: it cannot be predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Match:
    """Two players, their share of the samples, and whose actions are predicted."""

    share: int
    agents: Mapping[str, str]
    """Seat to agent spec."""
    targets: tuple[str, ...]

    def __str__(self) -> str:
        return " v ".join(self.agents.values())


def _action(action: str) -> str:
    return action


def _hanabi(action: str) -> str:
    return action.strip("()").split()[0].lower()


def _overcooked(action: str) -> str:
    return "stay" if action == "STAY" else "act"


@dataclass(frozen=True)
class Recipe:
    """How the samples of one game are made."""

    game: str
    matches: tuple[Match, ...]
    classes: Mapping[str, int] = field(default_factory=dict)
    """Shares of kinds of target action; empty where any action qualifies."""
    kind_of: Callable[[str], str] = _action
    """The kind of an action, as `classes` names it."""
    per_episode: int = 1
    """Samples of each target per episode: several only where an episode takes long to play."""
    warm_up: int = 0
    """The most random moves at the start, where nothing else makes matches different."""
    steps: int = 1000
    """The most steps of an episode."""
    repeats: float = 0.05
    """The share of samples that may look like an earlier one."""
    shown: str = ""
    """The game whose view and templates show the samples, if it is another one."""
    told: Mapping[str, str] = field(default_factory=dict)
    """The names of the seats there."""


def _pairs(first: str, second: str, *shares: tuple[int, str, str]) -> tuple[Match, ...]:
    made = []
    for share, one, other in shares:
        agents = {first: f"bot/{one}", second: f"bot/{other}"}
        targets = tuple(seat for seat, spec in agents.items() if spec not in ("bot/random", "bot/literal"))
        made.append(Match(share, agents, targets))
    return tuple(made)


_KUHN = ("0", "0.16666666666666666", "0.3333333333333333")
_DEPTHS = ((3, 4), (3, 5), (4, 5), (4, 6), (4, 4), (5, 5))

RECIPES: dict[str, Recipe] = {
    "hanabi": Recipe(
        "hanabi",
        # A tenth of the samples are a weak player's view of a strong one, as in the paper.
        _pairs(
            "player_0",
            "player_1",
            (18, "strong", "strong"),
            (1, "literal", "strong"),
            (1, "strong", "literal"),
        ),
        classes={"play": 2, "discard": 3, "reveal": 4},
        kind_of=_hanabi,
    ),
    "overcooked": Recipe(
        "overcooked",
        _pairs(
            "chef_0", "chef_1", (2, "planner", "planner"), (1, "planner", "greedy"), (1, "greedy", "planner")
        ),
        classes={"stay": 1, "act": 9},
        kind_of=_overcooked,
        warm_up=25,
    ),
    "breakthrough": Recipe(
        "breakthrough",
        _pairs(
            "black",
            "white",
            *((1, f"alphabeta?depth={black}", f"alphabeta?depth={white}") for black, white in _DEPTHS),
        ),
        per_episode=12,
    ),
    "kuhn_poker": Recipe(
        "kuhn_poker",
        _pairs(
            "first",
            "second",
            *((1, f"equilibrium?alpha={a}", f"equilibrium?alpha={b}") for a in _KUHN for b in _KUHN),
        ),
        repeats=1.0,  # there are only twelve different observations
    ),
    "pong": Recipe(
        "pong",
        (Match(1, {"player": "bot/tracker"}, ("player",)),),
        classes={"STAY": 1, "UP": 1, "DOWN": 1},
        per_episode=20,
        steps=400,
        # As in the paper, the observer holds the paddle of the built-in player.
        shown="pong?players=2",
        told={"player": "right"},
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
