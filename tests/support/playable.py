"""Games that may need an extra."""

from __future__ import annotations

import pytest

from ludens.core.errors import MissingExtra
from ludens.core.game import Game
from ludens.core.registry import make


def playable(spec: str) -> Game:
    """The game of a spec; without the extra it needs, the test is skipped and says so."""
    game = make(spec)
    try:
        game.start(0)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    return game
