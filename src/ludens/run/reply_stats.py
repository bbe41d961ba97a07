"""Counts of moves and replies: fallbacks, retries, rejected replies, replies cut off by the length limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import nan

from ludens.core.episode import Move

TRUNCATED_LIMIT = 0.02
"""The proportion of truncated replies above which results have a warning."""


@dataclass(frozen=True, slots=True)
class ReplyStats:
    """Counts of moves and of replies."""

    moves: int = 0
    fallbacks: int = 0
    retried: int = 0
    replies: int = 0
    """Replies of models and people; bots choose actions without replying."""
    illegal: int = 0
    unreadable: int = 0
    late: int = 0
    truncated: int = 0
    """Replies cut off by the length limit (`max_tokens`)."""

    @property
    def fallback_rate(self) -> float:
        """The proportion of moves made by the fallback."""
        return self.fallbacks / self.moves if self.moves else nan

    @property
    def retried_rate(self) -> float:
        """The proportion of moves that needed more than one reply."""
        return self.retried / self.moves if self.moves else nan

    @property
    def truncated_rate(self) -> float:
        """The proportion of replies cut off by the length limit."""
        return self.truncated / self.replies if self.replies else nan


def count_replies(moves: Iterable[Move]) -> Counter[str]:
    """The fields of `ReplyStats` for some moves."""
    counts: Counter[str] = Counter()
    for move in moves:
        counts["moves"] += 1
        counts["fallbacks"] += move.verdict == "fallback"
        counts["retried"] += move.verdict == "retried"
        for attempt in move.tries:
            counts["replies"] += 1
            counts["truncated"] += attempt.finish == "length"
            if attempt.verdict != "ok":
                counts[attempt.verdict] += 1
    return counts
