"""`ludens agents`: a table of all bots and the games they can play, or the description of one."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from ludens.cli.arguments import Json
from ludens.cli.output import json_out, table
from ludens.core.errors import UnknownName, UsageError
from ludens.core.plain import harmless

if TYPE_CHECKING:
    from ludens.core.agent import Agent
    from ludens.core.game import Game


def agents(
    name: str | None = None,
    /,
    *,
    json: Json = False,
) -> None:
    """List bots and the games they can play, or describe one.

    Args:
        name: Bot to describe: its name, or module:Class.
    """
    from ludens.agents import BEST, import_agent

    if name is not None:
        import_agent(name)
    games = _games()
    names = _names(games)
    if name is not None and name not in names:
        raise UnknownName("bot", name, names)
    found = [info for each in names if name in (None, each) for info in about(each, games)]
    if json:
        return json_out(found)
    if name is not None:
        return _print_agents(found)
    table(
        f"{len(found)} bots",
        ("bot", "sees", "options", "games", "summary"),
        [(a["name"], a["sees"], _options(a), _playable(a, len(games)), a["summary"]) for a in found],
        spare=("options", "sees"),
    )
    print(f"Run `ludens agents NAME` for details. {BEST} is the strongest bot of a game.")
    return None


def _games() -> dict[str, Game]:
    """Every game that can be loaded."""
    from ludens.core.registry import GAMES, make

    made = {}
    for name in GAMES.names():
        try:
            made[name] = make(name)
        except Exception:  # a broken plugin: `ludens games` shows the error
            continue
    return made


def _names(games: Mapping[str, Game]) -> list[str]:
    from ludens.agents import AGENTS

    own = {f"bot/{bot}" for game in games.values() for bot in game.bots}
    return sorted({*AGENTS.names(), *own} - {"human"})


def about(name: str, games: Mapping[str, Game]) -> list[dict[str, Any]]:
    """Descriptions of a bot, one per class: games may have different bots of the same name."""
    from ludens.cli.games import described
    from ludens.core.options import option_values, options_of

    found: dict[type, dict[str, Any]] = {}
    refused: dict[str, str] = {}
    for game_name, game in games.items():
        try:
            bot = _seated(name, game)
        except UsageError as error:
            refused[game_name] = str(error)
            continue
        info = found.setdefault(
            type(bot),
            {
                "name": name,
                "sees": bot.sees,
                "options": described(options_of(type(bot)), option_values(bot)),
                "summary": cleandoc(type(bot).__doc__ or "").partition("\n")[0],
                "games": [],
                "refused": refused,
            },
        )
        info["games"].append(game_name)
    if found:
        return list(found.values())
    reason = next(iter(refused.values()), "there are no games.")
    return [{"name": name, "sees": "", "options": {}, "summary": reason, "games": [], "refused": refused}]


def _seated(name: str, game: Game) -> Agent:
    """The bot in the first seat of a game; raises a `UsageError` if it cannot play in every seat."""
    from ludens.agents import agent
    from ludens.core.random import stream

    made = agent(name, game)
    first, *_ = [made.sit(game, seat, stream(0, "agents")) for seat in game.seats]
    return first


def _options(info: dict[str, Any]) -> str:
    return ", ".join(f"{key}={option['value']}" for key, option in info["options"].items())


def _playable(info: dict[str, Any], total: int) -> str:
    games = info["games"]
    if len(games) == total:
        return "all"
    return ", ".join(games) if len(games) <= 6 else f"{len(games)} of {total}"


def _print_agents(found: list[dict[str, Any]]) -> None:
    from ludens.cli.games import options_table

    for info in found:
        print(f"{info['name']} (sees: {info['sees'] or 'unknown'})\n")
        print(harmless(info["summary"]))
        options_table(info["options"])
        print("Plays: " + (", ".join(info["games"]) or "no game"))
        print()
