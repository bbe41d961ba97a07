"""Python's collector of cyclic garbage, kept from looking through everything again and again.

A run with hundreds of episodes in flight makes many objects that live for a while and hardly any cycles: with
the usual settings a tenth of its time goes into looking for them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG, _MIDDLE, _OLD = 20_000, 10, 100


@contextmanager
def rare_collections() -> Iterator[None]:
    """Within: what is there already is left alone, and the collector comes seldom."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
