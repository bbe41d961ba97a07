"""`ludens play GAME`: one game in the terminal between people, bots and models.

Where people play, moves are printed only as far as all seats may know them.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ludens.cli.arguments import (
    GameName,
    Json,
    Options,
    Size,
    Theme,
    Whole,
    Words,
    agents_of,
    game_of,
    render_options,
)
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import aside, counted, indented, json_out, writable

if TYPE_CHECKING:
    from ludens.core.episode import Episode
    from ludens.core.observer import StepEvent
    from ludens.core.state import State
    from ludens.core.view import View

_INDENT = 6
"""Width of the step number in front of moves."""


def play(
    game: GameName,
    /,
    *,
    seat: Words = (),
    option: Options = (),
    seed: Whole = 0,
    theme: Theme = "classic",
    size: Size = 512,
    out: Path | None = None,
    json: Json = False,
) -> int:
    """Play one game in the terminal: people, bots and models. A person can type help, or quit to leave.

    Args:
        seat: SEAT=AGENT; can be repeated. AGENT is human, bot/random, bot/first, bot/alphabeta?depth=3,
            bot/mcts?simulations=100, one of the game's bots (listed by `ludens games NAME`), or a model such
            as openai/gpt-4.1. Other seats are played by bot/random.
        seed: Random seed of the game, bots and fallbacks.
        out: File for the episode, readable by `ludens replay`.
    """
    made = game_of(game, option)
    agents = agents_of(made, seat)
    render = render_options(theme, size)
    if out is not None:
        writable(out)
    from ludens.agents.human import left_message, width_of, wrapped
    from ludens.core.observer import OnStep
    from ludens.core.view import view_of
    from ludens.loop import play as play_one

    if not json:
        players = ", ".join(f"{s} is {agents[s].spec}" for s in made.seats)
        print(f"{made.name}, seed {seed}: {players}", flush=True)
    people = [s for s in made.seats if agents[s].kind == "human"]
    view = view_of(made, render, seed)
    last: list[State] = []

    def hook(event: StepEvent) -> None:
        last[:] = [event.state]
        if not json:
            _print_step(event, view if people else None)

    async def play_and_close() -> Episode:
        try:
            observer = OnStep(hook)
            return await play_one(made, agents, seed, render=render, observer=observer, void_on_error=True)
        finally:
            for player in agents.values():
                await player.close()

    episode = asyncio.run(play_and_close())
    left = episode.status == "void" and episode.error == left_message(episode.culprit)
    for person in people if last and not left and view.has_text else ():
        aside(wrapped(f"\n{view.text(last[0], person)}\n", width_of(sys.stderr)))
    if out is not None:
        out.write_bytes(episode.to_json() + b"\n")
    if json:
        json_out(episode)
    else:
        print(_result(episode, left))
        if out is not None:
            print(f"Episode written to {out}.")
    if episode.status == "void" and not left:
        aside(f"ludens: game aborted by {episode.culprit}: {episode.error}")
        return FAILED
    return DONE


def _print_step(event: StepEvent, public: View | None) -> None:
    """Print the moves of a step; only what is public of them where a view is given."""
    from ludens.agents.human import width_of, wrapped

    moves = []
    for move in event.moves:
        action = public.public_action(event.state, move.seat, move.action) if public else move.action
        mark = "" if move.verdict == "ok" else f" ({move.verdict})"
        name = public.public_name(event.state, move.seat) if public else move.seat
        moves.append(f"{name} {action or '(nothing)'}{mark}")
    width = width_of(sys.stdout)
    text = wrapped(", ".join(moves), width and width - _INDENT)
    print(f"{event.step + 1:4}. {indented(text, _INDENT)}", flush=True)


def _result(episode: Episode, left: bool) -> str:
    scores = ", ".join(f"{seat} {value:g}" for seat, value in episode.returns.items())
    ends = {
        "done": "Finished",
        "horizon": "Stopped at the horizon",
        "forfeit": f"Forfeited by {episode.culprit}",
        "void": "You left the game" if left else "Void",
    }
    steps = counted(len({move.step for move in episode.moves}), "step")
    return f"{ends[episode.status]} after {steps}{scores and f': {scores}'}."
