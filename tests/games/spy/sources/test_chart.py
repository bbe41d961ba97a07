"""Charts: plausible tables, two values swapped visibly, no text over another."""

from __future__ import annotations

import io
from math import sqrt
from statistics import fmean

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.games.spy.sources.charts import KINDS, make_swap, make_table, visible_swaps
from ludens.games.spy.tables import ChartData

FRUIT = ChartData("bar", "Fruit", "kg", ("Apples", "Pears", "Plums"), (10, 9, 2))


def test_visible_swaps_by_hand() -> None:
    """Of values 10, 9 and 2, an exchange must move a bar by 2.2; of a pie of 21, a slice by 1.54."""
    assert visible_swaps(FRUIT) == [(0, 2), (1, 2)]
    pie = ChartData("pie", "", "", FRUIT.labels, FRUIT.values)
    assert visible_swaps(pie) == [(0, 2), (1, 2)]
    assert visible_swaps(ChartData("pie", "", "", FRUIT.labels, (10, 8, 2)))[0] == (0, 1)
    assert FRUIT.swapped(0, 2).values == (2, 9, 10)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_plausible(kind: str) -> None:
    titles = set()
    for seed in range(200):
        table = make_table(stream(seed, "test"), kind)
        titles.add(table.title)
        assert table.kind == kind
        assert 4 <= len(table.labels) == len(table.values) <= 12
        assert len(set(table.labels)) == len(table.labels)
        assert len(set(table.values)) == len(table.values)
        assert min(table.values) > 0
        assert table == make_table(stream(seed, "test"), kind)
    assert len(titles) >= 5


def _roughness(table: ChartData) -> float:
    return sum(abs(b - a) for a, b in zip(table.values, table.values[1:], strict=False))


def _guessed_swap(table: ChartData) -> tuple[int, int]:
    """The swap that a spy who sees only its own chart would undo: the one that makes it smoothest."""
    return min(visible_swaps(table), key=lambda swap: _roughness(table.swapped(*swap)))


PAIRS = 1000
WITHIN = 4 * 0.5 / sqrt(PAIRS)
"""Four standard errors of a share: 6.3%."""


@pytest.mark.parametrize("kind", KINDS)
def test_no_chart_shows_which_is_the_original(kind: str) -> None:
    pairs = [made for seed in range(PAIRS) if (made := make_swap(stream(seed, "blind"), kind))]
    assert len(pairs) > 0.95 * PAIRS
    clues = {
        "smoother": lambda table: -_roughness(table),
        "first higher": lambda table: table.values[0],
        "last higher": lambda table: table.values[-1],
        "largest later": lambda table: table.values.index(max(table.values)),
        "closer to sorted": lambda table: float(np.corrcoef(table.values, range(len(table.values)))[0, 1]),
    }
    for name, clue in clues.items():
        different = [(clue(a), clue(b)) for a, b, _ in pairs if clue(a) != clue(b)]
        share = fmean(first > second for first, second in different)
        assert abs(share - 0.5) < 0.5 * 4 / sqrt(len(different)), name
    found = fmean(_guessed_swap(modified) == swap for _, modified, swap in pairs)
    chance = fmean(1 / len(visible_swaps(modified)) for _, modified, _ in pairs)
    assert abs(found - chance) < WITHIN


def test_in_a_smooth_series_the_same_clues_tell() -> None:
    """What the test above would notice."""
    walk = ChartData("line", "", "", tuple("abcdefgh"), (10, 12, 13, 15, 18, 20, 21, 23))
    swapped = walk.swapped(1, 6)
    assert _roughness(walk) < _roughness(swapped)
    assert _guessed_swap(swapped) == (1, 6)


def test_pairs_differ_where_the_log_says() -> None:
    pytest.importorskip("matplotlib")
    from ludens.games.spy.sources.charts import HEIGHT, WIDTH, ChartPairs

    generator = ChartPairs(seed=5)
    kinds = set()
    for number in range(3):
        made = generator.make(number)
        pictures = [np.array(Image.open(io.BytesIO(data)).convert("RGB")) for data in made.pictures.values()]
        assert {picture.shape for picture in pictures} == {(HEIGHT, WIDTH, 3)}
        assert np.any(pictures[0] != pictures[1], axis=-1).sum() > 500
        original, modified = made.scene["original"], made.scene["modified"]
        [change] = made.changes
        differing = [
            label
            for label, before, after in zip(
                original["labels"], original["values"], modified["values"], strict=True
            )
            if before != after
        ]
        assert sorted(differing) == sorted(change["swapped"])
        assert change["from"] == change["to"][::-1]
        kinds.add(original["kind"])
    assert kinds == set(KINDS)
    assert made.pictures == generator.make(2).pictures


def test_overlapping_texts_are_found() -> None:
    pytest.importorskip("matplotlib")
    from ludens.core.random import Stream
    from ludens.games.spy.sources.charts import draw

    assert draw(FRUIT, Stream(1))[1] == []
    crowded = ChartData(
        "line", "Long", "kg", tuple(f"a very long label {k}" for k in range(10)), tuple(range(1, 11))
    )
    assert draw(crowded, Stream(1))[1] != []


def test_wrong_kinds_are_refused() -> None:
    pytest.importorskip("matplotlib")
    from ludens.games.spy.sources.charts import ChartPairs

    assert ChartPairs(kinds="bar,pie").resolved()
    with pytest.raises(BadOption, match="not 'radar'"):
        ChartPairs(kinds="bar+radar").resolved()
