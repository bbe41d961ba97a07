"""`ludens bench scenes`: how fast pairs of scenes are rendered, next to the paper's figure."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time

from benchmarks import Row
from ludens.core.errors import MissingExtra
from ludens.games.spy.sources.charts import ChartPairs
from ludens.games.spy.sources.clevr import Clevr
from ludens.pictures.writer import Generator

_PAPER = 2000 / 6
"""Pairs per hour: 2,000 pairs of CLEVR scenes took the authors of Vision-Zero 6 hours on an A100."""
_TARGET = 1000


def rows(seconds: float) -> Iterator[Row]:
    """Pairs of pictures per hour of one core (of the card, with CUDA)."""
    for generator in (Clevr(), ChartPairs()):
        name = f"pairs of {generator.name}"
        try:
            ready = generator.resolved()
            line = ready.prepare()
        except MissingExtra as error:
            yield Row(name, None, "pairs/h", note=str(error))
            continue
        rate = _rate(ready, seconds)
        if isinstance(ready, Clevr):
            paper = f"the paper: {_PAPER:.0f} on an A100; {line}"
            yield Row(name, rate, "pairs/h", _TARGET, rate / _PAPER, paper)
        else:
            yield Row(name, rate, "pairs/h", note=line)


def _rate(generator: Generator, seconds: float) -> float:
    """Pairs per hour of CPU time, after one that loads the libraries."""
    clock = perf_counter if isinstance(generator, Clevr) and generator.variant == "cuda" else process_time
    generator.make(0)
    pairs, began = 0, clock()
    while (spent := clock() - began) < seconds or not pairs:
        pairs += 1
        generator.make(pairs)
    return 3600 * pairs / spent
