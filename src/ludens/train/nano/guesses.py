"""Guesses of what a small model says next: what followed the same words in earlier replies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ludens.train.nano.inputs import HEAD

FEWEST, MOST = 2, 6
"""How many of the last tokens must be the same: at first `MOST`, then fewer."""
KEPT = 50_000
"""Sequences that are kept of one kind of question."""

Tokens = tuple[int, ...]


class Guesses:
    """Learns from replies. A wrong guess costs time and changes nothing else."""

    def __init__(self) -> None:
        self._followed: defaultdict[Tokens, dict[Tokens, int]] = defaultdict(dict)
        self._latest: dict[Tokens, Sequence[int]] = {}

    def learn(self, prompt: Sequence[int], reply: Sequence[int]) -> None:
        kind, text = tuple(prompt[:HEAD]), (*prompt[-MOST:], *reply)
        followed, begin = self._followed[kind], len(text) - len(reply)
        if len(followed) > KEPT:
            followed.clear()
        for at in range(begin, len(text)):
            for size in range(FEWEST, min(MOST, at) + 1):
                followed[text[at - size : at]] = text[at]
        self._latest[kind] = reply

    def after(self, prompt: Sequence[int], said: Sequence[int]) -> Iterator[int]:
        """One token after the other; where no words are known, those of the latest reply at this place."""
        kind, text = tuple(prompt[:HEAD]), [*prompt[-MOST:], *said]
        followed, latest = self._followed[kind], self._latest.get(kind, ())
        place = len(said)
        while True:
            sizes = range(min(MOST, len(text)), FEWEST - 1, -1)
            known = (followed.get(tuple(text[-size:])) for size in sizes)
            token = next((token for token in known if token is not None), None)
            if token is None:
                if place >= len(latest):
                    return
                token = latest[place]
            yield token
            text.append(token)
            place += 1
