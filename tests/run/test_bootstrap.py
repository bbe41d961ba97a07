"""The bootstrap interval against that of scipy."""

import numpy as np
import pytest
from scipy import stats

from ludens.run.bootstrap import interval_of_mean


@pytest.mark.parametrize("bca", [True, False])
@pytest.mark.parametrize("size", [8, 12, 50, 400])
@pytest.mark.parametrize("shape", ["normal", "skewed", "rare", "ties"])
def test_the_interval_is_that_of_scipy(bca: bool, size: int, shape: str) -> None:
    random = np.random.default_rng(size)
    sample = {
        "normal": random.normal(size=size),
        "skewed": random.exponential(size=size) ** 2,
        "rare": np.arange(size) == 0,
        "ties": random.integers(0, 3, size),
    }[shape].astype(np.float64)
    sample = np.sort(sample)
    sample = (sample - sample.mean()) / sample.std(ddof=1)
    expected = stats.bootstrap(
        (sample,),
        lambda resample, axis: np.round(np.mean(resample, axis=axis), 12),
        vectorized=True,
        confidence_level=0.96,
        method="BCa" if bca else "percentile",
        n_resamples=3_000,
        batch=1_300,
        rng=np.random.default_rng(5),
    ).confidence_interval
    found = interval_of_mean(sample, 0.96, np.random.default_rng(5), 3_000, 1_300, bca=bca)
    assert found == pytest.approx((expected.low, expected.high), rel=1e-12, abs=1e-12)
