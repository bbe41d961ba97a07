"""Metrics: what counts as one observation, and what does not count at all."""

from __future__ import annotations

import pytest

from ludens.core.episode import Episode
from ludens.core.errors import UsageError
from ludens.run.stats import mean, rate
from ludens.run.task import RETURN, WON, EpisodeResult, import_suite, mean_of, rate_of, suite


def played(seed: int, seat: str, earned: float) -> EpisodeResult:
    other = "o" if seat == "x" else "x"
    episode = Episode("coin_dilemma", 1, {}, seed, {"x": "", "o": ""}, returns={seat: earned, other: -earned})
    return EpisodeResult(f"a:t:{seed}:{seat}", episode, (seat,))


def swapped(*deals: tuple[float, float]) -> list[EpisodeResult]:
    """Each deal once in either seat."""
    return [
        played(seed, seat, earned)
        for seed, deal in enumerate(deals)
        for seat, earned in zip("xo", deal, strict=True)
    ]


def test_swapped_seatings_of_a_seed_are_one_observation() -> None:
    # The first seat is worth 1; beyond that the player is a little better, and always as much.
    episodes = swapped(*[(1.5, -0.5), (1.25, -0.75)] * 5)
    found = RETURN.estimate(episodes)
    assert found == mean([0.5, 0.25] * 5)
    assert (found.n, found.mean) == (10, 0.375)
    assert found.low > 0 > mean([p.episode.returns[p.seats[0]] for p in episodes]).low


def test_a_deal_that_decides_whoever_sits_where_counts_once() -> None:
    episodes = swapped(*[(1.0, 1.0)] * 6, *[(-1.0, -1.0)] * 6)
    found, careless = WON.estimate(episodes), rate(12, 24)
    assert (found.mean, found.n) == (0.5, 24)
    assert found.low < careless.low < careless.high < found.high


def test_episodes_of_different_seeds_are_what_they_were() -> None:
    episodes = [played(seed, "x", float(seed % 3)) for seed in range(12)]
    assert RETURN.estimate(episodes) == mean([0.0, 1.0, 2.0] * 4)
    assert WON.estimate(episodes) == rate(8, 12)


def test_what_has_no_value_does_not_count() -> None:
    episodes = swapped((1.0, -1.0), (1.0, 1.0))
    half = mean_of("first", lambda p: 1.0 if p.seats == ("x",) else None)
    assert half.estimate(episodes).n == 2
    never = rate_of("never", lambda p: None)
    assert never.estimate(episodes).n == 0


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("json:dumps", "neither a Suite nor a SuiteBuilder"),
        ("builtins:dict", "neither a Suite nor a SuiteBuilder"),
        ("os:getcwd", "neither a Suite nor a SuiteBuilder"),
        ("playground?exampels=1", "unknown option of playground 'exampels'; did you mean 'examples'"),
        ("playground?sides=third", "unknown value of option 'sides' of playground 'third'"),
        ("playground?episodes=0", "option 'episodes' of playground must be at least 1"),
        ("demo?size=1", "the suite demo has no options"),
    ],
)
def test_what_makes_no_suite_is_told(name: str, sentence: str) -> None:
    import_suite(name)
    with pytest.raises(UsageError, match=sentence):
        suite(name)
