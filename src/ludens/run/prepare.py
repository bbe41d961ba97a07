"""Making in advance, on all cores, what the starts of a game take long for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import monotonic

from ludens.core.cores import cores
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.registry import make

CHUNK = 100
"""Seeds of one task of a worker; games that keep blocks of seeds keep blocks of this size."""


def prepare(spec: str, seeds: range, workers: int = 0, say: Callable[[str], None] = print) -> None:
    """Prepare a game for consecutive seeds; what is there already is not made again.

    Args:
        spec: Of the game.
        seeds: Without gaps.
        workers: Processes; 0 for all cores.
        say: Told about progress, one line at a time.
    """
    game = make(spec)
    if type(game).prepare is Game.prepare:
        raise BadOption(f"{game.name} starts fast: there is nothing to prepare.")
    starts = range(seeds.start - seeds.start % CHUNK, seeds.stop, CHUNK)
    processes = min(workers or cores(), len(starts))
    began = said = monotonic()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        waiting = [pool.submit(_chunk, spec, range(start, start + CHUNK)) for start in starts]
        for number, done in enumerate(as_completed(waiting), 1):
            done.result()
            if monotonic() - said > 10 or number == len(starts):
                said = monotonic()
                left = (said - began) / number * (len(starts) - number) / 60
                counts = f"{number * CHUNK:,} of {len(starts) * CHUNK:,} seeds"
                say(f"{spec}: {counts}, {left:.1f} minutes left")


def _chunk(spec: str, seeds: range) -> None:
    make(spec).prepare(seeds)
