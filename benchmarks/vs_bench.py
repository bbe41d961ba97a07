"""`ludens bench vs-bench`: pictures, games and bots of VS-Bench on one core, next to the released code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

from benchmarks import Row, rate
from benchmarks.play import through_state
from ludens.core.agent import Ask
from ludens.core.errors import MissingExtra
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of

PICTURES, PONG = 400.0, 200.0
"""Targets in images per second: of every game, and of Pong."""

RELEASED = {
    "overcooked": 3800.0,
    "breakthrough": 2070.0,
    "hanabi": 1300.0,
    "kuhn_poker": 693.0,
    "battle_of_colors": 191.0,
    "monster_hunt": 161.0,
    "coin_dilemma": 155.0,
    "tic_tac_toe": 142.0,
    "pong": 20.0,
}
"""CPU milliseconds per rendered step of the paper's released code."""

OPPONENTS = {
    "breakthrough": ("bot/mcts", "bot/alphabeta?depth=5"),
    "hanabi": ("bot/strong",),
    "overcooked": ("bot/planner",),
    "kuhn_poker": ("bot/equilibrium",),
    "coin_dilemma": ("bot/optimal",),
    "monster_hunt": ("bot/optimal",),
    "battle_of_colors": ("bot/optimal",),
    "tic_tac_toe": ("bot/mcts",),
    "pong": ("bot/tracker",),
}
"""The bots that the suite uses as opponents, as prediction targets or as upper bounds."""

_SPRITES = 20
"""Warm-up games, after which nearly every sprite is cached."""
_OPENINGS = 12
"""Largest number of random opening moves: without them a deterministic bot repeats one game."""


def rows(seconds: float) -> Iterator[Row]:
    """Pictures at 512x512 in random play (drawn, encoded, base64); unrendered games; moves of bots."""
    for name, theirs in RELEASED.items():
        game, target = make(name), PONG if name == "pong" else PICTURES
        try:
            game.start(0)
        except MissingExtra as missing:
            yield Row(f"{name}: pictures", None, "images/s", target, note=str(missing))
            continue
        ours = rate(pictures(game), seconds)
        yield Row(f"{name}: pictures", ours, "images/s", target)
        note = f"{theirs:,.0f} ms of CPU per rendered step"
        yield Row(f"{name}: released code", 1000 / theirs, "steps/s", ratio=ours * theirs / 1000, note=note)
        unrendered = rate(through_state(game, games=True), seconds)
        yield Row(f"{name}: random games, unrendered", unrendered, "games/s")
        for bot in OPPONENTS[name]:
            each = thinking(game, bot, seconds)
            yield Row(f"{name}: {bot}", 1 / each, "moves/s", note=f"{1000 * each:.3g} ms per move")


def pictures(game: Game) -> Callable[[int], int]:
    """One random game in which every seat is shown its picture before it acts; counts pictures."""
    view = view_of(game, RenderOptions(), 0)

    def work(seed: int) -> int:
        state, random, looks = game.start(seed), stream(seed, "bench"), 0
        while to_act := state.to_act:
            actions = {}
            for seat in to_act:
                view.image(state, seat).data_uri()
                looks += 1
                actions[seat] = state.legal(seat).sample(random)
            state.apply(actions)
        return looks

    for seed in range(_SPRITES if game.name != "pong" else 0):
        work(-1 - seed)
    return work


def thinking(game: Game, bot: str, seconds: float) -> float:
    """CPU seconds per move of this bot, in games against itself after a few random moves."""
    from ludens.agents import agent
    from ludens.core.sync import run_sync

    view, player = view_of(game, RenderOptions(), 0), agent(bot, game)
    spent, moves, seed = 0.0, 0, 0
    while spent < seconds or not moves:
        state, random = game.start(seed), stream(seed, "bench")
        players = {seat: player.sit(game, seat, random.fork(seat)) for seat in game.seats}
        step = 0
        while (to_act := state.to_act) and (spent < seconds or not moves):
            actions = {}
            for seat in to_act:
                legal = state.legal(seat)
                if step < seed % _OPENINGS:
                    actions[seat] = legal.sample(random)
                    continue
                begun = process_time()
                reply = run_sync(players[seat].act(Ask(seat, legal, view.format(state, seat), state=state)))
                spent += process_time() - begun
                moves += 1
                actions[seat] = reply.action or ""
            state.apply(actions)
            step += 1
        seed += 1
    return spent / moves
