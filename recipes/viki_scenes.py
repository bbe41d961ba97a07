"""Makes the scenes of `viki/team` in advance, as `ludens prepare` makes those of the other games of VIKI.

A game of the team has a scene with as many robots as it has seats. It is found by drawing scenes by seeds far
apart, which takes about a second. Each scene is kept in a file of its own, beside those of `ludens prepare`.

    python recipes/viki_scenes.py --split train --seed 2000000 --seeds 1600 --processes 16
"""

from __future__ import annotations

import argparse
import zlib
from functools import partial

import orjson

from ludens.core.files import write_atomically
from ludens.core.processes import run_in_processes
from ludens.core.random import stream
from ludens.games.viki import generate
from ludens.games.viki.closed_loop import Team
from ludens.games.viki.sources import setup_of
from ludens.train.demonstrations import FIRST_SEED


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the scenes of viki/team in advance.")
    parser.add_argument("--split", default="train", choices=generate.SPLITS)
    parser.add_argument("--robots", type=int, default=2, choices=(2, 3, 4))
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="first seed of the game")
    parser.add_argument("--seeds", type=int, default=1600, help="number of seeds of the game")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    if options.seed < 0 or min(options.seeds, options.processes) < 1:
        parser.error("--seeds and --processes must be at least 1, and --seed at least 0.")
    seeds = range(options.seed, options.seed + options.seeds)
    keep = partial(keep_scenes, options.split, options.robots)
    made = sum(count for _, count in run_in_processes(keep, seeds, options.processes, ordered=False))
    print(f"{made} scenes were made for {len(seeds)} games.")


def keep_scenes(split: str, robots: int, seed: int) -> int:
    """Keep the scenes that a game draws until one fits; returns how many were made."""
    made, number = 0, 0
    while True:
        # As `Team.start` draws them: a test compares.
        one = stream(seed, "team", number).bits() >> 16
        file = generate._file("generate", split, one // generate.BLOCK)
        kept = file.exists()
        setup = setup_of(Team.name, "map", split, "", "", one)
        if not kept:
            rows: list[dict[str, object] | None] = [None] * generate.BLOCK
            rows[one % generate.BLOCK] = {"seed": setup.seed, "scene": setup.scene.to_json()}
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, zlib.compress(orjson.dumps(rows)))
            made += 1
        if len(setup.scene.robots) == robots:
            return made
        number += 1


if __name__ == "__main__":
    main()
