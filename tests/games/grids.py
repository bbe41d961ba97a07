"""What the tests of the three grid dilemmas share: putting things on cells, stepping, measuring bots."""

from __future__ import annotations

import asyncio
from statistics import mean, stdev
from typing import Any

import ludens
from ludens.games.grid import CELLS, GridGame, GridState, name
from ludens.loop import play

CELL = {name(cell): cell for cell in range(CELLS)}


def put(game: str, *cells: str, seed: int = 0, **options: Any) -> GridState:
    """A state with the game's things on these cells, in the order of `things`."""
    made = ludens.make(game, **options)
    assert isinstance(made, GridGame)
    state = made.start(seed)
    assert len(cells) == len(state.cells)
    state.cells = [CELL[cell] for cell in cells]
    return state


def step(state: GridState, red: str, blue: str) -> dict[str, Any]:
    """Apply both actions; what was earned and counted in this step."""
    before, counted = state.returns, dict(state.facts)
    state.apply({"red": red, "blue": blue})
    earned = {seat: state.returns[seat] - before[seat] for seat in before}
    events = {key: state.facts[key] - counted[key] for key in counted if state.facts[key] != counted[key]}
    assert events.pop("steps") == 1
    return {**earned, "events": events}


def places(state: GridState) -> list[str]:
    """Where everything is."""
    return [name(cell) for cell in state.cells]


def measure(game: str, bot: str, episodes: int, **options: Any) -> tuple[float, float]:
    """The mean return a player of a bot against itself, and the standard deviation between episodes."""
    made = ludens.make(game, **options)

    async def all_episodes() -> list[float]:
        players = {seat: ludens.agent(bot, made) for seat in made.seats}
        return [mean((await play(made, players, seed)).returns.values()) for seed in range(episodes)]

    returns = asyncio.run(all_episodes())
    return mean(returns), stdev(returns)
