"""The network of `network.py` at play, in plain numpy: pictures and tokens to logits.

Queries and keys have unit RMS, so that logits of attention are bounded and their exponentials need no shift.
Matrices are applied to all tokens of all rows at once; weights are kept in the order in which they are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ludens.train.nano.marks import NOWHERE, Mark
from ludens.train.nano.size import SHARPNESS, STRIDE, WAVES, Size
from ludens.train.nano.weights import Array


def rms(x: Array) -> Array:
    return x * (1 / np.sqrt(np.einsum("...i,...i->...", x, x) / x.shape[-1] + np.float32(1e-5)))[..., None]


def fourier(x: Array, y: Array) -> Array:
    """Features of places in the unit square."""
    frequencies = np.pi * np.arange(1, WAVES + 1)
    a, b = x[..., None] * frequencies, y[..., None] * frequencies
    return np.concatenate([np.sin(a), np.cos(a), np.sin(b), np.cos(b)], -1).astype(np.float32)


def opponent(picture: Array) -> Array:
    """Lightness and two differences of colours, relative to the mean of the picture; colours come last."""
    red, green, blue = np.moveaxis(picture - picture.mean((0, 1), dtype=np.float64).astype(np.float32), -1, 0)
    return np.stack([(red + green + blue) / np.float32(1.5), 2 * (red - green), 2 * blue - red - green], -1)


def attend(query: Array, keys: Array, values: Array, mask: Array | None = None) -> Array:
    """Attention of (..., tokens, width of a head); the mask is 1 where a key may be looked at, else 0."""
    scores = (rms(query) * np.float32(SHARPNESS / query.shape[-1])) @ keys.swapaxes(-1, -2)
    np.exp(scores, out=scores)
    if mask is not None:
        scores *= mask
    mixed: Array = scores @ values
    mixed /= scores.sum(-1, keepdims=True)
    return mixed


@dataclass(frozen=True)
class Block:
    """The weights of one layer, each of (inputs, outputs)."""

    query_key_value: Array
    out: Array
    up: Array
    down: Array
    look_query: Array | None = None
    look_key_value: Array | None = None
    look_out: Array | None = None

    @staticmethod
    def of(weights: Mapping[str, Array], name: str, cross: bool) -> Block:
        def matrix(*names: str) -> Array:
            return np.ascontiguousarray(np.concatenate([weights[f"{name}.{n}.weight"] for n in names]).T)

        own = matrix("attention.query", "attention.key_value"), matrix("attention.out")
        look = [matrix(f"look.{part}") for part in ("query", "key_value", "out")] if cross else []
        return Block(*own, matrix("mlp.up"), matrix("mlp.down"), *look)

    def think(self, x: Array) -> Array:
        """The feed-forward layer."""
        hidden = rms(x) @ self.up
        np.maximum(hidden, 0, out=hidden)
        hidden *= hidden
        out: Array = hidden @ self.down
        return out


class NumpyNetwork:
    """Encoder and decoder.

    Args:
        size: Of the network.
        weights: Tensors of `network.Network`, float32.
        marks: Of the vocabulary.
    """

    def __init__(self, size: Size, weights: Mapping[str, Array], marks: Sequence[Mark]) -> None:
        self.size, self.marks = size, marks
        self._stem = [
            (weights[f"encoder.stem.{n}.weight"].transpose(2, 3, 1, 0), weights[f"encoder.stem.{n}.bias"])
            for n in range(3)
        ]
        self._stem = [(np.ascontiguousarray(w).reshape(-1, w.shape[-1]), bias) for w, bias in self._stem]
        grid = size.side // STRIDE
        at = (np.arange(grid) + 0.5) / grid
        places = fourier(np.tile(at, grid), np.repeat(at, grid))
        self._position = places @ weights["encoder.position.weight"].T
        self._key = places @ weights["encoder.key.weight"].T
        self._encoder = [Block.of(weights, f"encoder.blocks.{n}", False) for n in range(size.encoder)]
        self.decoder = [Block.of(weights, f"decoder.blocks.{n}", True) for n in range(size.decoder)]
        names = ("embedding", "position", "line", "column")
        self._embedding, self._at, self._line, self._column = (weights[f"decoder.{n}.weight"] for n in names)
        self._place, self._head = weights["decoder.place.weight"].T, weights["decoder.head.weight"].T

    def look(self, picture: Array) -> Array:
        """What the decoder needs of a picture: (layers, 2, heads, patches, width of a head).

        Args:
            picture: Bytes, (3, side, side).
        """
        x = rms(self._patches(picture)) + self._position
        for block in self._encoder:
            query, key, value = self._heads(rms(x) @ block.query_key_value)
            x = x + self._joined(attend(query, rms(key), value)) @ block.out
            x += block.think(x)
        seen = rms(x) + self._key
        looks = np.stack([self._heads(seen @ block.look_key_value) for block in self.decoder])
        looks[:, 0] = rms(looks[:, 0])
        return looks

    def _patches(self, picture: Array) -> Array:
        """The stem: (patches, width)."""
        (first, bias), *others = self._stem
        side = self.size.side // 4
        x = opponent(picture.transpose(1, 2, 0) / np.float32(127.5))
        x = x.reshape(side, 4, side, 4, 3).swapaxes(1, 2).reshape(side * side, -1) @ first + bias
        for matrix, bias in others:
            padded = np.zeros((side + 2, side + 2, x.shape[-1]), np.float32)
            np.maximum(x.reshape(side, side, -1), 0, out=padded[1:-1, 1:-1])
            windows = [padded[i : i + side : 2, j : j + side : 2] for i in range(3) for j in range(3)]
            side //= 2
            x = np.concatenate(windows, -1).reshape(side * side, -1) @ matrix + bias
        return x

    def _heads(self, x: Array, rows: int | None = None) -> Array:
        """Parts of the last axis (queries, keys, values) by head: (parts, [rows,] heads, tokens, width)."""
        heads, width = self.size.heads, self.size.width // self.size.heads
        if rows is None:
            return x.reshape(len(x), -1, heads, width).transpose(1, 2, 0, 3)
        return x.reshape(rows, len(x) // rows, -1, heads, width).transpose(2, 0, 3, 1, 4)

    def _joined(self, x: Array) -> Array:
        """Heads side by side: (tokens of all rows, width)."""
        return x.swapaxes(-3, -2).reshape(-1, self.size.width)

    def embed(self, ids: Array, position: Array, cursor: Array) -> Array:
        """Tokens of all rows; the cursor is their line, column, x and y."""
        line, column = cursor[:, 0].astype(np.intp), cursor[:, 1].astype(np.intp)
        x = self._embedding[ids] + self._at[position] + self._line[line] + self._column[column]
        features = fourier(cursor[:, 2], cursor[:, 3])
        features[cursor[:, 2] == NOWHERE] = 0
        x += features @ self._place
        return x

    def extend(self, x: Array, looks: Array, past: Array, at: int, mask: Array | None) -> Array:
        """Logits after the last of some further tokens of each row, (rows, vocabulary).

        Args:
            x: Embedded tokens, (rows * tokens, width).
            looks: (layers, 2, rows, heads, patches, width of a head).
            past: Keys and values so far; those of these tokens are written from `at`. Shaped like `looks`.
            at: The number of earlier tokens.
            mask: (rows, 1, tokens, at + tokens).
        """
        rows, until = looks.shape[2], at + len(x) // looks.shape[2]
        for block, look, (keys, values) in zip(self.decoder, looks, past, strict=True):
            query, key, value = self._heads(rms(x) @ block.query_key_value, rows)
            keys[:, :, at:until], values[:, :, at:until] = rms(key), value
            x = x + self._joined(attend(query, keys[:, :, :until], values[:, :, :until], mask)) @ block.out
            [query] = self._heads(rms(x) @ block.look_query, rows)
            x += self._joined(attend(query, *look)) @ block.look_out
            x += block.think(x)
        logits: Array = rms(x.reshape(rows, -1, x.shape[-1])[:, -1]) @ self._head
        return logits
