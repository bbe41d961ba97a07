"""What a sample asks, without step numbers and counters: samples with equal content are the same question."""

from __future__ import annotations

from collections.abc import Hashable

from ludens.core.state import State
from ludens.games.grid.rules import GridState
from ludens.games.hanabi.rules import HanabiState
from ludens.games.hanabi.text import tell
from ludens.games.kuhn_poker.rules import KuhnState
from ludens.games.open_spiel.adapter import SpielState
from ludens.games.overcooked.rules import OvercookedState
from ludens.games.pong.rules import PongState


def content(state: State, observer: str) -> Hashable:
    """What the observer is asked about, as a key."""
    return observer, _shown(state, observer)


def _shown(state: State, observer: str) -> Hashable:
    if isinstance(state, GridState):
        return tuple(state.cells)
    if isinstance(state, OvercookedState):
        return tuple(frame.snapshot for frame in state.frames)
    if isinstance(state, HanabiState):
        return tell(state.sight(observer), None)
    if isinstance(state, KuhnState):
        return state.infoset(observer)
    if isinstance(state, SpielState):
        return str(state.spiel)
    assert isinstance(state, PongState)
    return tuple((frame.ball, frame.left, frame.right) for frame in state.frames)
