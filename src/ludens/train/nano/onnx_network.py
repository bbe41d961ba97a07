"""The network of a small model as graphs for onnxruntime, which multiply whole numbers.

Weights have one byte and stay exact. What meets them is rounded to 8 bits: once; twice, the second time what
the first has lost; or three times, which is as exact as float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache, reduce
from platform import machine
from typing import Any, NamedTuple

import numpy as np

from ludens.train.nano.numpy_player import patch_places
from ludens.train.nano.onnx_graph import CONTRIBUTED, FLOAT16, FLOAT32, Graph
from ludens.train.nano.weights import SHARPNESS, STRIDE, Array, NanoSize, rounded

BLOCKS = (256, 128, 64, 32, 16)
"""How many activations may share a scale where each row has its own."""
CELL = 4
"""Pixels per side of what the first layer sees."""
OPPONENT = np.array([[2 / 3, 2 / 3, 2 / 3], [2, -2, 0], [-1, -1, 2]]) / 127.5
"""From bytes to lightness and two differences of colours, as `numpy_player.opponent` has them."""
PARTS = ("keys", "values")
MIDDLE = 128
"""The byte that stands for zero in rests, and in weights that have no sign."""


class Precision(Enum):
    """How often activations are rounded where they meet a weight."""

    ONCE = 1
    TWICE = 2
    THRICE = 3


def bytes_of(numbers: Array) -> Array:
    return (numbers.astype(np.int16) + MIDDLE).astype(np.uint8)


class _Rounded(NamedTuple):
    """Activations as whole numbers, with their scale and what stands for zero."""

    numbers: str
    scale: str
    zero: str


class _Builder:
    """Layers of the network in one graph.

    Args:
        few: Whether they get few rows at a time.
    """

    def __init__(self, size: NanoSize, weights: Mapping[str, Array], few: bool = False) -> None:
        self.size, self.weights, self.graph, self.few = size, weights, Graph(), few

    def matrix(self, *names: str) -> Array:
        return np.concatenate([self.weights[f"{name}.weight"] for name in names])

    def linear(self, x: str, times: int, *names: str) -> str:
        """Rows of x, rounded `times` times with one scale for all, times the transposed matrix."""
        return self.product(self.rounded(x, times), self.matrix(*names))

    def linear_by_row(self, x: str, times: int, *names: str) -> str:
        """The same where rows differ in size: each has a scale of its own."""
        matrix, add = self.matrix(*names), self.graph.add
        if times == 1 and (self.few or not dots_of_x86()):
            return self.product_by_row(x, matrix)
        if times > 2:
            return self.product(self.rounded(x, times), matrix)
        largest = add("ReduceMax", add("Abs", x), axes=[-1], keepdims=1)
        largest = add("Max", largest, self.graph.constant(1e-30))
        return add("Mul", self.product(self.rounded(add("Div", x, largest), times), matrix), largest)

    def product_by_row(self, x: str, matrix: Array) -> str:
        outputs, inputs = matrix.shape
        block = next((size for size in BLOCKS if inputs % size == 0), None)
        if block is None:
            return self.product(self.rounded(x, 1), matrix)
        numbers, scale = rounded(matrix)
        blocks = bytes_of(numbers).reshape(outputs, inputs // block, block)
        scales = np.repeat(scale, inputs // block)
        return self.graph.add(
            "MatMulNBits", x, self.graph.constant(blocks, "uint8"), self.graph.constant(scales),
            domain=CONTRIBUTED, K=inputs, N=outputs, bits=8, block_size=block, accuracy_level=4,
        )  # fmt: skip

    def rounded(self, x: str, times: int) -> list[_Rounded]:
        graph = self.graph
        parts = [_Rounded(*graph.add_many("DynamicQuantizeLinear", 3, x))]
        middle, finer = graph.constant(MIDDLE, "uint8"), graph.constant(1 / 254)
        for _ in range(times - 1):
            x = graph.add("Sub", x, graph.add("DequantizeLinear", *parts[-1]))
            step = graph.add("Mul", parts[-1].scale, finer)
            parts.append(_Rounded(graph.add("QuantizeLinear", x, step, middle), step, middle))
        return parts

    def product(self, parts: list[_Rounded], matrix: Array) -> str:
        numbers, scale = rounded(matrix)
        kind, middle = ("int8", 0) if signs_are_exact() else ("uint8", MIDDLE)
        weights = self.graph.constant(numbers.T if kind == "int8" else bytes_of(numbers).T, kind)
        scales, zero = self.graph.constant(scale), self.graph.constant(np.full(len(scale), middle), kind)
        inputs = [(part.numbers, weights, part.scale, scales, part.zero, zero) for part in parts]
        sums = [self.graph.add("MatMulIntegerToFloat", *each, domain=CONTRIBUTED) for each in inputs]
        return reduce(self.add, reversed(sums))

    def convolved(self, x: str, side: int, times: int, name: str) -> str:
        """A convolution of 3 by 3 cells, every second one, over the positive values of (cells, channels)."""
        graph, weight = self.graph, self.matrix(name)
        outputs, channels = weight.shape[:2]
        matrix = weight.transpose(0, 2, 3, 1).reshape(outputs, -1)
        positive, numbers = graph.add("Relu", x), windows(side)

        def around(cells: str, outside: str) -> str:
            border = graph.add("Expand", outside, graph.constant([1, channels], "int64"))
            cells_around = graph.add(
                "Gather", graph.add("Concat", cells, border, axis=0), graph.constant(numbers, "int64")
            )
            return self.shaped(cells_around, -1, 9 * channels)

        parts = self.rounded(positive, times)
        parts = [part._replace(numbers=around(part.numbers, part.zero)) for part in parts]
        return self.add(self.product(parts, matrix), graph.constant(self.weights[f"{name}.bias"]))

    def rms(self, x: str, width: int, rms: float = 1.0) -> str:
        """Rows at this RMS."""
        scale = self.graph.constant(np.full(width, rms))
        return self.graph.add("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=1e-5)

    def shaped(self, x: str, *shape: int) -> str:
        return self.graph.add("Reshape", x, self.graph.constant(shape, "int64"))

    def parts(self, x: str, *sizes: int) -> list[str]:
        return self.graph.add_many("Split", len(sizes), x, self.graph.constant(sizes, "int64"), axis=-1)

    def normed(self, x: str) -> list[str]:
        """Queries, keys and values of (1, tokens, 3 * width), the first two with heads of unit RMS."""
        width = self.size.width
        matched, value = self.parts(x, 2 * width, width)
        return [*self.parts(self.rms_heads(matched, 2 * width), width, width), value]

    def rms_heads(self, x: str, width: int) -> str:
        """Each head of (1, tokens, width) at unit RMS."""
        head = self.size.width // self.size.heads
        return self.shaped(self.rms(self.shaped(x, 1, -1, width // head, head), head), 1, -1, width)

    def attend(self, query: str, keys: str, values: str, *past: str) -> list[str]:
        """Attention with queries of (1, tokens, width).

        With keys and values of earlier tokens, each token looks at those and at tokens up to itself; keys and
        values of all tokens are returned too.
        """
        earlier = ("", "", "", *past) if past else ()
        return self.graph.add_many(
            "MultiHeadAttention", 3 if past else 1, query, keys, values, *earlier,
            domain=CONTRIBUTED, num_heads=self.size.heads, unidirectional=int(bool(past)),
            scale=SHARPNESS / (self.size.width // self.size.heads),
        )  # fmt: skip

    def attend_half(self, x: str) -> str:
        """Attention within (1, tokens, 3 * width), queries, keys and values, in numbers of 16 bits."""
        graph, heads, head = self.graph, self.size.heads, self.size.width // self.size.heads
        by_head = graph.add("Transpose", self.shaped(x, -1, 3 * heads, head), perm=[1, 0, 2])
        sizes = graph.constant([2 * heads, heads], "int64")
        matched, values = graph.add_many("Split", 2, by_head, sizes, axis=0)
        matched = graph.add("Cast", self.rms(matched, head, (SHARPNESS / head) ** 0.5), to=FLOAT16)
        query, key = graph.add_many("Split", 2, matched, graph.constant([heads, heads], "int64"), axis=0)
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 2, 1]))
        weights = graph.add("Softmax", graph.add("Cast", scores, to=FLOAT32), axis=-1)
        half = (graph.add("Cast", each, to=FLOAT16) for each in (weights, values))
        mixture = graph.add("Cast", graph.add("MatMul", *half), to=FLOAT32)
        return self.shaped(graph.add("Transpose", mixture, perm=[1, 0, 2]), 1, -1, self.size.width)

    def squared(self, x: str) -> str:
        positive = self.graph.add("Relu", x)
        return self.graph.add("Mul", positive, positive)

    def add(self, x: str, y: str) -> str:
        return self.graph.add("Add", x, y)


def windows(side: int) -> Array:
    """Of each second cell in rows and columns of a square, the numbers of the cells around it.

    The number after the last is that of a cell outside.
    """
    numbers = np.pad(np.arange(side * side).reshape(side, side), 1, constant_values=side * side)
    around = [numbers[i : i + side : 2, j : j + side : 2] for i in range(3) for j in range(3)]
    return np.stack(around, -1).reshape(-1, 9)


def encoder_graph(size: NanoSize, weights: Mapping[str, Array], precision: Precision) -> bytes:
    """From `cells` of a picture to keys and values of every layer that speaks.

    Cells are (cells, bytes of a cell less the mean of each colour); keys and values (layers, 2, heads,
    patches, width of a head).
    """
    build, width, heads, times = _Builder(size, weights), size.width, size.heads, precision.value
    graph, side = build.graph, size.side // CELL
    first, bias = build.matrix("encoder.stem.0"), weights["encoder.stem.0.bias"]
    cells = graph.input("cells", "float32", [side * side, CELL * CELL * 3])
    matrix = np.einsum("cd,ocij->dijo", OPPONENT, first)
    colours = graph.add("MatMul", cells, graph.constant(matrix.reshape(-1, len(first))))
    x = build.add(colours, graph.constant(bias))
    for number in (1, 2):
        x, side = build.convolved(x, side, times, f"encoder.stem.{number}"), side // 2
    x, places = build.shaped(x, 1, side * side, width), patch_places(size)
    x = build.add(build.rms(x, width), graph.constant(places @ weights["encoder.position.weight"].T))
    for number in range(size.encoder):
        name = f"encoder.blocks.{number}"
        both = f"{name}.attention.query", f"{name}.attention.key_value"
        mixed = build.linear(build.rms(x, width), times, *both)
        mixture = build.attend_half(mixed) if times == 1 else build.attend(*build.normed(mixed))[0]
        x = build.add(x, build.linear_by_row(mixture, times, f"{name}.attention.out"))
        hidden = build.squared(build.linear(build.rms(x, width), times, f"{name}.mlp.up"))
        x = build.add(x, build.linear_by_row(hidden, times, f"{name}.mlp.down"))
    x = build.add(build.rms(x, width), graph.constant(places @ weights["encoder.key.weight"].T))
    names = [f"decoder.blocks.{number}.look.key_value" for number in range(size.decoder)]
    looks = build.linear_by_row(x, times, *names)
    looks = build.shaped(looks, len(places), size.decoder, 2, heads, width // heads)
    looks = graph.add("Transpose", looks, perm=[1, 2, 3, 0, 4])
    keys, values = graph.add_many("Split", 2, looks, graph.constant([1, 1], "int64"), axis=1)
    looks = graph.add("Concat", build.rms(keys, width // heads), values, axis=1)
    graph.output(looks, "float32", [size.decoder, 2, heads, len(places), width // heads])
    return graph.model()


def decoder_graph(size: NanoSize, weights: Mapping[str, Array], precision: Precision) -> bytes:
    """From embedded tokens, (1, tokens, width), to the logits after the last of them.

    Further inputs are `first`, the number of the first token whose logits are wanted, counted from the end;
    of each layer `look_keys_N` and `look_values_N`, (1, heads, patches, width of a head), and `keys_N` and
    `values_N` of earlier tokens, (1, heads, tokens, width of a head). The outputs are the logits, (1, tokens,
    vocabulary), and in that order keys and values of all tokens.
    """
    build, width, heads, times = _Builder(size, weights, True), size.width, size.heads, precision.value
    graph, head = build.graph, width // heads
    x, first = graph.input("x", "float32", [1, "new", width]), graph.input("first", "int64", [1])
    linear = build.linear_by_row if precision is Precision.ONCE else build.linear
    caches: list[str] = []
    for number in range(size.decoder):
        name, patches = f"decoder.blocks.{number}", (size.side // STRIDE) ** 2
        look = [graph.input(f"look_{part}_{number}", "float32", [1, heads, patches, head]) for part in PARTS]
        past = [graph.input(f"{part}_{number}", "float32", [1, heads, "past", head]) for part in PARTS]
        both = f"{name}.attention.query", f"{name}.attention.key_value"
        matched = build.normed(linear(build.rms(x, width), times, *both))
        mixture, *all_tokens = build.attend(*matched, *past)
        caches += all_tokens
        x = build.add(x, linear(mixture, times, f"{name}.attention.out"))
        query = build.rms_heads(linear(build.rms(x, width), times, f"{name}.look.query"), width)
        [mixture] = build.attend(query, *look)
        x = build.add(x, linear(mixture, times, f"{name}.look.out"))
        hidden = build.squared(linear(build.rms(x, width), times, f"{name}.mlp.up"))
        x = build.add(x, build.linear_by_row(hidden, times, f"{name}.mlp.down"))
    end, axis = graph.constant([2**31 - 1], "int64"), graph.constant([1], "int64")
    last = graph.add("Slice", x, first, end, axis)
    logits = linear(build.rms(last, width), times, "decoder.head")
    graph.output(logits, "float32", [1, "asked", len(weights["decoder.head.weight"])])
    for value in caches:
        graph.output(value, "float32", [1, heads, "all", head])
    return graph.model()


def session(graph: bytes) -> Any:
    """A session that runs a graph on one core."""
    import onnxruntime

    _share_arena()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.use_env_allocators", "1")
    inference = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    # Otherwise it keeps the graph with all weights, from which it could be made for other providers.
    inference._model_bytes = b""
    return inference


@cache
def signs_are_exact() -> bool:
    """Whether products with weights that have a sign are exact on this processor.

    With dot products of bytes they are, and take a third of the time; without, sums of pairs may saturate.
    """
    inner, columns = 256, 64
    weights = np.full((inner, columns), 127, np.int8)
    weights[:, ::2] = -127
    graph = Graph()
    numbers, zero = graph.input("numbers", "uint8", ["rows", inner]), graph.constant(MIDDLE, "uint8")
    product = graph.add("MatMulInteger", numbers, graph.constant(weights, "int8"), zero)
    graph.output(product, "int32", ["rows", columns])
    inference = session(graph.model())
    # One row is computed in another way than many.
    for rows in (1, 16):
        largest = np.full((rows, inner), 255, np.uint8)
        [products] = inference.run(None, {"numbers": largest})
        if (products != (largest.astype(np.int32) - MIDDLE) @ weights.astype(np.int32)).any():
            return False
    return True


def dots_of_x86() -> bool:
    """Where many rows are multiplied three times as fast as `MatMulNBits` does it."""
    return signs_are_exact() and machine().lower() in ("x86_64", "amd64")


@cache
def _share_arena() -> None:
    """Let all sessions use the same memory, which grows by the requested size."""
    import onnxruntime as ort

    place = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    any_size, as_requested, first_bytes, any_waste = 0, 1, 2**20, -1
    ort.create_and_register_allocator(place, ort.OrtArenaCfg(any_size, as_requested, first_bytes, any_waste))
