"""Replies in plain numpy, one token after the other, to several prompts at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ludens.train.nano.marks import NOWHERE, TextCursor
from ludens.train.nano.numpy_network import NumpyNetwork
from ludens.train.nano.weights import Array


class NumpySpeaker:
    """Says one token after the other to each prompt, with keys and values of earlier ones in a cache.

    Args:
        network: Speaks.
        looks: Of the picture of each prompt.
        prompts: Ids.
        longest: Most tokens that are said.
    """

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
        """For the next token of each row."""

    def say(self, tokens: Sequence[int]) -> None:
        """Append a token to every row."""
        cursor = np.array([self._moved(row, token) for row, token in enumerate(tokens)], np.float32)
        x = self._network.embed(np.array(tokens), self._length - self._padding, cursor)
        mask = (np.arange(self._length + 1) >= self._padding[:, None])[:, None, None]
        self.logits = self._network.extend(x, self._looks, self._past, self._length, mask)
        self._length += 1

    def keep(self, rows: Sequence[int]) -> None:
        """Drop the other rows."""
        self._looks, self._past = self._looks[:, :, rows], self._past[:, :, rows]
        self._cursors, self._padding = [self._cursors[row] for row in rows], self._padding[rows]
        self.logits = self.logits[rows]

    def _moved(self, row: int, token: int) -> tuple[float, float, float, float]:
        cursor = self._cursors[row]
        cursor.move(self._network.marks[token])
        return cursor.line, cursor.column, *cursor.place
