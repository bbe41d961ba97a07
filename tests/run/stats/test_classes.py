"""Precision, recall and confusion matrices, counted by hand."""

from __future__ import annotations

from math import isnan
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ludens.run.stats import (
    classification,
)

quick = settings(max_examples=40, deadline=None)


def test_a_confusion_matrix_counted_by_hand() -> None:
    pairs = [("cat", "cat"), ("cat", "cat"), ("cat", "dog"), ("dog", "dog"), ("dog", None), ("eel", "cat")]
    found = classification(pairs)
    assert found.labels == ("cat", "dog", "eel")
    assert found.columns == ("cat", "dog", "eel", "unreadable")
    assert list(map(list, found.confusion)) == [[2, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 0]]
    assert (found.accuracy.mean, found.accuracy.n, found.unreadable) == (0.5, 6, 1)
    cat, eel = found.per_label["cat"], found.per_label["eel"]
    assert (cat.precision, cat.recall, cat.support) == pytest.approx((2 / 3, 2 / 3, 3))
    assert (isnan(eel.precision), eel.recall, eel.f1) == (True, 0, 0)
    assert found.macro_f1 == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)


def test_any_of_several_right_labels_is_right() -> None:
    either = frozenset({"up", "left"})
    found = classification([(either, "left"), (either, "down"), ("up", "up")])
    assert found.accuracy.mean == pytest.approx(2 / 3)
    assert found.labels == ("down", "left", "up")
    assert list(map(list, found.confusion)) == [[0, 0, 0, 0], [0.5, 1, 0, 0], [0.5, 0, 1, 0]]
    assert isnan(found.per_label["down"].recall)
    assert found.per_label["down"].f1 == 0
    assert found.per_label["left"].recall == pytest.approx(2 / 3)


def test_no_answers_and_no_right_label() -> None:
    empty = classification([])
    assert (empty.accuracy.n, empty.labels, isnan(empty.macro_f1)) == (0, (), True)
    with pytest.raises(ValueError, match="at least one label"):
        classification([(frozenset(), "up")])


labels = st.sampled_from(["a", "b", "c"])
truths = st.one_of(labels, st.frozensets(labels, min_size=1))
answered = st.lists(st.tuples(truths, st.none() | labels), min_size=1, max_size=40)


@quick
@given(answered, st.randoms(use_true_random=False))
def test_a_classification_adds_up_in_any_order(pairs: list[tuple[str, str | None]], dice: Random) -> None:
    found = classification(pairs)
    assert sum(map(sum, found.confusion)) == pytest.approx(len(pairs))
    hits = sum(row[i] for i, row in enumerate(found.confusion))
    assert hits / len(pairs) == pytest.approx(found.accuracy.mean)
    assert sum(score.support for score in found.per_label.values()) == pytest.approx(len(pairs))
    shuffled = list(pairs)
    dice.shuffle(shuffled)
    assert repr(classification(shuffled)) == repr(found)
