"""`ludens bench vs-bench`: pictures, games and opponents of VS-Bench on a core, beside the released code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

from ludens.bench import Row
from ludens.bench.clock import rate
from ludens.bench.play import through_state
from ludens.core.agent import Ask
from ludens.core.errors import MissingExtra
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.registry import make
from ludens.core.view import RenderOptions, view_of

PICTURES, PONG = 400.0, 200.0
"""Images a second that every game is to reach, and Pong."""

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
"""Milliseconds of CPU that the paper's released code takes for a rendered step."""

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
"""Who is met, predicted or held up as an example."""

_SPRITES = 20
"""Games after which nearly every sprite has been drawn once: what is measured is a run, not its start."""
_OPENINGS = 12
"""How long the longest random beginning is: without one, a player that draws no lots repeats one game."""


def rows(seconds: float) -> Iterator[Row]:
    """Pictures at 512x512 in random play, drawn, encoded, base64'd; unrendered games; opponents' moves."""
    for name, theirs in RELEASED.items():
        game, target = make(name), PONG if name == "pong" else PICTURES
        try:
            game.start(0)
        except MissingExtra as missing:
            yield Row(f"{name}: pictures", None, "images/s", target, note=str(missing))
            continue
        ours = rate(pictures(game), seconds)
        yield Row(f"{name}: pictures", ours, "images/s", target)
        note = f"{theirs:,.0f} ms of CPU a rendered step"
        yield Row(f"{name}: released code", 1000 / theirs, "steps/s", ratio=ours * theirs / 1000, note=note)
        unrendered = rate(through_state(game, games=True), seconds)
        yield Row(f"{name}: random games, unrendered", unrendered, "games/s")
        for bot in OPPONENTS[name]:
            each = thinking(game, bot, seconds)
            yield Row(f"{name}: {bot}", 1 / each, "moves/s", note=f"{1000 * each:.3g} ms a move")


def pictures(game: Game) -> Callable[[int], int]:
    """One random game, in which every seat looks at its newest picture before it acts."""
    view = view_of(game, RenderOptions(), 0)

    def work(seed: int) -> int:
        state, random, looks = game.start(seed), stream(seed, "bench"), 0
        while turn := state.to_act:
            actions = {}
            for seat in turn:
                view.image(state, seat).data_uri()
                looks += 1
                actions[seat] = state.legal(seat).sample(random)
            state.apply(actions)
        return looks

    for seed in range(_SPRITES if game.name != "pong" else 0):
        work(-1 - seed)
    return work


def thinking(game: Game, bot: str, seconds: float) -> float:
    """Seconds of CPU a move of this player, in games with itself that begin with a few random moves."""
    from ludens.agents import agent
    from ludens.suites.vs_bench.samples import run_sync

    view, player = view_of(game, RenderOptions(), 0), agent(bot, game)
    spent, moves, seed = 0.0, 0, 0
    while spent < seconds or not moves:
        state, random = game.start(seed), stream(seed, "bench")
        players = {seat: player.sit(game, seat, random.fork(seat)) for seat in game.seats}
        step = 0
        while (turn := state.to_act) and (spent < seconds or not moves):
            actions = {}
            for seat in turn:
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
