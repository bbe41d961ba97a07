"""All games that an agent can get into: it moves as it likes, the others in every possible way."""

from __future__ import annotations

import asyncio
from collections import Counter

from ludens.attempts import attempt
from ludens.core.agent import Agent
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of

CONFIG = PlayConfig(retries=0)


async def outcomes(
    game: Game, agent: Agent, seat: str, *, render: RenderOptions | None = None, seed: int = 0
) -> Counter[str]:
    """How many lines end as `won`, `drawn` and `lost`, or with an `illegal` move of the agent.

    The game must have no chance, and one seat to act at a time.
    """
    view = view_of(game, render or RenderOptions(), 0)
    seated = agent.sit(game, seat, stream(seed, "lines"))

    async def follow(state: State, step: int) -> Counter[str]:
        if state.over:
            earned = state.returns[seat]
            return Counter(["won" if earned > 0 else "lost" if earned < 0 else "drawn"])
        [mover] = state.to_act
        if mover == seat:
            ask = build_ask(view, state, seat, agent.sees, CONFIG, step=step)
            _, action = await attempt(seated, ask, state, CONFIG)
            moves = [] if action is None else [action]
        else:
            moves = list(state.legal(mover))
        if not moves:
            return Counter(["illegal"])
        ends = Counter[str]()
        for part in await asyncio.gather(*(follow(_after(state, mover, move), step + 1) for move in moves)):
            ends += part
        return ends

    return await follow(game.start(0), 0)


def _after(state: State, seat: str, move: str) -> State:
    following = state.clone()
    following.apply({seat: move})
    return following
