"""Other libraries doing the same work, where they happen to be installed: tic-tac-toe, random against random.

Each is used as its own documentation shows, through its public environment, with wrappers as it ships them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from ludens.core.random import stream


@dataclass(frozen=True, slots=True)
class Other:
    """Another library: how to import it, how to get it, and a function that makes one that plays a game."""

    module: str
    package: str
    play: Callable[[], Callable[[int], int]]


def installed(module: str) -> bool:
    """Whether the module could be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _pettingzoo() -> Callable[[int], int]:
    from pettingzoo.classic import tictactoe_v3

    env = tictactoe_v3.env()

    def work(seed: int) -> int:
        random = stream(seed, "bench")
        env.reset(seed=seed)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                mask = observation["action_mask"]
                env.step(random.choice([cell for cell in range(9) if mask[cell]]))
        return 1

    return work


def _textarena() -> Callable[[int], int]:
    import textarena

    env = textarena.make("TicTacToe-v0")

    def work(seed: int) -> int:
        random = stream(seed, "bench")
        env.reset(num_players=2, seed=seed)
        free, done = list(range(9)), False
        while not done:
            env.get_observation()
            cell = random.choice(free)
            free.remove(cell)
            done, _ = env.step(action=f"[{cell}]")
        env.close()
        return 1

    return work


OTHERS = {
    "PettingZoo tictactoe_v3": Other("pettingzoo.classic.tictactoe_v3", "pettingzoo[classic]", _pettingzoo),
    "TextArena TicTacToe-v0": Other("textarena", "textarena", _textarena),
}
