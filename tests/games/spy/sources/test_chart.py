"""Charts: plausible tables, two values swapped visibly, no text over another."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from ludens.core.errors import BadOption
from ludens.core.random import stream
from ludens.games.spy.sources.charts import KINDS, ChartData, make_table, visible_swaps

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
