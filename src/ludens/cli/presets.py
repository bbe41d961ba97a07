"""`ludens presets`: the difficulties of games, and what simple players earn in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ludens.cli.arguments import Flag, Json, Whole, Words, at_least
from ludens.cli.output import aside, check_writable, json_out, table, write_file
from ludens.core.errors import BadOption, UsageError
from ludens.core.registry import GAMES
from ludens.run.presets import PresetScores, measure, options_text, write_markdown


def presets(
    *games: str,
    only: Annotated[
        Words, Parameter(name="--preset", help="Preset: easy, medium, hard or paper; can be repeated.")
    ] = (),
    measured: Annotated[Flag, Parameter(name="--measure")] = False,
    episodes: Whole = 200,
    seconds: float = 1.0,
    out: Path | None = None,
    json: Json = False,
) -> None:
    """List the presets of games: how hard they are, with scores of simple players.

    A preset is used as GAME?preset=medium, wherever a game is named.

    Args:
        games: The games; all by default.
        measured: Measure what a random, a blind and the best player earn.
        episodes: Episodes of each player and preset.
        seconds: CPU seconds after which a player has played enough of a preset.
        out: Markdown file for the measured table.
    """
    names = [name for name in games or GAMES.names() if GAMES.get(name).presets]
    chosen = [
        (name, preset) for name in names for preset in GAMES.get(name).presets if not only or preset in only
    ]
    if not chosen:
        raise BadOption("no such presets; the usual ones are easy, medium, hard and paper.")
    if out is not None:
        check_writable(out)
    if not measured:
        listed = [(name, preset, GAMES.get(name).presets[preset]) for name, preset in chosen]
        rows = [[name, preset, options_text(each), each.others] for name, preset, each in listed]
        if json:
            json_out([dict(zip(("game", "preset", "options", "others"), row, strict=True)) for row in rows])
        else:
            table("", ["game", "preset", "options", "others"], rows)
        return
    at_least("--episodes", episodes, 4)
    scores, known = list[PresetScores](), dict[tuple[str, str], PresetScores]()
    for name, preset in chosen:
        settings = GAMES.get(name).presets[preset]
        key = name, f"{options_text(settings)} {settings.others}"
        try:
            if key not in known:
                known[key] = measure(name, preset, episodes=episodes, seconds=seconds)
            scores.append(replace(known[key], preset=preset))
        except UsageError as error:
            aside(f"{name}, {preset}: not measured: {error}")
            continue
        aside(
            f"{name}, {preset}: " + ", ".join(f"{who} {s.mean:.2f}" for who, s in scores[-1].scores.items())
        )
    if json:
        json_out(scores)
    elif out is None:
        print(write_markdown(scores), end="")
    if out is not None:
        write_file(out, write_markdown(scores).encode())
