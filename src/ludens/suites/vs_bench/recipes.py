"""The matches from which samples of strategic reasoning are drawn: the mixes of appendix D.

The paper's targets in Hanabi, Overcooked and Pong were models and people that are not available; ours are the
scripted players named here, which use only what is shown. A random player is never a target.

There are two rules. `single` takes only decisions that can be predicted: one action is best for the player,
and all kinds of action are equally frequent, so that a player that does not look is no better than chance.
`paper` takes any decision with the paper's frequencies: the action may be one of several equally good ones.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Match:
    """Two players, their share of the samples, and whose actions are predicted."""

    share: int
    agents: Mapping[str, str]
    targets: tuple[str, ...]

    def __str__(self) -> str:
        return " v ".join(self.agents.values())


def _whole(action: str) -> str:
    return action


KINDS: dict[str, Callable[[str], str]] = {
    "whole": _whole,
    "hanabi": lambda action: action.strip("()").split()[0].lower(),
    "overcooked": lambda action: "stay" if action == "STAY" else "act",
}
"""Ways to tell kinds of actions apart."""
RULES = ("single", "paper")


@dataclass(frozen=True)
class SampleRecipe:
    """How the samples of one game are made."""

    game: str
    matches: tuple[Match, ...]
    classes: Mapping[str, int] = field(default_factory=dict)
    """Shares of kinds of target action; empty where any action qualifies."""
    kind_of: Callable[[str], str] = _whole
    per_episode: int = 1
    """Samples of each target per episode: several only where an episode takes long to play."""
    certain: float = 1.0
    """The least probability of the likeliest action, for an observer that knows the strategy of the player; 0
    takes any decision."""
    steps: int = 1000
    repeats: float = 0.05
    """The share of samples that may look like an earlier one."""
    played: str = ""
    """The game as it is played for samples, if with other options than usual."""
    notes: bool = True
    """Whether the game's notes are shown: not where they tell in words what the picture shows."""
    listed: bool = True
    """Whether the possible actions are listed: not where the list tells the position."""
    view_game: str = ""
    """The game whose view and templates show the samples, if it is another one."""
    seat_names: Mapping[str, str] = field(default_factory=dict)


_NO_TARGETS = ("bot/random", "bot/literal")


def _recipe(
    game: str, seats: list[str], matches: list[str], kind_of: str = "whole", **more: Any
) -> SampleRecipe:
    pairs = []
    for match in matches:
        share, *bots = match.split()
        agents = {seat: f"bot/{bot}" for seat, bot in zip(seats, bots, strict=True)}
        targets = tuple(seat for seat, spec in agents.items() if spec not in _NO_TARGETS)
        pairs.append(Match(int(share), agents, targets))
    return SampleRecipe(game, tuple(pairs), kind_of=KINDS[kind_of], **more)


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_CHANGES = {game: table.pop("paper") for game, table in _TABLES.items()}
RECIPES = {game: _recipe(game, **table) for game, table in _TABLES.items()}
_PAPER = {
    game: _recipe(game, **{**_TABLES[game], **changes, "certain": 0.0}) for game, changes in _CHANGES.items()
}


def recipe_of(name: str, rule: str) -> SampleRecipe:
    return RECIPES[name] if rule == "single" else _PAPER[name]
