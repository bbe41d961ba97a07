"""Themes and sizes that pictures are tested with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest


def themes_and_sizes(themes: Sequence[str], sizes: Sequence[int]) -> pytest.MarkDecorator:
    """Parameters `theme` and `size`: every theme and every size; all pairs of them with `--slow`."""
    quick = {(theme, sizes[number % len(sizes)]) for number, theme in enumerate(themes)}
    pairs = [
        pair if pair in quick else pytest.param(*pair, marks=pytest.mark.slow)
        for pair in product(themes, sizes)
    ]
    return pytest.mark.parametrize(("theme", "size"), pairs)
