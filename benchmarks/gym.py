"""The PettingZoo adapter next to PettingZoo's own tic-tac-toe and Connect Four."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import Row, rate
from ludens.core.view import RenderOptions
from ludens.games.open_spiel import SpielGame

_THEIRS = "pip install 'ludens[gym]' pygame"


@dataclass(frozen=True)
class ConnectFour(SpielGame):
    """The rules of Connect Four; it is not drawn."""

    name = "connect_four"
    seats = ("red", "yellow")
    spiel_name = "connect_four"
    stable_names = True

    def action_name(self, spiel: Any, player: int, action: int) -> str:
        return f"column {action + 1}"


_DICE: list[int] = np.random.default_rng(0).integers(2**31, size=4096).tolist()


def episodes(env: Any) -> Callable[[int], int]:
    """Work for `rate`: an episode of random play by the mask, counted in steps."""

    def episode(seed: int) -> int:
        env.reset(seed=seed)
        steps = 0
        for _ in env.agent_iter(1000):
            observation, _, termination, truncation, _ = env.last()
            action = None
            if not (termination or truncation):
                legal = np.flatnonzero(observation["action_mask"])
                action = int(legal[_DICE[(31 * seed + steps) % len(_DICE)] % len(legal)])
            env.step(action)
            steps += 1
        return steps

    return episode


def rows(seconds: float, **options: str) -> Iterator[Row]:
    """PettingZoo environments: steps of random play, without and with pictures."""
    try:
        from pettingzoo.classic import connect_four_v3, tictactoe_v3

        from ludens.adapters.pettingzoo import aec_env
    except ImportError:
        yield Row("PettingZoo", None, "steps/s", note=f"not installed: {_THEIRS}")
        return
    for name, game, theirs in (
        ("tic-tac-toe", "tic_tac_toe", tictactoe_v3),
        ("Connect Four", ConnectFour(), connect_four_v3),
    ):
        ours = rate(episodes(aec_env(game, observed="tensor")), seconds)
        wrapped, raw = (rate(episodes(make()), seconds) for make in (theirs.env, theirs.raw_env))
        yield Row(f"{name}: Ludens, tensors", ours, "steps/s", target=wrapped)
        yield Row(f"{name}: PettingZoo", wrapped, "steps/s", ratio=ours / wrapped)
        note = "without the wrappers that check the order of calls"
        yield Row(f"{name}: PettingZoo, raw_env", raw, "steps/s", ratio=ours / raw, note=note)
    render = RenderOptions(size=256)
    for game in ("tic_tac_toe", "chess", "hanabi", "coin_dilemma", "pong"):
        with_pictures = rate(episodes(aec_env(game, render=render)), seconds)
        yield Row(f"{game}: Ludens, pictures of 256 pixels", with_pictures, "steps/s")
