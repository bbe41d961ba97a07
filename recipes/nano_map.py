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
    options = parser.parse_args()
    if options.processes < 1:
        parser.error("--processes must be at least 1.")
    try:
        print(measure_games(options) if options.table is None else f"Written to {measure_games(options)}.")
    except LudensError as error:
        parser.error(str(error))


def measure_games(options: argparse.Namespace) -> str:
    rest = parse_spec(options.model).rest
    start = AbilityMap(options.model, fingerprint(Path(rest) if rest else SHIPPED))
    if options.data.exists():
        old = AbilityMap.read(options.data)
        if old.fingerprint == start.fingerprint:
            start = old.called(options.model)
    fast = f"{options.model}{'&' if '?' in options.model else '?'}device={options.device}"
    player, control = fast, f"{fast}&blind=true"
    limits = {"episodes": options.episodes, "seconds": options.seconds}
    ability_map, began = start, perf_counter()
    games = [*(options.games or usual_games())]
    if options.processes > 1:
        games.sort(key=moves_before(), reverse=True)
        for library in ("OMP", "OPENBLAS", "MKL"):
            environ.setdefault(f"{library}_NUM_THREADS", "1")
    measure = partial(measure_ability, player=player, control=control, **limits)
    steps = measure_all(start, games, measure, options.processes)
    for spec, step in steps:
        if isinstance(step, AbilityMap):
            ability_map = step
            ability_map.write(options.data)
            print(f"{perf_counter() - began:6.0f} s  {spec}", flush=True)
        else:
            print(f"{spec} is left out: {step}", flush=True)
    if options.table is None:
        return ability_map.markdown()
    options.table.write_text(ability_map.markdown(), encoding="utf-8")
    return str(options.table)


def moves_before() -> Callable[[str], float]:
    """Of a game, the moves of an episode in the map of the package: long games begin first."""
    games = AbilityMap.read(GAMES_FILE).games if GAMES_FILE.exists() else ()
    moves = {row.spec: row.moves / row.scores[PLAYER].episodes for row in games}
    return lambda spec: moves.get(spec, 0.0)


if __name__ == "__main__":
    main()
