"""Measure the anchors: `python -m ludens.suites.vs_bench.measure [GAME ...]` prints random and optimal play.

The figures in `published.py` come from here. Players play themselves, or the opponent the paper names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

from ludens.agents import agent
from ludens.core.registry import make
from ludens.core.sync import run_sync
from ludens.loop import play
from ludens.run.stats import Estimate, mean

EPISODES = 300
_DUEL = "bot/mcts"

PLAYERS: dict[str, dict[str, Mapping[str, str]]] = {
    "hanabi": {
        "random": {"player_0": "bot/random", "player_1": "bot/random"},
        "optimal": {"player_0": "bot/strong", "player_1": "bot/strong"},
    },
    "overcooked": {
        "random": {"chef_0": "bot/random", "chef_1": "bot/random"},
        "optimal": {"chef_0": "bot/optimal", "chef_1": "bot/optimal"},
    },
    "breakthrough": {
        "random": {"black": "bot/random", "white": _DUEL},
        "optimal": {"black": "bot/alphabeta?depth=5", "white": _DUEL},
    },
    "pong": {"random": {"player": "bot/random"}, "optimal": {"player": "bot/tracker"}},
    "coin_dilemma": {
        "random": {"red": "bot/random", "blue": "bot/random"},
        "optimal": {"red": "bot/optimal", "blue": "bot/optimal"},
    },
    "monster_hunt": {
        "random": {"red": "bot/random", "blue": "bot/random"},
        "optimal": {"red": "bot/optimal", "blue": "bot/optimal"},
    },
    "battle_of_colors": {
        "random": {"red": "bot/random", "blue": "bot/random"},
        "optimal": {"red": "bot/optimal", "blue": "bot/optimal"},
    },
}


def measure(name: str, who: str, episodes: int = EPISODES) -> Estimate:
    """The mean return of these players; in Breakthrough sides are swapped after every game."""
    game = make(name)
    seating = PLAYERS[name][who]
    values = []
    for seed in range(episodes):
        seats = dict(seating)
        if _DUEL in seats.values() and seed % 2:
            seats = dict(zip(seats, reversed(list(seats.values())), strict=True))
        episode = run_sync(play(game, {s: agent(spec, game) for s, spec in seats.items()}, seed))
        own = [seat for seat, spec in seats.items() if spec != _DUEL]
        score = [episode.facts["combined"]] if name == "pong" else [episode.returns[seat] for seat in own]
        values.append(sum(score) / len(score))
    return mean(values)


def rows(names: list[str], episodes: int) -> Iterator[str]:
    """Print one line per game and player."""
    for name in names:
        for who in PLAYERS[name]:
            found = measure(name, who, episodes)
            yield (
                f"{name:18} {who:8} {found.mean:9.3f}  [{found.low:.3f}, {found.high:.3f}]"
                f"  n {found.n}  se {found.standard_error:.4f}"
            )


if __name__ == "__main__":
    for line in rows(sys.argv[1:] or list(PLAYERS), EPISODES):
        print(line, flush=True)
