"""`ludens bench playground`: pictures, questions, samples and opponents of LVLM-Playground, on one core."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from benchmarks import Row, rate
from ludens.core.agent import Agent, Ask
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.view import RenderOptions, View, view_of
from ludens.suites.playground import POSITIONS

PICTURES = 400.0
"""Target of every game, in images per second."""

RELEASED = {
    "tic_tac_toe": 9.0,
    "reversi": 7.5,
    "sudoku": 862.0,
    "minesweeper": 9.0,
    "gomoku": 37.0,
    "chess": 34.0,
}
"""CPU milliseconds per sample of the paper's released code."""

SLOWEST = {"gomoku": 100.0, "chess": 300.0}
"""Targets: milliseconds per move of an opponent."""

_POSITIONS = 24
_PICTURES = 600
"""More than the picture caches hold, so that each picture is drawn and encoded again."""


def rows(seconds: float) -> Iterator[Row]:
    """Pictures (drawn, encoded, base64); questions; positions with their picture; moves of opponents."""
    from ludens.suites.playground import GAMES, OPPONENTS

    for game in GAMES:
        yield Row(f"{game}: pictures", rate(_pictures(game), seconds), "images/s", PICTURES)
    for game in GAMES:
        yield Row(f"{game}: questions with examples", rate(_questions(game), seconds), "questions/s")
    for game, theirs in RELEASED.items():
        ours = rate(_samples(game), seconds)
        yield Row(f"{game}: legal positions with pictures", ours, "samples/s")
        note = f"{theirs:g} ms of CPU per sample"
        yield Row(f"{game}: released code", 1000 / theirs, "samples/s", ratio=ours * theirs / 1000, note=note)
    for game, (seats, bot) in OPPONENTS.items():
        each = 1000 / rate(_moves(game, seats, bot), seconds)
        yield Row(f"{game}: {bot}", each, "ms/move", SLOWEST.get(game))


def _pictures(game: str) -> Callable[[int], int]:
    perceive = make("perceive", board=game)
    view = view_of(perceive, RenderOptions(), 0)
    states = [perceive.start(seed) for seed in range(_PICTURES)]

    def work(seed: int) -> int:
        view.image(states[seed % _PICTURES], "viewer").data_uri()
        return 1

    return work


def _questions(game: str) -> Callable[[int], int]:
    qa = make("qa", board=game)
    view = view_of(qa, RenderOptions(), 0)

    def work(seed: int) -> int:
        view.notes(qa.start(seed), "viewer")
        return 1

    return work


def _samples(game: str) -> Callable[[int], int]:
    rule = make(f"rule?board={game}{POSITIONS['dense'].get(game, '')}")
    view = view_of(rule, RenderOptions(), 0)

    def work(seed: int) -> int:
        view.image(rule.start(seed), "player").data_uri()
        return 1

    return work


def _moves(game: str, seats: tuple[str, str], bot: str) -> Callable[[int], int]:
    """Moves of an opponent in positions of its own games against random play."""
    from ludens.agents import agent

    rules = make(game)
    view = view_of(rules, RenderOptions(), 0)
    player = agent(bot, rules).sit(rules, seats[1], stream(0, "bench"))
    asks = asyncio.run(_asks(player, rules.start(0), view, seats))

    async def batch(start: int) -> None:
        for place in range(4):
            await player.act(asks[(4 * start + place) % len(asks)])

    def work(seed: int) -> int:
        asyncio.run(batch(seed))
        return 4

    return work


async def _asks(player: Agent, state: State, view: View, seats: tuple[str, str]) -> list[Ask]:
    random, asks = stream(0, "bench", "other"), list[Ask]()
    start = state.clone()
    while len(asks) < _POSITIONS:
        if state.over:
            state = start.clone()
        [seat] = state.to_act
        legal = state.legal(seat)
        if seat == seats[1]:
            now = state.clone()
            asks.append(Ask(seat, legal, view.format(now, seat), state=now))
            action = (await player.act(asks[-1])).action
        else:
            action = random.choice(legal)
        assert action is not None
        state.apply({seat: action})
    return asks
