"""A small model in onnxruntime, faster than the plain numpy player.

By default its replies are those of the plain player: where two tokens are almost equally likely, the picture
is looked at again in float32. With activations of 8 bits that would be too often: `int8` replies at once, and
where moves are equally good it may choose another one than the plain player.

The reply to the last question of the same kind is a guess: its tokens are checked many at a time, and the
first that is wrong ends the guess.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import repeat
from pathlib import Path

import numpy as np

from ludens.core.view import Picture
from ludens.models.chat import Tokens
from ludens.train.nano.inputs import HEAD, Mark, TextCursor, clipped, marks_of
from ludens.train.nano.numpy_player import (
    TURNS,
    PictureMemory,
    TokenEmbedding,
    log_distribution,
    one_core,
    threads,
)
from ludens.train.nano.onnx_network import CELL, PARTS, Precision, decoder_graph, encoder_graph, session
from ludens.train.nano.weights import Array, NanoSize, StoredModel

MARGIN = 0.01
"""Logits of the two most likely tokens that differ by less may be in the other order in float32."""
GUESSED = 6
"""Tokens that are guessed first; more after right guesses, at most `MOST_GUESSED`."""
MOST_GUESSED = 24


class OnnxEncoder:
    def __init__(self, size: NanoSize, weights: Mapping[str, Array], precision: Precision) -> None:
        self._cells = size.side // CELL
        self._session = session(encoder_graph(size, weights, precision))

    def look(self, picture: Array) -> Array:
        """Of a picture, (3, side, side), keys and values: (layers, 2, 1, heads, patches, head width)."""
        side = self._cells
        by_cell = picture.reshape(3, side, CELL, side, CELL).transpose(1, 3, 2, 4, 0)
        cells = by_cell.reshape(side * side, -1).astype(np.float32)
        cells -= np.tile(picture.mean((1, 2)).astype(np.float32), CELL * CELL)
        [looks] = self._session.run(None, {"cells": cells})
        seen: Array = looks[:, :, None]
        return seen


class OnnxDecoder:
    def __init__(
        self, size: NanoSize, weights: Mapping[str, Array], marks: Sequence[Mark], precision: Precision
    ) -> None:
        self.size, self.marks = size, marks
        self.embed = TokenEmbedding(weights)
        self._session = session(decoder_graph(size, weights, precision))
        self._names = [f"{part}_{number}" for number in range(size.decoder) for part in PARTS]

    def extend(self, x: Array, looks: Array, past: Sequence[Array], asked: int) -> tuple[Array, list[Array]]:
        """Logits after the last tokens, (asked, vocabulary), and keys and values of all.

        Args:
            x: Embedded tokens, (tokens, width).
            past: Keys and values so far, of each layer.
            asked: After how many of the tokens.
        """
        layers = looks.reshape(-1, *looks.shape[2:])
        seen = {f"look_{name}": look for name, look in zip(self._names, layers, strict=True)}
        kept = dict(zip(self._names, past, strict=True))
        inputs = {"x": x[None], "first": np.array([-asked]), **seen, **kept}
        logits, *kept_all = self._session.run(None, inputs)
        return logits[0], kept_all


class OnnxSpeaker:
    """Takes the tokens of one prompt and its reply; what follows a wrong guess is taken back."""

    def __init__(self, decoder: OnnxDecoder, looks: Array) -> None:
        self._decoder, self._looks = decoder, looks
        size = decoder.size
        nothing = np.zeros((1, size.heads, 0, size.width // size.heads), np.float32)
        self._past = [nothing] * (2 * size.decoder)
        self._cursors = [TextCursor()]
        """After each token; the first before all."""

    def take(self, tokens: Sequence[int], asked: int) -> Array:
        """Logits after each of the last tokens: (asked, vocabulary)."""
        at, places = len(self._cursors) - 1, []
        for token in tokens:
            cursor = copy(self._cursors[-1])
            cursor.move(self._decoder.marks[token])
            self._cursors.append(cursor)
            places.append((cursor.line, cursor.column, *cursor.place))
        position = np.arange(at, at + len(tokens))
        x = self._decoder.embed(np.array(tokens), position, np.array(places, np.float32))
        logits, self._past = self._decoder.extend(x, self._looks, self._past, asked)
        return logits

    def forget(self, tokens: int) -> None:
        """Take back so many of the last tokens."""
        if tokens:
            del self._cursors[-tokens:]
            self._past = [np.ascontiguousarray(kept[:, :, :-tokens]) for kept in self._past]


class OnnxSampler:
    """Network and vocabulary; replies are the most likely tokens.

    Args:
        precision: Of what it sees at first; at `INT8` it never looks again.
    """

    def __init__(self, folder: Path, max_tokens: int, batch: int, precision: Precision) -> None:
        self._stored = stored = StoredModel.read(folder)
        self.vocabulary, self.prompts, self.batch = stored.vocabulary, stored.prompts, batch
        self.unsure = 0
        """Replies for which it looked again."""
        self._folder, self._max_tokens = folder, max_tokens
        self._longest = stored.size.longest - max_tokens
        self._suppressed = (self.vocabulary.pad, self.vocabulary.unknown)
        self._margin = 0.0 if precision is Precision.INT8 else MARGIN
        weights = stored.weights(folder)
        self._decoder = OnnxDecoder(stored.size, weights, marks_of(stored.vocabulary.pieces), precision)
        self._seen = PictureMemory(OnnxEncoder(stored.size, weights, precision).look, stored.size.side)
        self._seen_again: PictureMemory | None = None
        self._guesses: dict[tuple[int, ...], list[int]] = {}
        del weights
        return_memory()

    def encode(self, prompt: str) -> list[int]:
        return clipped(self.vocabulary.encode(prompt), self._longest)

    def sample(self, prompts: Sequence[list[int]], pictures: Sequence[Sequence[Picture]]) -> list[Tokens]:
        last = [some[-1] if some else None for some in pictures]
        with TURNS, one_core():
            replies = list(threads().map(self._reply, prompts, self._seen.looks(last), repeat(self._margin)))
            unsure = [number for number, reply in enumerate(replies) if reply is None]
            if unsure:
                looks = self._exactly().looks([last[number] for number in unsure])
                again = threads().map(self._reply, [prompts[number] for number in unsure], looks, repeat(0.0))
                for number, reply in zip(unsure, again, strict=True):
                    replies[number] = reply
        self.unsure += len(unsure)
        rows = zip(prompts, replies, pictures, strict=True)
        return [Tokens(prompt, *reply, 1.0, self._suppressed, some) for prompt, reply, some in rows if reply]

    def _exactly(self) -> PictureMemory:
        """What it sees in float32."""
        if self._seen_again is None:
            size, weights = self._stored.size, self._stored.weights(self._folder)
            self._seen_again = PictureMemory(OnnxEncoder(size, weights, Precision.FLOAT).look, size.side)
            del weights
            return_memory()
        return self._seen_again

    def _reply(self, prompt: list[int], looks: Array, margin: float) -> tuple[list[int], list[float]] | None:
        """Tokens and their log-probabilities; None where two tokens differ by less than the margin."""
        kind = tuple(prompt[:HEAD])
        guess = self._guesses.get(kind, [])
        speaker = OnnxSpeaker(self._decoder, looks)
        said: list[int] = []
        values: list[float] = []
        new, ahead = prompt, GUESSED
        while True:
            guessed = guess[len(said) : min(len(said) + ahead, self._max_tokens - 1)]
            logits = speaker.take([*new, *guessed], len(guessed) + 1)
            logits[:, self._suppressed] = -np.inf
            right = 0
            for row, expected in zip(logits, [*guessed, None], strict=True):
                second, first = np.partition(row, -2)[-2:]
                if first - second < margin:
                    return None
                token = int(row.argmax())
                said.append(token)
                values.append(float(log_distribution(row[None])[0, token]))
                if token == self.vocabulary.end or len(said) == self._max_tokens:
                    self._guesses[kind] = said
                    return said, values
                if token != expected:
                    break
                right += 1
            speaker.forget(len(guessed) - right)
            new, ahead = said[-1:], min(2 * right + 2, MOST_GUESSED)


def return_memory() -> None:
    """Give memory that is no longer used back to the system, where the C library can."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
