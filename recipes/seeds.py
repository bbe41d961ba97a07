"""Train one recipe of self-play with several seeds, and print what all runs reached in one table.

    python recipes/seeds.py recipes/spy-flat-past-votes.toml --seeds 51 52 53 --at-once 3

The run of a seed and what it says are in `training/seeds/NAME/SEED` and `SEED.log`. A stopped command goes on
when it is repeated; with `--table` it trains nothing. Other arguments go to every `ludens train`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import orjson

from ludens.run.stats import mean
from ludens.train.loop import JUDGED
from ludens.train.monitor import MEASUREMENTS

WON, BLIND = "won", "blind won"
ENDS = (f"{WON} low", f"{WON} high")

Measured = Mapping[str, float]


class SeedRun(NamedTuple):
    """Evaluations of one run."""

    seed: int
    start: Measured
    last: Measured
    judged: Measured


def train(command: Sequence[str], folder: Path, seed: int) -> bool:
    """Whether the run of this seed came to its end."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [*command, "--out", str(folder / str(seed)), "--set", f"run.seed={seed}"]
    log = folder / f"{seed}.log"
    with log.open("ab") as file:
        code = subprocess.run(words, stdout=file, stderr=file, check=False).returncode
    print(f"seed {seed}: " + (f"stopped with exit code {code}, see {log}" if code else "done"), flush=True)
    return code == 0


def train_all(command: Sequence[str], folder: Path, seeds: Sequence[int], at_once: int) -> bool:
    """Whether all runs came to their ends. Ctrl-C ends those that go on, which hear it too."""
    with ThreadPoolExecutor(at_once) as pool:
        runs = [pool.submit(train, command, folder, seed) for seed in seeds]
        try:
            return all(run.result() for run in runs)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def read(folder: Path, seed: int) -> SeedRun | None:
    """The run of a seed; None where nothing was evaluated."""
    file, judged = folder / str(seed) / MEASUREMENTS, folder / str(seed) / JUDGED
    lines = file.read_bytes().splitlines() if file.exists() else []
    evaluated = [measures for line in lines if WON in (measures := orjson.loads(line))]
    if not evaluated:
        return None
    return SeedRun(
        seed, evaluated[0], evaluated[-1], orjson.loads(judged.read_bytes()) if judged.exists() else {}
    )


def cells(run: SeedRun, roles: Sequence[str]) -> Iterator[str]:
    yield str(run.seed)
    yield percent(run.start[WON])
    yield f"{run.last['iteration']:.0f}"
    for measures in (run.last, run.judged):
        ends = [percent(measures[end]) for end in ENDS if end in measures]
        yield f"{percent(measures.get(WON))}{f' [{ends[0]}, {ends[1]}]' if len(ends) == 2 else ''}"
        for role in roles:
            yield change(run.start.get(role), measures.get(role))
        yield change(run.start.get(BLIND), measures.get(BLIND))


def percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def change(before: float | None, after: float | None) -> str:
    return (
        "–"
        if after is None
        else percent(after)
        if before is None
        else f"{percent(before)} to {percent(after)}"
    )


def table(runs: Sequence[SeedRun]) -> str:
    """Markdown: one row for each seed, and the mean of seeds with the 95% interval of it."""
    names = [name for name in runs[0].start if name.startswith(f"{WON} ") and name not in ENDS]
    measures = [WON, *[name.removeprefix(f"{WON} ") for name in names], "blind"]
    head = ["seed", "start", "iterations", *measures, *[f"judged: {name}" for name in measures]]
    rows = [head, ["---"] * len(head), *[[*cells(run, names)] for run in runs]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def means(runs: Sequence[SeedRun]) -> Iterator[str]:
    for name, shares in (
        ("after the last iteration", [run.last[WON] for run in runs]),
        ("judged on held-back seeds", [run.judged[WON] for run in runs if WON in run.judged]),
    ):
        if len(shares) > 1:
            estimate = mean(shares)
            interval = f"[{percent(estimate.low)}, {percent(estimate.high)}]"
            yield f"won {name}, mean of {len(shares)} seeds: {percent(estimate.mean)} {interval}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Train a recipe of self-play with several seeds.")
    parser.add_argument("recipe")
    parser.add_argument("--seeds", type=int, nargs="+", required=True)
    parser.add_argument("--at-once", type=int, default=1, help="runs that share the machine")
    parser.add_argument("--out", type=Path, help="folder of the runs (default training/seeds/NAME)")
    parser.add_argument(
        "--table", action="store_true", help="train nothing, print the table of what there is"
    )
    arguments, options = parser.parse_known_args()
    folder: Path = arguments.out or Path("training/seeds") / Path(arguments.recipe).stem
    command = [sys.executable, "-m", "ludens", "train", arguments.recipe, *options]
    try:
        complete = arguments.table or train_all(command, folder, arguments.seeds, max(arguments.at_once, 1))
    except KeyboardInterrupt:
        return 130
    runs = [run for seed in arguments.seeds if (run := read(folder, seed)) is not None]
    if not runs:
        parser.error(f"no run in {folder} was evaluated: the recipe needs `against` in [monitor].")
    print(table(runs))
    for line in means(runs):
        print(line)
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
