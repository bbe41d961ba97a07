"""`ludens bench nano`: moves of a nano model in numpy, with random weights."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import process_time

import numpy as np

from benchmarks import Row
from ludens.train.nano.inputs import marks_of
from ludens.train.nano.numpy_player import NumpyNetwork, NumpySpeaker, one_core
from ludens.train.nano.weights import NanoSize

SIZE = NanoSize(width=256, heads=4, encoder=6, decoder=4, side=256, longest=256)
PIECES, PROMPT = 512, 12
MOVE, BOARD = 6, 90
"""Tokens of the reply: a move, and a board of nine by nine."""
ROWS = 8
TARGET = 60.0


def rows(seconds: float) -> Iterator[Row]:
    """CPU time of one reply to a new picture, on one core."""
    with one_core():
        yield from _rows(seconds)


def _rows(seconds: float) -> Iterator[Row]:
    random = np.random.default_rng(0)
    shapes = SIZE.shapes(PIECES)
    weights = {name: random.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    network = NumpyNetwork(SIZE, weights, marks_of(["."] * PIECES))
    picture = random.integers(0, 256, (3, SIZE.side, SIZE.side), np.uint8)

    def reply(tokens: int, rows: int = 1) -> None:
        looks = [network.look(picture) for _ in range(rows)]
        speaker = NumpySpeaker(network, looks, [[5] * PROMPT] * rows, tokens)
        for _ in range(tokens - 1):
            speaker.say([5] * rows)

    def figure(tokens: int, rows: int = 1) -> float:
        """Milliseconds of CPU time per reply: the median of as many as there is time for."""
        reply(1)
        found: list[float] = []
        began = process_time()
        while not found or process_time() - began < seconds:
            start = process_time()
            reply(tokens, rows)
            found.append(1000 * (process_time() - start) / rows)
        return median(found)

    speed = f"a core multiplies matrices at {_speed(random):.0f} GFLOP/s"
    yield Row(f"move of {MOVE} tokens", figure(MOVE), "ms", TARGET, note=speed)
    yield Row(f"the same, {ROWS} at once", figure(MOVE, ROWS), "ms", TARGET)
    yield Row(f"board of {BOARD} tokens", figure(BOARD), "ms")


def _speed(random: np.random.Generator) -> float:
    """Thousand millions of operations per second of CPU time, on matrices of this network."""
    a = random.normal(size=(256, 256)).astype(np.float32)
    b = random.normal(size=(256, 1024)).astype(np.float32)
    found = []
    for _ in range(9):
        start = process_time()
        a @ b
        found.append(process_time() - start)
    return 2 * 256 * 256 * 1024 / max(median(found), 1e-6) / 1e9
