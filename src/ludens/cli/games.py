"""`ludens games`: a table of all games, or the description of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from ludens.cli.arguments import Json, game_of
from ludens.cli.output import json_out, table
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.game import Game
    from ludens.core.state import Legal, State

_OPTION_FIELDS = ("help", "low", "high", "choices")


def games(
    name: str | None = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List games, or describe one.

    Args:
        name: Game to describe.
    """
    from ludens.core.registry import GAMES

    if name is not None:
        info = about(game_of(name))
        return json_out(info) if json else _print_game(info)
    listed = [_about(known) for known in GAMES.names()]
    if json:
        return json_out(listed)
    table(
        f"{len(listed)} games",
        ("game", "seats", "play", "options", "summary"),
        [(g["name"], ", ".join(g["seats"]), g["play"], _options(g), g["summary"]) for g in listed],
        spare=("options", "seats", "play"),
    )
    print("Run `ludens games NAME` for details, `ludens show NAME` to see a position.")
    return None


def about(game: Game) -> dict[str, Any]:
    """Description of a game: seats, options, bots, documentation."""
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
            **{
                word: declared.metadata[word]
                for word in _OPTION_FIELDS
                if declared.metadata[word] is not None
            },
        }
        for key, declared in options.items()
    }


def options_table(options: Mapping[str, dict[str, Any]]) -> None:
    """Print options as a table, if there are any."""
    if options:
        rows = [(key, str(each["value"]), _bounds(each), each["help"]) for key, each in options.items()]
        table("\nOptions", ("option", "value", "allowed", "description"), rows)


def kind_of_play(game: Game) -> str:
    """How seats act: `question` (one move), `talk` (messages), `together`, `turns` or `alone`."""
    state = game.start(0)
    legal_actions = [state.legal(seat) for seat in state.to_act]
    if len(legal_actions) == 1 and all(_ends(state, action) for action in _candidates(legal_actions[0])):
        return "question"
    if any(legal.is_text for legal in legal_actions):
        return "talk"
    if len(legal_actions) > 1:
        return "together"
    return "turns" if len(game.seats) > 1 else "alone"


def _candidates(legal: Legal) -> Sequence[str]:
    """Actions to try: a question ends after any of them."""
    return ("",) if legal.is_text else legal


def _ends(state: State, action: str) -> bool:
    after = state.clone()
    after.apply({after.to_act[0]: action})
    return after.over


def _about(name: str) -> dict[str, Any]:
    """Like `about`; a game that fails to load (missing extra, broken plugin) is listed with the error."""
    try:
        return about(game_of(name))
    except Exception as error:
        reason = str(error) or type(error).__name__
        return {"name": name, "seats": [], "play": "", "options": {}, "summary": reason, "error": reason}


def _options(info: dict[str, Any]) -> str:
    return ", ".join(f"{key}={option['value']}" for key, option in info["options"].items())


def _print_game(info: dict[str, Any]) -> None:
    print(f"{info['name']} (version {info['version']}, {info['play']})\n")
    print(harmless(info["page"]))
    options_table(info["options"])
    if info["bots"]:
        print("Bots: " + ", ".join(info["bots"]))


def _bounds(option: dict[str, Any]) -> str:
    if "choices" in option:
        return ", ".join(option["choices"])
    low, high = option.get("low"), option.get("high")
    if low is not None and high is not None:
        return f"{low} to {high}"
    if low is not None:
        return f"at least {low}"
    return "" if high is None else f"at most {high}"
