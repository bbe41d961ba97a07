"""How much a clue tells: the share of random scenes that it excludes."""

from __future__ import annotations

from functools import lru_cache

from ludens.core.random import stream
from ludens.games.spy.checker import claim_of
from ludens.games.spy.scene import Scene, make_scene

SCENES = 200


@lru_cache(maxsize=1)
def _scenes() -> tuple[Scene, ...]:
    return tuple(make_scene(stream(number, "informativeness")) for number in range(SCENES))


@lru_cache(maxsize=8192)
def informativeness(clue: str) -> float:
    """The share of scenes of which the clue is false; 0 where it cannot be decided."""
    claim = claim_of(clue)
    return 0.0 if claim is None else sum(claim(scene) is False for scene in _scenes()) / SCENES
