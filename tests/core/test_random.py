"""Random streams: pinned for ever, independent by name, fair."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from ludens.core.random import Stream, stream

SURE = 1e-4
"""Seeds are fixed, so a p-value below this is a defect and not bad luck."""


def test_bits_are_those_of_the_published_generator() -> None:
    reference = Stream(1234567)
    assert [reference.bits() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_named_streams_are_pinned() -> None:
    """Recorded episodes depend on these numbers: they may never change."""
    deal = stream(7, "deal")
    assert [deal.below(100) for _ in range(8)] == [27, 1, 96, 11, 64, 36, 71, 27]
    assert deal.random() == 0.10220328767365205
    assert deal.choice("abcdef") == "a"
    assert deal.sample(range(10), 4) == [9, 8, 2, 0]
    assert deal.between(-3, 3) == 3
    assert deal.weighted("xyz", [1, 2, 3]) == "z"
    items = list(range(10))
    stream(-1, "shuffle", 3).shuffle(items)
    assert items == [6, 5, 2, 3, 0, 1, 8, 9, 4, 7]
    assert stream(7, "deal").fork("x", 1).bits() == 10807374083652894794


def test_streams_differ_by_seed_and_by_name() -> None:
    firsts = {stream(seed, name).bits() for seed in range(50) for name in ("deal", "agent", "fallback", "")}
    assert len(firsts) == 200


@given(st.lists(st.text("ab/\\", max_size=4), max_size=4), st.lists(st.text("ab/\\", max_size=4), max_size=4))
def test_other_names_make_another_stream(first: list[str], second: list[str]) -> None:
    assert (stream(7, *first) == stream(7, *second)) == (first == second)


def test_neighbouring_seeds_and_names_are_uncorrelated() -> None:
    """The first draw over many seeds, and over many names, is uniform, and so are pairs of them."""
    over_seeds = [stream(seed, "deal").random() for seed in range(4000)]
    over_names = [stream(1, "agent", number).random() for number in range(4000)]
    for draws in (over_seeds, over_names):
        assert kstest(draws, "uniform").pvalue > SURE
        lagged = Counter((int(a * 4), int(b * 4)) for a, b in pairwise(draws))
        assert chisquare(list(lagged.values())).pvalue > SURE


@pytest.mark.parametrize("outcomes", [2, 3, 7, 10, 100])
def test_below_is_uniform(outcomes: int) -> None:
    dice = stream(3, "uniform", outcomes)
    counts = Counter(dice.below(outcomes) for _ in range(400 * outcomes))
    assert set(counts) == set(range(outcomes))
    assert chisquare(list(counts.values())).pvalue > SURE


def test_random_is_uniform() -> None:
    dice = stream(3, "floats")
    assert kstest([dice.random() for _ in range(5000)], "uniform").pvalue > SURE


def test_every_order_is_as_likely() -> None:
    dice = stream(5, "orders")
    shuffled, sampled = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for _ in range(6000):
        items = list("abc")
        dice.shuffle(items)
        shuffled[tuple(items)] += 1
        sampled[tuple(dice.sample("abc", 3))] += 1
    for counts in (shuffled, sampled):
        assert set(counts) == set(permutations("abc"))
        assert chisquare(list(counts.values())).pvalue > SURE


def test_weighted_follows_its_weights() -> None:
    dice = stream(5, "weights")
    counts = Counter(dice.weighted("abcd", [1, 0, 2, 3]) for _ in range(6000))
    assert "b" not in counts
    assert chisquare([counts[c] for c in "acd"], [1000, 2000, 3000]).pvalue > SURE


def test_a_clone_draws_the_same_and_moves_alone() -> None:
    original = stream(9, "clone")
    copy = original.clone()
    assert copy == original
    assert hash(copy) == hash(original)
    ahead = [copy.bits() for _ in range(10)]
    assert copy != original
    assert [original.bits() for _ in range(10)] == ahead


def test_a_fork_does_not_move_its_parent() -> None:
    parent, untouched = stream(9), stream(9)
    forks = [parent.fork("a"), parent.fork("b"), parent.fork("a", 1)]
    assert parent == untouched
    assert len({fork.bits() for fork in forks}) == 3


@given(st.integers(), st.integers(-(10**9), 10**9), st.integers(0, 10**9))
def test_between_stays_between(seed: int, low: int, spread: int) -> None:
    assert low <= stream(seed).between(low, low + spread) <= low + spread


@given(st.integers(), st.lists(st.integers(), max_size=30), st.data())
def test_sample_and_shuffle_keep_what_they_are_given(
    seed: int, items: list[int], data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(items)))
    drawn = stream(seed).sample(items, size)
    assert len(drawn) == size
    assert not Counter(drawn) - Counter(items)
    shuffled = list(items)
    stream(seed).shuffle(shuffled)
    assert Counter(shuffled) == Counter(items)


def test_impossible_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one outcome"):
        stream(1).below(0)
    with pytest.raises(ValueError, match="cannot draw 3 of 2"):
        stream(1).sample("ab", 3)
