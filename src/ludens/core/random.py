"""Named random streams: everything random in an episode is derived from its seed by name.

`stream(7, "deal")` and `stream(7, "opponent")` are independent; the same seed and names always give the
same numbers, on every machine and every Python version (which `random.Random.shuffle` does not promise).
A stream is one integer of state (SplitMix64), so that a game state holding one is cheap to clone.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

STREAMS_VERSION = 1
"""Bumped when the same seed and names give other numbers: what was made in advance is then made again."""

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


class Stream:
    """A small seeded generator (SplitMix64)."""

    __slots__ = ("_state",)

    def __init__(self, state: int) -> None:
        self._state = state & _MASK

    def bits(self) -> int:
        """The next 64 random bits."""
        self._state = z = (self._state + _GOLDEN) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A whole number in [0, n). The bias of scaling 64 bits is below 2**-40 for any n under 2**24."""
        if n < 1:
            raise ValueError("below() needs at least one outcome")
        return (self.bits() * n) >> 64

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def random(self) -> float:
        """A float in [0, 1)."""
        return (self.bits() >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """One item, drawn uniformly."""
        return items[(self.bits() * len(items)) >> 64]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """One item, drawn with probability proportional to its weight."""
        mark = self.random() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            mark -= weight
            if mark < 0:
                return item
        return items[-1]

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle in place."""
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """`k` distinct items in random order."""
        pool = list(items)
        if k > len(pool):
            raise ValueError(f"cannot draw {k} of {len(pool)}")
        for i in range(k):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def fork(self, *names: str | int) -> Stream:
        """An independent stream derived from this one by name; this one does not advance."""
        return stream(self._state, *names)

    def clone(self) -> Stream:
        """A copy that draws the same numbers."""
        return Stream(self._state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other._state == self._state

    def __hash__(self) -> int:
        return hash(self._state)


def stream(seed: int, *names: str | int) -> Stream:
    label = "/".join([str(seed), *[_escaped(str(name)) for name in names]])
    return Stream(int.from_bytes(blake2b(label.encode(), digest_size=8).digest(), "big"))


def _escaped(name: str) -> str:
    """Escape slashes, so that ("a/b",) and ("a", "b") are different names."""
    return name.replace("\\", "\\\\").replace("/", "\\/") if "/" in name or "\\" in name else name
