"""Measure the anchors: `python -m benchmarks.anchors [GAME ...]` prints random and optimal play.

The figures in `suites/vs_bench/anchors.toml` come from here. Players play themselves, or the opponent the
paper names.
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

_SELF_PLAY = {
    "hanabi": (("player_0", "player_1"), "bot/strong"),
    "overcooked": (("chef_0", "chef_1"), "bot/optimal"),
    "pong": (("player",), "bot/tracker"),
    **dict.fromkeys(("coin_dilemma", "monster_hunt", "battle_of_colors"), (("red", "blue"), "bot/optimal")),
}
"""Seats, and the best player known."""
PLAYERS: dict[str, dict[str, Mapping[str, str]]] = {
    name: {"random": dict.fromkeys(seats, "bot/random"), "optimal": dict.fromkeys(seats, best)}
    for name, (seats, best) in _SELF_PLAY.items()
}
PLAYERS["breakthrough"] = {
    "random": {"black": "bot/random", "white": _DUEL},
    "optimal": {"black": "bot/alphabeta?depth=5", "white": _DUEL},
}


def measure(name: str, player: str, episodes: int = EPISODES) -> Estimate:
    """The mean return of these players; in Breakthrough sides are swapped after every game."""
    game = make(name)
    seating = PLAYERS[name][player]
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
    for name in names:
        for player in PLAYERS[name]:
            score = measure(name, player, episodes)
            yield (
                f"{name:18} {player:8} {score.mean:9.3f}  [{score.low:.3f}, {score.high:.3f}]"
                f"  n {score.n}  se {score.standard_error:.4f}"
            )


if __name__ == "__main__":
    for line in rows(sys.argv[1:] or list(PLAYERS), EPISODES):
        print(line, flush=True)
