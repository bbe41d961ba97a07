"""`ludens play` and `ludens show`: one game in the terminal between people, bots and models; one position
exactly as a model in one seat would be given it.

Where people play, moves are printed only as far as all seats may know them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ludens.agents.human import left_message, width_of, wrap_text
from ludens.cli.arguments import (
    GameName,
    Json,
    Options,
    Size,
    Theme,
    Whole,
    Words,
    agents_of,
    at_least,
    game_of,
    render_options,
    seat_specs,
)
from ludens.cli.guard import DONE, FAILED
from ludens.cli.output import aside, check_writable, indent, json_out, write_file
from ludens.core.agent import Agent
from ludens.core.ask import Ask, build_ask
from ludens.core.config import PlayConfig, check_seat
from ludens.core.episode import Episode
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.plain import harmless, plural
from ludens.core.replay import wander
from ludens.core.spec import parse_spec
from ludens.core.state import State
from ludens.core.view import Picture, View, view_of
from ludens.draw import Picture as DrawnPicture
from ludens.loop import OnStep, StepEvent
from ludens.loop import play as play_one

_INDENT = 6


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
    this_game = game_of(game, option)
    agents = agents_of(this_game, this_game.seats, seat_specs(this_game, seat, f"{this_game.seats[0]}=human"))
    _warn_of_nano(this_game, agents)
    render = render_options(theme, size)
    if out is not None:
        check_writable(out)
    if not json:
        players = ", ".join(f"{s} is {agents[s].spec}" for s in this_game.seats)
        print(f"{this_game.name}, seed {seed}: {players}", flush=True)
    people = [s for s in this_game.seats if agents[s].kind == "human"]
    view = view_of(this_game, render, seed)
    last: list[State] = []

    def hook(event: StepEvent) -> None:
        last[:] = [event.state]
        if not json:
            _print_step(event, view if people else None)

    async def play_and_close() -> Episode:
        try:
            observer = OnStep(hook)
            return await play_one(
                this_game, agents, seed, render=render, observer=observer, void_on_error=True
            )
        finally:
            for player in agents.values():
                await player.close()

    episode = asyncio.run(play_and_close())
    was_left = episode.status == "void" and episode.error == left_message(episode.culprit)
    for person in people if last and not was_left and view.has_text else ():
        aside(wrap_text(f"\n{view.text(last[0], person)}\n", width_of(sys.stderr)))
    if out is not None:
        out.write_bytes(episode.to_json() + b"\n")
    if json:
        json_out(episode)
    else:
        print(_result(episode, was_left))
        if out is not None:
            print(f"Episode written to {out}.")
    if episode.status == "void" and not was_left:
        aside(f"ludens: game aborted by {episode.culprit}: {episode.error}")
        return FAILED
    return DONE


def _warn_of_nano(game: Game, agents: Mapping[str, Agent]) -> None:
    """The model in the package cannot play every game: whoever seats it is told."""
    if any(parse_spec(player.spec).name == "nano" for player in agents.values()):
        from ludens.train.nano.taught import warning

        if text := warning(game):
            aside(f"ludens: {text}")


def _print_step(event: StepEvent, public: View | None) -> None:
    """Print the moves of a step; only what is public of them where a view is given."""
    moves = []
    for move in event.moves:
        action = move.action
        if public is not None:
            action = public.label(public.public_action(event.state, move.seat, action))
        mark = "" if move.verdict == "ok" else f" ({move.verdict})"
        name = public.public_name(event.state, move.seat) if public else move.seat
        moves.append(f"{name} {action or '(nothing)'}{mark}")
    width = width_of(sys.stdout)
    text = wrap_text(", ".join(moves), width and width - _INDENT)
    print(f"{event.step + 1:4}. {indent(text, _INDENT)}", flush=True)


def _result(episode: Episode, was_left: bool) -> str:
    scores = ", ".join(f"{seat} {value:g}" for seat, value in episode.returns.items())
    ends = {
        "done": "Finished",
        "horizon": "Stopped at the horizon",
        "forfeit": f"Forfeited by {episode.culprit}",
        "void": "You left the game" if was_left else "Void",
    }
    steps = plural(len({move.step for move in episode.moves}), "step")
    return f"{ends[episode.status]} after {steps}{scores and f': {scores}'}."


_JPEG = (".jpg", ".jpeg")
_SUFFIXES = (".png", *_JPEG)


def show(
    game: GameName,
    /,
    *,
    option: Options = (),
    seed: Whole = 0,
    moves: Whole = 0,
    seat: str | None = None,
    theme: Theme = "classic",
    size: Size = 512,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """Show a position as one seat sees it: picture, text twin, rules, legal actions, how to reply.

    Args:
        seed: Fixes the deal and the random moves.
        moves: Random legal moves made before looking.
        seat: Who looks; by default the seat to move.
        out: File for the picture, .png or .jpg.
    """
    this_game = game_of(game, option)
    render = render_options(theme, size)
    at_least("--moves", moves, 0)
    if seat is not None:
        check_seat(this_game, seat)
    if out is not None:
        if out.suffix.lower() not in _SUFFIXES:
            raise BadOption(f"--out must end in .png or .jpg, not {out.name!r}.")
        check_writable(out)
    state, actions = wander(this_game, seed, moves)
    looker = seat or (state.to_act or this_game.seats)[0]
    ask = build_ask(view_of(this_game, render, seed), state, looker, "both", PlayConfig())
    pictures = ask.observation.images
    files = _write_pictures(pictures, out) if out is not None else [None] * len(pictures)
    position = {
        "game": this_game.name,
        "version": this_game.version,
        "options": this_game.options,
        "seed": seed,
        "moves": actions,
        "to_act": state.to_act,
        "returns": state.returns,
        "seat": looker,
        "theme": theme,
        "pictures": [
            {"hash": p.hash, "width": p.width, "height": p.height, "file": f and str(f)}
            for p, f in zip(pictures, files, strict=True)
        ],
        "rules": ask.rules,
        "role": ask.role,
        "stage": ask.stage,
        "text": ask.observation.text,
        "notes": ask.observation.notes,
        **_reply(ask, looker in state.to_act),
    }
    if json:
        json_out(position)
    else:
        _print_position(position, moves)


def _reply(ask: Ask, acts: bool) -> dict[str, Any]:
    if not acts:
        return {"legal": [], "reply": ""}
    legal = {"text_up_to": ask.legal.text_limit} if ask.legal.is_text else list(ask.legal)
    return {"legal": legal, "reply": ask.format.ask(ask.legal)}


def _write_pictures(pictures: Sequence[Picture], out: Path) -> list[Path | None]:
    """The first picture into the file asked for, further ones beside it with a number."""
    files = [out] + [out.with_stem(f"{out.stem}-{number}") for number in range(2, len(pictures) + 1)]
    for picture, file in zip(pictures, files, strict=True):
        data = picture.png()
        if file.suffix.lower() in _JPEG:
            data = DrawnPicture.from_bytes(data).jpeg()
        write_file(file, data)
    return list(files)


def _print_position(position: dict[str, Any], random_moves: int) -> None:
    moves, turn, legal = position["moves"], position["to_act"], position["legal"]
    when = f"after {plural(len(moves), 'random move')}" if random_moves else "at the start"
    if len(moves) < random_moves:
        when = f"over after {len(moves)} of {random_moves} random moves"
    print(f"{position['game']}, seed {position['seed']}, {when}, seen by {position['seat']}")
    for number, actions in enumerate(moves, start=1):
        words = [f"{seat} {indent(action, 5) or '(nothing)'}" for seat, action in actions.items()]
        print(f"  {number}. {', '.join(words)}")
    if not turn:
        scores = ", ".join(f"{seat} {value:g}" for seat, value in position["returns"].items())
        may = f"none: the game is over, with {scores}"
    elif position["seat"] not in turn:
        may = f"none: {' and '.join(turn)} must move"
    elif isinstance(legal, dict):
        may = f"any text up to {legal['text_up_to']} characters"
    else:
        may = (", " if any(" " in action for action in legal) else " ").join(legal)
    for title, text in (
        ("Rules", position["rules"]),
        ("Text twin", position["text"]),
        ("Notes", position["notes"]),
        ("Legal actions", may),
        ("Reply", position["reply"]),
    ):
        if text:
            print(f"\n== {title}\n{harmless(text)}")
    print("\n== Picture")
    for picture in position["pictures"]:
        where = picture["file"] or "not written; --out FILE.png writes it"
        print(f"{picture['width']}x{picture['height']}, hash {picture['hash']}: {where}")
