"""`ludens bench nano`: moves of a nano model in numpy and in onnxruntime, with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from statistics import median
from time import process_time

import numpy as np

from benchmarks import Row
from ludens.train.nano.inputs import marks_of
from ludens.train.nano.numpy_player import NumpyNetwork, NumpySpeaker, one_core
from ludens.train.nano.weights import Array, NanoSize

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
        return _median_ms(lambda: reply(tokens, rows), seconds) / rows

    speed = f"a core multiplies matrices at {_speed(random):.0f} GFLOP/s"
    yield Row(f"move of {MOVE} tokens", figure(MOVE), "ms", TARGET, note=speed)
    yield Row(f"the same, {ROWS} at once", figure(MOVE, ROWS), "ms", TARGET)
    yield Row(f"board of {BOARD} tokens", figure(BOARD), "ms")
    if find_spec("onnxruntime") is not None:
        yield from _onnx_rows(weights, picture, seconds)


def _onnx_rows(weights: Mapping[str, Array], picture: Array, seconds: float) -> Iterator[Row]:
    from ludens.train.nano.onnx_player import EQUAL, FAST, OnnxDecoder, OnnxEncoder, OnnxSpeaker

    marks = marks_of(["."] * PIECES)
    for name, rung in (("onnx", EQUAL[0]), ("int8", FAST[0])):
        encoder = OnnxEncoder(SIZE, weights, rung.look)
        decoder = OnnxDecoder(SIZE, weights, marks, rung.speak)

        def reply(encoder: OnnxEncoder = encoder, decoder: OnnxDecoder = decoder) -> None:
            speaker = OnnxSpeaker(decoder, encoder.look(picture))
            for tokens in ([5] * PROMPT, *[[5]] * (MOVE - 1)):
                speaker.take(tokens, 1)

        yield Row(f"move of {MOVE} tokens, {name}", _median_ms(reply, seconds), "ms", TARGET)


def _median_ms(reply: Callable[[], None], seconds: float) -> float:
    """Milliseconds of CPU time: the median of as many replies as there is time for."""
    reply()
    times: list[float] = []
    began = process_time()
    while not times or process_time() - began < seconds:
        start = process_time()
        reply()
        times.append(1000 * (process_time() - start))
    return median(times)


def _speed(random: np.random.Generator) -> float:
    """Thousand millions of operations per second of CPU time, on matrices of this network."""
    a = random.normal(size=(256, 256)).astype(np.float32)
    b = random.normal(size=(256, 1024)).astype(np.float32)
    times = []
    for _ in range(9):
        start = process_time()
        a @ b
        times.append(process_time() - start)
    return 2 * 256 * 256 * 1024 / max(median(times), 1e-6) / 1e9
