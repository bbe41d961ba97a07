"""A memory that forgets what was not asked for lately, at next to no cost a look."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Shelves(Generic[K, V]):
    """Two shelves: what is put or asked for stands on the front one; when that is full it becomes the back
    one, and what was on the back one until then is forgotten.

    Args:
        limit: How many bytes both shelves hold at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit // 2
        self._front: dict[K, V] = {}
        self._back: dict[K, V] = {}
        self._held = 0

    def get(self, key: K, size: int) -> V | None:
        """What is kept for a key; `size` is what it was put with."""
        found = self._front.get(key)
        if found is None and (found := self._back.get(key)) is not None:
            self.put(key, found, size)
        return found

    def put(self, key: K, value: V, size: int) -> V:
        """Keep something of so many bytes; returns it."""
        self._held += size
        if self._held > self._limit:
            self._back, self._front, self._held = self._front, {}, size
        self._front[key] = value
        return value
