"""A trained small model without torch: the network in plain numpy, and replies token by token."""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np
from threadpoolctl import ThreadpoolController

from ludens.core.processes import cores
from ludens.core.view import Picture
from ludens.models.chat import Tokens
from ludens.train.nano.inputs import (
    NOWHERE,
    Mark,
    NanoQuestion,
    TextCursor,
    clipped,
    marks_of,
    offer_to,
    shrink,
)
from ludens.train.nano.weights import SHARPNESS, STRIDE, WAVES, Array, NanoSize, StoredModel


def rms(x: Array) -> Array:
    return x * (1 / np.sqrt(np.einsum("...i,...i->...", x, x) / x.shape[-1] + np.float32(1e-5)))[..., None]


def fourier(x: Array, y: Array) -> Array:
    frequencies = np.pi * np.arange(1, WAVES + 1)
    a, b = x[..., None] * frequencies, y[..., None] * frequencies
    return np.concatenate([np.sin(a), np.cos(a), np.sin(b), np.cos(b)], -1).astype(np.float32)


def patch_places(size: NanoSize) -> Array:
    """The Fourier features of the middle of each patch: (patches, features)."""
    grid = size.side // STRIDE
    at = (np.arange(grid) + 0.5) / grid
    return fourier(np.tile(at, grid), np.repeat(at, grid))


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
class NumpyBlock:
    """The weights of one layer, each of (inputs, outputs)."""

    query_key_value: Array
    out: Array
    up: Array
    down: Array
    look_query: Array | None = None
    look_key_value: Array | None = None
    look_out: Array | None = None

    @staticmethod
    def of(weights: Mapping[str, Array], name: str, cross: bool) -> NumpyBlock:
        def matrix(*names: str) -> Array:
            return np.ascontiguousarray(np.concatenate([weights[f"{name}.{n}.weight"] for n in names]).T)

        attention = matrix("attention.query", "attention.key_value"), matrix("attention.out")
        look = [matrix(f"look.{part}") for part in ("query", "key_value", "out")] if cross else []
        return NumpyBlock(*attention, matrix("mlp.up"), matrix("mlp.down"), *look)

    def think(self, x: Array) -> Array:
        hidden = rms(x) @ self.up
        np.maximum(hidden, 0, out=hidden)
        hidden *= hidden
        out: Array = hidden @ self.down
        return out


class TokenEmbedding:
    """Tokens where they are in text and picture, as rows of numbers."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        names = ("embedding", "position", "line", "column")
        self._embedding, self._at, self._line, self._column = (weights[f"decoder.{n}.weight"] for n in names)
        self._place = weights["decoder.place.weight"].T

    def __call__(self, ids: Array, position: Array, cursor: Array) -> Array:
        """Tokens of all rows; the cursor is their line, column, x and y."""
        line, column = cursor[:, 0].astype(np.intp), cursor[:, 1].astype(np.intp)
        x: Array = self._embedding[ids] + self._at[position] + self._line[line] + self._column[column]
        features = fourier(cursor[:, 2], cursor[:, 3])
        features[cursor[:, 2] == NOWHERE] = 0
        x += features @ self._place
        return x


class NumpyNetwork:
    """Encoder and decoder. It copies matrices of layers: `StoredModel.opened` has them in memory once."""

    def __init__(self, size: NanoSize, weights: Mapping[str, Array], marks: Sequence[Mark]) -> None:
        self.size, self.marks = size, marks
        self._stem = [
            (weights[f"encoder.stem.{n}.weight"].transpose(2, 3, 1, 0), weights[f"encoder.stem.{n}.bias"])
            for n in range(3)
        ]
        self._stem = [(np.ascontiguousarray(w).reshape(-1, w.shape[-1]), bias) for w, bias in self._stem]
        places = patch_places(size)
        self._position = places @ weights["encoder.position.weight"].T
        self._key = places @ weights["encoder.key.weight"].T
        self._encoder = [NumpyBlock.of(weights, f"encoder.blocks.{n}", False) for n in range(size.encoder)]
        self.decoder = [NumpyBlock.of(weights, f"decoder.blocks.{n}", True) for n in range(size.decoder)]
        self.embed, self._head = TokenEmbedding(weights), weights["decoder.head.weight"].T

    def look(self, picture: Array) -> Array:
        """Of a picture, (3, side, side), keys and values: (layers, 2, heads, patches, head width)."""
        x = rms(self._patches(picture)) + self._position
        for block in self._encoder:
            query, key, value = self._heads(rms(x) @ block.query_key_value)
            x = x + self._joined(attend(query, rms(key), value)) @ block.out
            x += block.think(x)
        features = rms(x) + self._key
        looks = np.stack([self._heads(features @ block.look_key_value) for block in self.decoder])
        looks[:, 0] = rms(looks[:, 0])
        return looks

    def _patches(self, picture: Array) -> Array:
        """The stem: (patches, width)."""
        (first, bias), *rest = self._stem
        side = self.size.side // 4
        x = opponent(picture.transpose(1, 2, 0) / np.float32(127.5))
        x = x.reshape(side, 4, side, 4, 3).swapaxes(1, 2).reshape(side * side, -1) @ first + bias
        for matrix, bias in rest:
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


class NumpySpeaker:
    """Says one token after the other to each prompt, with keys and values of earlier ones in a cache."""

    def __init__(
        self, network: NumpyNetwork, looks: Sequence[Array], prompts: Sequence[Sequence[int]], longest: int
    ) -> None:
        self._network, rows, width = network, len(prompts), max(map(len, prompts))
        self._looks = looks[0][:, :, None] if rows == 1 else np.stack(looks, 2)
        layers, _, _, heads, _, size = self._looks.shape
        self._past = np.empty((layers, 2, rows, heads, width + longest, size), np.float32)
        self._cursors = [TextCursor() for _ in prompts]
        self._padding = np.array([width - len(prompt) for prompt in prompts])
        ids = np.zeros((rows, width), np.intp)
        cursor = np.full((rows, width, 4), (0, 0, NOWHERE, NOWHERE), np.float32)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = prompt
            for place, token in enumerate(prompt, width - len(prompt)):
                cursor[row, place] = self._moved(row, token)
        at = np.arange(width)
        position = np.maximum(at - self._padding[:, None], 0)
        # Causal, without padding; padding looks at itself.
        mask = (at[None, :] <= at[:, None]) & (at >= self._padding[:, None, None]) | np.eye(width, dtype=bool)
        x = network.embed(ids.ravel(), position.ravel(), cursor.reshape(-1, 4))
        self._length = width
        self.logits = network.extend(x, self._looks, self._past, 0, mask[:, None])

    def say(self, tokens: Sequence[int]) -> None:
        cursor = np.array([self._moved(row, token) for row, token in enumerate(tokens)], np.float32)
        x = self._network.embed(np.array(tokens), self._length - self._padding, cursor)
        mask = (np.arange(self._length + 1) >= self._padding[:, None])[:, None, None]
        self.logits = self._network.extend(x, self._looks, self._past, self._length, mask)
        self._length += 1

    def keep(self, rows: Sequence[int]) -> None:
        self._looks, self._past = self._looks[:, :, rows], self._past[:, :, rows]
        self._cursors, self._padding = [self._cursors[row] for row in rows], self._padding[rows]
        self.logits = self.logits[rows]

    def _moved(self, row: int, token: int) -> tuple[float, float, float, float]:
        cursor = self._cursors[row]
        cursor.move(self._network.marks[token])
        return cursor.line, cursor.column, *cursor.place


LOOKS = 256 * 2**20
"""Most bytes of seen pictures kept in memory."""
TURNS = Lock()
"""One model computes at a time, with all cores."""


class PictureMemory:
    """The features of the latest pictures, computed once for equal pictures.

    It keeps twice as many as were needed at once: the players of a game see several pictures in turn.

    Args:
        look: What it sees in a picture of bytes, (3, side, side).
        fewest: As many pictures are kept, if they have no more than `LOOKS` bytes.
    """

    def __init__(self, look: Callable[[Array], Array], side: int, fewest: int = 2) -> None:
        self._look, self._side = look, side
        self._looks: OrderedDict[str, Array] = OrderedDict()
        self._most = fewest

    def looks(self, pictures: Sequence[Picture | None]) -> list[Array]:
        keys = [picture.hash if picture else "" for picture in pictures]
        new = {key: picture for key, picture in zip(keys, pictures, strict=True) if key not in self._looks}
        new_looks = threads().map(lambda picture: self._look(shrink(picture, self._side)), new.values())
        self._looks.update(zip(new, new_looks, strict=True))
        for key in keys:
            self._looks.move_to_end(key)
        looks = [self._looks[key] for key in keys]
        self._most = max(self._most, 2 * len(looks))
        while len(self._looks) > min(self._most, max(LOOKS // looks[0].nbytes, 1)):
            self._looks.popitem(last=False)
        return looks


def log_distribution(logits: Array) -> Array:
    """Log-probabilities of rows of logits."""
    scaled = logits - logits.max(-1, keepdims=True)
    scaled -= np.log(np.exp(scaled).sum(-1, keepdims=True))
    return scaled


class StoredSampler:
    """Base of the samplers of a stored model: its vocabulary and its limits."""

    def __init__(self, folder: Path, max_tokens: int, batch: int) -> None:
        self.model = StoredModel.read(folder)
        self.vocabulary, self.prompts, self.batch = self.model.vocabulary, self.model.prompts, batch
        self._max_tokens, self._longest = max_tokens, self.model.size.longest - max_tokens
        self._suppressed = (self.vocabulary.pad, self.vocabulary.unknown)

    def encode(self, prompt: str) -> list[int]:
        """The ids of a prompt; of one that is too long, the beginning and the end."""
        return clipped(self.vocabulary.encode(prompt), self._longest)


class NumpySampler(StoredSampler):
    """Draws replies with the network in numpy."""

    def __init__(self, folder: Path, temperature: float, max_tokens: int, batch: int) -> None:
        super().__init__(folder, max_tokens, batch)
        size, marks = self.model.size, marks_of(self.vocabulary.pieces)
        self.network = network = NumpyNetwork(size, self.model.opened(), marks)
        return_memory()
        self._temperature, self._random = temperature, np.random.default_rng(0)
        self._memory = PictureMemory(lambda picture: network.look(picture), size.side)

    def sample(self, questions: Sequence[NanoQuestion]) -> list[Tokens]:
        with TURNS, one_core():
            looks = self._memory.looks([question.picture for question in questions])
            groups = alike([question.prompt for question in questions], cores())
            parts = ([[items[n] for n in group] for group in groups] for items in (questions, looks))
            parts_of_replies = threads().map(self._speak, *parts, self._random.spawn(len(groups)))
            replies = dict(zip(chain(*groups), chain(*parts_of_replies), strict=True))
        settings = self._temperature or 1.0, self._suppressed
        rows = enumerate(questions)
        return [Tokens(row.prompt, *replies[number], *settings, row.pictures) for number, row in rows]

    def _speak(
        self, questions: Sequence[NanoQuestion], looks: Sequence[Array], random: np.random.Generator
    ) -> list[tuple[list[int], list[float]]]:
        prompts = [question.prompt for question in questions]
        offers = [question.offer(self.vocabulary) for question in questions]
        speaker = NumpySpeaker(self.network, looks, prompts, self._max_tokens)
        replies: list[tuple[list[int], list[float]]] = [([], []) for _ in prompts]
        speaking = list(range(len(prompts)))
        while True:
            for logits, row in zip(speaker.logits, speaking, strict=True):
                offer_to(logits, offers[row], replies[row][0])
            logprobs = self._distribution(speaker.logits)
            tokens = self._draw(logprobs, random)
            for place, (row, token) in enumerate(zip(speaking, tokens, strict=True)):
                ids, values = replies[row]
                if not self._is_complete(ids):
                    ids.append(token)
                    values.append(float(logprobs[place, token]))
            going = [place for place, row in enumerate(speaking) if not self._is_complete(replies[row][0])]
            if not going or len(replies[speaking[going[0]]][0]) == self._max_tokens:
                return replies
            # Dropping rows copies the others: not for a few.
            if 4 * len(going) <= 3 * len(speaking):
                speaker.keep(going)
                speaking, tokens = [speaking[place] for place in going], [tokens[place] for place in going]
            speaker.say(tokens)

    def _is_complete(self, ids: Sequence[int]) -> bool:
        return bool(ids) and ids[-1] == self.vocabulary.end

    def _distribution(self, logits: Array) -> Array:
        """Log-probabilities; padding and unknown pieces are never said."""
        scaled = logits / np.float32(self._temperature or 1.0)
        scaled[:, self._suppressed] = -np.inf
        return log_distribution(scaled)

    def _draw(self, logprobs: Array, random: np.random.Generator) -> list[int]:
        if self._temperature == 0:
            return [int(token) for token in logprobs.argmax(-1)]
        # The largest of log-probabilities plus Gumbel noise is a draw from the distribution.
        return [int(token) for token in (logprobs + random.gumbel(size=logprobs.shape)).argmax(-1)]


def alike(prompts: Sequence[list[int]], parts: int) -> list[list[int]]:
    """Numbers of the prompts in groups: padding takes as long as text, so that a group has prompts of similar
    length; and there are enough groups for so many threads."""
    groups: dict[int, list[int]] = {}
    for number, prompt in enumerate(prompts):
        groups.setdefault(len(prompt).bit_length(), []).append(number)
    most = -(-len(prompts) // parts)
    return [group[at : at + most] for group in groups.values() for at in range(0, len(group), most)]


@cache
def threads() -> ThreadPoolExecutor:
    """Matrices are small: computing several things at once is faster than one with all cores."""
    return ThreadPoolExecutor(cores(), "nano")


def one_core() -> AbstractContextManager[object]:
    """Multiply matrices on one core inside this context.

    Numpy's own threads wait for each other busily, which takes minutes where other processes run.
    """
    limit: AbstractContextManager[object] = _blas().limit(limits=1)
    return limit


_blas = cache(ThreadpoolController)


def return_memory() -> None:
    """Give memory that is no longer used back to the system, where the C library can."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
