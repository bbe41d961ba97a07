"""A map of all games for a small model: what it earns in each, beside blind, random and best players, and how
often its first reply is legal. The browser and `ludens play` offer nano, or warn of it, by the data file.

    python recipes/nano_map.py nano --data src/ludens/train/nano/games.json --table nano-games.md
    python recipes/nano_map.py nano/my-nano --games chess 'breakthrough?rows=6&columns=5' --episodes 10
    python recipes/nano_map.py nano/my-nano --processes 5 --device numpy

A stopped run continues: games that are in the data file are not played again, as long as the weights are the
same.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from os import environ
from pathlib import Path
from time import perf_counter

from ludens.core.errors import LudensError
from ludens.core.spec import parse_spec
from ludens.run.ability import PLAYER, AbilityMap, measure_ability, measure_all, usual_games
from ludens.train.nano.player import SHIPPED
from ludens.train.nano.taught import GAMES_FILE, fingerprint


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a small model in every game.")
    parser.add_argument("model", help="nano, or nano/FOLDER")
    parser.add_argument("--games", nargs="+", help="specs of games; all with their usual options by default")
    parser.add_argument("--episodes", type=int, default=20, help="of each player in each game")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds of the model per game")
    parser.add_argument("--device", default="int8", help="on which the model runs; int8 is the fastest")
    parser.add_argument("--processes", type=int, default=1, help="that measure a game each, on one core")
    parser.add_argument("--data", type=Path, default=Path(GAMES_FILE.name), help="the map as data")
    parser.add_argument("--table", type=Path, help="the map as Markdown; printed by default")
    asked = parser.parse_args()
    if asked.processes < 1:
        parser.error("--processes must be at least 1.")
    try:
        print(measured(asked) if asked.table is None else f"Written to {measured(asked)}.")
    except LudensError as error:
        parser.error(str(error))


def measured(asked: argparse.Namespace) -> str:
    rest = parse_spec(asked.model).rest
    start = AbilityMap(asked.model, fingerprint(Path(rest) if rest else SHIPPED))
    if asked.data.exists():
        kept = AbilityMap.read(asked.data)
        if kept.fingerprint == start.fingerprint:
            start = kept.called(asked.model)
    fast = f"{asked.model}{'&' if '?' in asked.model else '?'}device={asked.device}"
    player, control = fast, f"{fast}&blind=true"
    limits = {"episodes": asked.episodes, "seconds": asked.seconds}
    found, began = start, perf_counter()
    games = [*(asked.games or usual_games())]
    if asked.processes > 1:
        games.sort(key=moves_before(), reverse=True)
        for library in ("OMP", "OPENBLAS", "MKL"):
            environ.setdefault(f"{library}_NUM_THREADS", "1")
    measure = partial(measure_ability, player=player, control=control, **limits)
    steps = measure_all(start, games, measure, asked.processes)
    for spec, step in steps:
        if isinstance(step, AbilityMap):
            found = step
            found.write(asked.data)
            print(f"{perf_counter() - began:6.0f} s  {spec}", flush=True)
        else:
            print(f"{spec} is left out: {step}", flush=True)
    if asked.table is None:
        return found.markdown()
    asked.table.write_text(found.markdown(), encoding="utf-8")
    return str(asked.table)


def moves_before() -> Callable[[str], float]:
    """Of a game, the moves of an episode in the map of the package: long games begin first."""
    games = AbilityMap.read(GAMES_FILE).games if GAMES_FILE.exists() else ()
    moves = {row.spec: row.moves / row.scores[PLAYER].episodes for row in games}
    return lambda spec: moves.get(spec, 0.0)


if __name__ == "__main__":
    main()
