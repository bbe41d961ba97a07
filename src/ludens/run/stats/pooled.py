"""Shares of things of which an episode has several, such as moves or cells, which are correlated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isnan, nan, sqrt

from ludens.run.stats.estimate import Estimate, Z, student, wilson

Counts = Mapping[str, tuple[int, int]]
"""For each class, how many hold and how many there are."""


def pooled_share(clusters: Iterable[Counts]) -> Estimate:
    """The share over all clusters of those that hold: the mean over classes where there are several.

    Not the mean of each cluster's share: a game of forty moves counts ten times as much as one of four. What
    belongs to one cluster is correlated, so clusters are the observations (`n`): the variance is that of a
    ratio of sums, linearised, and Wilson's interval is that of as many independent things as have it, widened
    as Student's t widens a normal interval. Where all or none hold, clusters count as single things.
    """
    known = [c for c in clusters if any(whole for _, whole in c.values())]
    classes = {kind for cluster in known for kind, (_, whole) in cluster.items() if whole}
    n = len(known)
    if not n:
        return Estimate(nan, nan, nan, 0, nan)
    sums = {kind: [sum(c.get(kind, (0, 0))[i] for c in known) for i in (0, 1)] for kind in classes}
    shares = {kind: part / whole for kind, (part, whole) in sums.items()}
    share = min(max(sum(shares.values()) / len(classes), 0.0), 1.0)
    if n == 1:
        return Estimate(share, nan, nan, 1, nan)
    apart = [
        sum((part - shares[kind] * whole) / sums[kind][1] for kind, (part, whole) in c.items() if whole)
        for c in known
    ]
    variance = sum(each**2 for each in apart) / len(classes) ** 2 * n / (n - 1)
    if not variance or isnan(variance):
        return replace(wilson(share, n), n=n)
    widened = variance * (student(n) / Z) ** 2
    found = wilson(share, share * (1 - share) / widened)
    return replace(found, n=n, standard_error=sqrt(variance))
