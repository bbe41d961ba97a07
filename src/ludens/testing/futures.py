"""Copies of a state with another random future: every random stream that the state owns is replaced."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from ludens.core.random import Stream
from ludens.core.state import State


def other_future(state: State, random: Stream) -> State:
    """A clone whose streams are replaced by others.

    Streams are found in attributes, in lists, tuples and dicts held by attributes, and in attributes of
    objects held by attributes. Other generators and values drawn in advance are not found.
    """
    clone = state.clone()
    for name, value in _attributes(clone):
        replaced = _replaced(value, random)
        if replaced is not value:
            object.__setattr__(clone, name, replaced)
    return clone


def _replaced(value: Any, random: Stream) -> Any:
    """The value with other streams; the value itself if it has none."""
    if isinstance(value, Stream):
        return Stream(random.bits())
    if type(value) in (list, tuple) and any(isinstance(each, Stream) for each in value):
        return type(value)(Stream(random.bits()) if isinstance(each, Stream) else each for each in value)
    if type(value) is dict and any(isinstance(each, Stream) for each in value.values()):
        return {
            key: Stream(random.bits()) if isinstance(each, Stream) else each for key, each in value.items()
        }
    names = [name for name, each in _attributes(value) if isinstance(each, Stream)]
    if not names:
        return value
    owner = copy.copy(value)  # the original may be shared with other states
    for name in names:
        object.__setattr__(owner, name, Stream(random.bits()))
    return owner


def _attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of the attributes of an instance, in `__dict__` and in `__slots__`."""
    names = dict.fromkeys(getattr(owner, "__dict__", ()))
    for cls in type(owner).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    for name in names:
        if not name.startswith("__") and hasattr(owner, name):
            yield name, getattr(owner, name)
