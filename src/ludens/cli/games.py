"""`ludens games`: what can be played, as a table; with a name, everything about one game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ludens.cli.given import Json, game_of
from ludens.cli.out import json_out, table
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.game import Game
    from ludens.core.state import Legal, State

_TOLD = ("help", "low", "high", "choices")


def games(
    name: Annotated[str | None, Parameter(help="One game, to read everything about it.")] = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List what can be played; with a name, say everything about one game."""
    from ludens.core.registry import GAMES

    if name is not None:
        told = about(game_of(name))
        return json_out(told) if json else _page(told)
    listed = [_about(known) for known in GAMES.names()]
    if json:
        return json_out(listed)
    table(
        f"{len(listed)} games",
        ("game", "seats", "play", "options", "summary"),
        [(g["name"], ", ".join(g["seats"]), g["play"], _options(g), g["summary"]) for g in listed],
        spare=("options", "seats", "play"),
    )
    print("`ludens games NAME` tells more about one, `ludens show NAME` draws it.")
    return None


def about(game: Game) -> dict[str, Any]:
    """What there is to know about a game before playing it."""
    from ludens.core.options import options_of

    return {
        "name": game.name,
        "version": game.version,
        "seats": list(game.seats),
        "play": kind_of_play(game),
        "options": described(options_of(type(game)), game.options),
        "bots": [f"bot/{bot}" for bot in game.bots],
        "summary": game.summary,
        "page": cleandoc(type(game).__doc__ or ""),
    }


def described(options: Mapping[str, Field[Any]], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Options as plain values: what each is set to, and what its declaration says."""
    return {
        key: {
            "value": values.get(key, declared.default),
            **{word: declared.metadata[word] for word in _TOLD if declared.metadata[word] is not None},
        }
        for key, declared in options.items()
    }


def options_table(options: Mapping[str, dict[str, Any]]) -> None:
    """Print options as a table, if there are any."""
    if options:
        rows = [(key, str(each["value"]), _bounds(each), each["help"]) for key, each in options.items()]
        table("\nOptions", ("option", "value", "allowed", "what it is"), rows)


def kind_of_play(game: Game) -> str:
    """How seats act: `question` (one move), `talk` (messages), `together`, `turns`, or `alone`."""
    state = game.start(0)
    said = [state.legal(seat) for seat in state.to_act]
    if len(said) == 1 and all(_ends(state, action) for action in _some(said[0])):
        return "question"
    if any(legal.is_text for legal in said):
        return "talk"
    if len(said) > 1:
        return "together"
    return "turns" if len(game.seats) > 1 else "alone"


def _some(legal: Legal) -> Sequence[str]:
    """What to try: the game of one move is over whatever is done, others only after a blunder."""
    return ("",) if legal.is_text else legal


def _ends(state: State, action: str) -> bool:
    after = state.clone()
    after.apply({after.to_act[0]: action})
    return after.over


def _about(name: str) -> dict[str, Any]:
    """A game that cannot be loaded (an extra is missing, a plugin is broken) is listed with the reason."""
    try:
        return about(game_of(name))
    except Exception as error:
        reason = str(error) or type(error).__name__
        return {"name": name, "seats": [], "play": "", "options": {}, "summary": reason, "error": reason}


def _options(told: dict[str, Any]) -> str:
    return ", ".join(f"{key}={option['value']}" for key, option in told["options"].items())


def _page(told: dict[str, Any]) -> None:
    print(f"{told['name']} (version {told['version']}, {told['play']})\n")
    print(harmless(told["page"]))
    options_table(told["options"])
    if told["bots"]:
        print("Bots of its own: " + ", ".join(told["bots"]))


def _bounds(option: dict[str, Any]) -> str:
    if "choices" in option:
        return ", ".join(option["choices"])
    low, high = option.get("low"), option.get("high")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "" if high is None else f"at most {high}"
