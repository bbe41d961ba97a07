"""How each precondition that `world.toml` declares is tested."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ludens.games.viki.data import PRIMITIVES
from ludens.games.viki.state import Numbered, State

Test = Callable[[Numbered, State, int, str, Sequence[int | None]], bool]


def _is_asset(w: Numbered, code: int | None) -> bool:
    return code is not None and w.first_asset <= code < w.first_robot


def _kind(w: Numbered, code: int | None, what: str) -> bool:
    return code is not None and _is_asset(w, code) and bool(getattr(w.kinds[code - w.first_asset], what))


def _closed(w: Numbered, s: State, code: int | None) -> bool:
    return code is not None and _is_asset(w, code) and bool(s.closed >> (code - w.first_asset) & 1)


def _unheld(w: Numbered, s: State, r: int, code: int) -> bool:
    return w.holder(s, code) in (None, r)


def _in_height(w: Numbered, s: State, r: int, code: int) -> bool:
    kind = w.types[r]
    if w.holder(s, code) is not None:
        return True
    own = w.kinds[code - w.first_asset]
    height = own.height if own.fixture and own.height is not None else w.height(s, code)
    return kind.low <= height <= kind.high


_HOW: dict[str, Test] = {
    "capable": lambda w, s, r, p, a: p in w.types[r].primitives,
    "exists": lambda w, s, r, p, a: a[0] is not None,
    "second_exists": lambda w, s, r, p, a: a[1] is not None,
    "asset": lambda w, s, r, p, a: _is_asset(w, a[0]),
    "second_robot": lambda w, s, r, p, a: (
        a[1] is not None and a[1] >= w.first_robot and a[1] != w.first_robot + r
    ),
    "unheld": lambda w, s, r, p, a: _unheld(w, s, r, a[0] or 0),
    "free": lambda w, s, r, p, a: (
        s.place[(a[0] or 0) - w.first_asset] < w.first_robot and _unheld(w, s, r, a[0] or 0)
    ),
    "set_down": lambda w, s, r, p, a: w.holder(s, a[0] or 0) is None,
    "uncovered": lambda w, s, r, p, a: not w.covered(s, a[0] or 0),
    "in_radius": lambda w, s, r, p, a: w.bridged[r][s.at[r]][w.area(s, a[0] or 0)],
    "in_height": lambda w, s, r, p, a: _in_height(w, s, r, a[0] or 0),
    "free_hand": lambda w, s, r, p, a: w.free_hands(s, r) > 0,
    "reached": lambda w, s, r, p, a: (a[0] or 0) - w.first_asset in s.reached[r],
    "graspable": lambda w, s, r, p, a: not _kind(w, a[0], "fixture"),
    "together": lambda w, s, r, p, a: s.at[r] == w.area(s, a[0] or 0),
    "carrying": lambda w, s, r, p, a: w.first_robot + r in s.place,
    "carries_target": lambda w, s, r, p, a: s.place[(a[0] or 0) - w.first_asset] == w.first_robot + r,
    "receptacle": lambda w, s, r, p, a: (
        _kind(w, a[0], "holds") or (a[0] is not None and a[0] < w.first_asset)
    ),
    "not_closed": lambda w, s, r, p, a: not _closed(w, s, a[0]) and not w.covered(s, a[0] or 0),
    "openable": lambda w, s, r, p, a: _kind(w, a[0], "opens"),
    "is_closed": lambda w, s, r, p, a: _closed(w, s, a[0]),
    "is_open": lambda w, s, r, p, a: not _closed(w, s, a[0]),
    "not_active": lambda w, s, r, p, a: not s.active >> ((a[0] or 0) - w.first_asset) & 1,
    "hand_or_holding": lambda w, s, r, p, a: (
        w.types[r].arms == 0
        or w.free_hands(s, r) > 0
        or s.place[(a[0] or 0) - w.first_asset] == w.first_robot + r
    ),
    "pushable": lambda w, s, r, p, a: _kind(w, a[0], "pushable"),
    "second_free_hand": lambda w, s, r, p, a: w.free_hands(s, (a[1] or 0) - w.first_robot) > 0,
    "second_together": lambda w, s, r, p, a: s.at[r] == w.area(s, a[1] or 0),
}
TESTS: dict[str, tuple[tuple[str, Test], ...]] = {
    name: tuple((need, _HOW[need]) for need in primitive.needs) for name, primitive in PRIMITIVES.items()
}
"""Preconditions of each primitive, in the order they are tested."""

_FIXED = {"capable", "exists", "second_exists", "asset", "second_robot"}
_FIXED |= {"graspable", "receptacle", "openable", "pushable"}
FIXED = {name: tuple(test for need, test in tests if need in _FIXED) for name, tests in TESTS.items()}
"""The tests that do not depend on the state; the planner makes them once."""
CHANGING = {name: tuple(test for need, test in tests if need not in _FIXED) for name, tests in TESTS.items()}
"""The other tests."""
