"""Which games an arena plays next, when it stops as soon as the order of its entrants is certain.

After some games of every match, the next matches are those that are expected to give most information about
neighbours in the order whose places are not certain. The chance of error is shared by all pairs of neighbours
and by all looks at the results, so that looking often does not make an order appear certain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import pi

from ludens.core.plain import plural
from ludens.run.arena.ratings import Ratings
from ludens.run.arena.standings import RatingColumn, Standings
from ludens.run.plan import Job
from ludens.run.results import RunReader, results_of
from ludens.run.store import Store

FIRST_SEEDS, MORE_SEEDS = 6, 4
"""Seeds of every match before the first look, and of chosen matches before the next."""
NEAR_BEST = 0.5
"""A match is played if its expected information is at least this share of the most informative match's, which
may have no games left."""
RESAMPLES = 499


class AdaptiveSource:
    """Gives the jobs of the next block each time it is called, and none when no game is needed any longer.

    Args:
        store: The run, open for writing.
        level: How certain the whole order must be, such as 0.95.
    """

    def __init__(self, store: Store, level: float) -> None:
        self._store, self._level = store, level
        self._reader: RunReader | None = None
        self._certain = False
        self.reason = ""
        """Why no more rated games are needed."""

    def __call__(self) -> list[Job]:
        plan = self._store.plan
        rated = {name for name, task in plan.tasks_by_name.items() if task.motive == "competitive"}
        waiting, seeds = defaultdict[str, list[Job]](list), defaultdict[str, set[int]](set)
        unrated: list[Job] = []
        for job in plan.jobs:
            if job.key in self._store.done:
                if job.task in rated:
                    seeds[job.entrant].add(job.seed)
            else:
                (waiting[job.entrant] if job.task in rated else unrated).append(job)
        tasks = plan.tasks_by_name.values()
        first = {plan.seed + task.first_seed + n for task in tasks for n in range(FIRST_SEEDS)}
        if block := [job for jobs in waiting.values() for job in jobs if job.seed in first]:
            return block
        if rated and not self.reason:
            if informative := self._choose(waiting, seeds):
                return informative
            self.reason = self._conclude(sum(map(len, waiting.values())))
        return unrated

    def _conclude(self, games: int) -> str:
        if self._certain:
            return f"the order is certain at {self._level:g}; {plural(games, 'game')} were not needed."
        rest = f"; the {plural(games, 'game')} that are left would tell little about it" if games else ""
        return f"the order is not certain at {self._level:g}{rest}."

    def _choose(self, waiting: dict[str, list[Job]], seeds: dict[str, set[int]]) -> list[Job]:
        """The next block: the most informative matches about neighbours whose order is not certain."""
        ratings = self._ratings()
        looks = 1 + max(0, max(map(len, seeds.values())) - FIRST_SEEDS) // MORE_SEEDS
        open_pairs = self.open_pairs(ratings, looks)
        self._certain = not open_pairs
        if self._certain:
            return []
        matches = self._store.plan.matches
        names = [name for name, pair in matches.items() if {*pair} <= {*ratings.rated} and len({*pair}) == 2]
        gains = dict(zip(names, ratings.gains([matches[name] for name in names], open_pairs), strict=True))
        enough = NEAR_BEST * max(gains.values(), default=0.0)
        return [
            job
            for name, gain in gains.items()
            if gain >= enough
            for job in _first_seeds(waiting.get(name, []), MORE_SEEDS)
        ]

    def open_pairs(self, ratings: Ratings, looks: int) -> list[tuple[str, str]]:
        """Neighbours in the order, blind controls left out, whose places are not certain at this look."""
        order = [name for name in ratings.order if name not in self._store.plan.controls]
        pairs = list(pairwise(order))
        risk = (1 - self._level) * 6 / (pi * looks) ** 2 / max(len(pairs), 1)
        return [pair for pair in pairs if ratings.chance_above(*pair) < 1 - risk]

    def _ratings(self) -> Ratings:
        self._store.index_shards()
        self._reader = self._reader or RunReader(self._store.folder)
        self._reader.read()
        [results] = results_of([self._reader]).suites
        standings = Standings(results, RESAMPLES)
        return standings.ratings(RatingColumn("adaptive", tuple(standings.games)))


def _first_seeds(jobs: Sequence[Job], number: int) -> Iterable[Job]:
    seeds = sorted({job.seed for job in jobs})[:number]
    return (job for job in jobs if job.seed in seeds)
