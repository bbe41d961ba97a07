"""The matches from which samples of strategic reasoning are drawn: the mixes of appendix D.

The paper's targets in Hanabi, Overcooked and Pong were models and people that are not available; ours are the
scripted players named here, who go by what is shown. A random player is never a target.

There are two rules. `single` takes only decisions that can be predicted: one action is best for the player,
and all kinds of action are equally frequent, so that who does not look is no better than chance. `paper`
takes any decision with the paper's frequencies: what is asked may be one of several equally good moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Match:
    """Two players, their share of the samples, and whose actions are predicted."""

    share: int
    agents: Mapping[str, str]
    targets: tuple[str, ...]

    def __str__(self) -> str:
        return " v ".join(self.agents.values())


def _action(action: str) -> str:
    return action


def _hanabi(action: str) -> str:
    return action.strip("()").split()[0].lower()


def _overcooked(action: str) -> str:
    return "stay" if action == "STAY" else "act"


RULES = ("single", "paper")


@dataclass(frozen=True)
class SampleRecipe:
    """How the samples of one game are made."""

    game: str
    matches: tuple[Match, ...]
    classes: Mapping[str, int] = field(default_factory=dict)
    """Shares of kinds of target action; empty where any action qualifies."""
    kind_of: Callable[[str], str] = _action
    per_episode: int = 1
    """Samples of each target per episode: several only where an episode takes long to play."""
    certain: float = 1.0
    """The least probability of the likeliest action, for one who knows the player and sees what the observer
    sees; 0 takes any decision."""
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


def _pairs(first: str, second: str, *shares: tuple[int, str, str]) -> tuple[Match, ...]:
    matches = []
    for share, player, other in shares:
        agents = {first: f"bot/{player}", second: f"bot/{other}"}
        targets = tuple(seat for seat, spec in agents.items() if spec not in ("bot/random", "bot/literal"))
        matches.append(Match(share, agents, targets))
    return tuple(matches)


_KUHN = ("0", "0.16666666666666666", "0.3333333333333333")
_DEPTHS = ((3, 4), (3, 5), (4, 5), (4, 6), (4, 4), (5, 5))
_MOVES = ("UP", "DOWN", "RIGHT", "LEFT")
_CORNERS = ("A1", "A5", "E1", "E5")


def _hunts(*corners: str) -> tuple[Match, ...]:
    """The matches of Monster Hunt; those who wait in a corner wait in one of these."""
    waiting = [f"common_welfare_3?corner={corner}" for corner in corners]
    return _pairs(
        "red",
        "blue",
        (4, "common_welfare_1", "common_welfare_1"),
        (4, "common_welfare_2", "common_welfare_2"),
        *((4 // len(corners), player, player) for player in waiting),
        (4, "self_interest", "self_interest"),
        (2, "random", "self_interest"),
        (2, "self_interest", "random"),
    )


RECIPES: dict[str, SampleRecipe] = {
    "hanabi": SampleRecipe(
        "hanabi",
        # A tenth of the samples are a weak player's view of a stronger one, as in the paper.
        _pairs(
            "player_0",
            "player_1",
            (18, "visible", "visible"),
            (1, "literal", "visible"),
            (1, "visible", "literal"),
        ),
        # Hints depend on the observer's own cards, which the observer cannot see, and so does whether to give
        # one; the newest card is hardly ever discarded for sure.
        classes={
            **{f"(Play {place})": 1 for place in range(5)},
            **{f"(Discard {place})": 1 for place in range(4)},
        },
        certain=0.8,
    ),
    "overcooked": SampleRecipe(
        "overcooked",
        _pairs(
            "chef_0", "chef_1", (2, "planner", "planner"), (1, "planner", "greedy"), (1, "greedy", "planner")
        ),
        classes={"STAY": 5, "INTERACT": 9, **dict.fromkeys(_MOVES, 9)},  # STAY in a tenth, as in the paper
        played="overcooked?opening=random",
        steps=10,  # later all kitchens look alike
        notes=False,
    ),
    "breakthrough": SampleRecipe(
        "breakthrough",
        _pairs(
            "black",
            "white",
            *((1, f"alphabeta?depth={black}", f"alphabeta?depth={white}") for black, white in _DEPTHS),
        ),
        per_episode=12,
        listed=False,
    ),
    "kuhn_poker": SampleRecipe(
        "kuhn_poker",
        _pairs(
            "first",
            "second",
            *((1, f"equilibrium?alpha={a}", f"equilibrium?alpha={b}") for a in _KUHN for b in _KUHN),
        ),
        classes={"PASS": 1, "BET": 1},
        certain=0.65,  # the other's card is hidden: no bet is likelier than 2/3
        repeats=1.0,  # there are only twelve different observations
    ),
    "pong": SampleRecipe(
        "pong",
        (Match(1, {"player": "bot/follower"}, ("player",)),),
        classes={"STAY": 1, "UP": 1, "DOWN": 1},
        per_episode=20,
        steps=400,
        # As in the paper, the observer holds the paddle of the built-in player.
        view_game="pong?players=2",
        seat_names={"player": "right"},
    ),
    "coin_dilemma": SampleRecipe(
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
        classes=dict.fromkeys(_MOVES, 1),
    ),
    "monster_hunt": SampleRecipe("monster_hunt", _hunts(*_CORNERS)),
    "battle_of_colors": SampleRecipe(
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
        classes=dict.fromkeys((*_MOVES, "STAY"), 1),
    ),
}

_PAPER: dict[str, SampleRecipe] = {
    "hanabi": replace(RECIPES["hanabi"], classes={"play": 2, "discard": 3, "reveal": 4}, kind_of=_hanabi),
    "overcooked": replace(
        RECIPES["overcooked"], classes={"stay": 1, "act": 9}, kind_of=_overcooked, notes=True
    ),
    "breakthrough": replace(RECIPES["breakthrough"], listed=True),
    "kuhn_poker": replace(RECIPES["kuhn_poker"], classes={}),
    "pong": RECIPES["pong"],
    "coin_dilemma": replace(RECIPES["coin_dilemma"], classes={}),
    "monster_hunt": replace(RECIPES["monster_hunt"], matches=_hunts("A1")),
    "battle_of_colors": replace(RECIPES["battle_of_colors"], classes={}),
}


def recipe_of(name: str, rule: str) -> SampleRecipe:
    return RECIPES[name] if rule == "single" else replace(_PAPER[name], certain=0.0)
