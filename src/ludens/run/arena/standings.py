"""What the matches of a suite say about its entrants: ratings, cross-play, cycles, upsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import isnan, nan
from typing import NamedTuple

from ludens.run.arena.ratings import RESAMPLES, RatedGame, Ratings
from ludens.run.cells import Cell
from ludens.run.comparisons import MIN_NONZERO, Place
from ludens.run.plan import control_key, is_blind
from ludens.run.results import Row, SuiteResults
from ludens.run.stats import LEVEL, UNKNOWN, Estimate, excludes_zero, mean, paired_difference
from ludens.run.task import Task

ALL, ALL_UNLISTED = "all games", "all games, unlisted"
MAX_UPSETS = 8


class MatchGame(NamedTuple):
    """A game with its place in the results."""

    game: RatedGame
    row: Row
    cell: Cell
    place: Place

    @property
    def key(self) -> str:
        return self.cell.episodes[self.place].key


class Upset(NamedTuple):
    """A game that the weaker entrant has won."""

    winner: str
    loser: str
    chance: float
    """How likely ratings make it."""
    match: MatchGame


class Cycle(NamedTuple):
    """Three entrants of whom each beats the next, and the last the first."""

    names: tuple[str, str, str]
    scores: tuple[float, float, float]
    p_value: float
    """Of the least certain of the three, corrected for the number of cycles (Holm)."""


@dataclass(frozen=True)
class RatingColumn:
    """Tasks over which entrants are rated together."""

    title: str
    tasks: tuple[str, ...]


@dataclass(frozen=True)
class CrossPlay:
    """The mean return of each entrant (row) with each other (column), on one task."""

    task: Task
    names: tuple[str, ...]
    returns: Mapping[tuple[str, str], Estimate]
    self_play: Mapping[str, Estimate]
    """Entrant to its return with itself less that with others, on shared seeds."""
    alpha_rank: Mapping[str, float]
    """Entrant to its share of the stationary distribution; empty if a pair did not meet."""


@dataclass(frozen=True, eq=False)
class Standings:
    """The results of a suite whose tasks are played by pairs."""

    results: SuiteResults
    resamples: int = RESAMPLES

    @cached_property
    def specs(self) -> dict[str, str]:
        """Entrant to spec."""
        return {
            name: spec
            for row, players in self._rows
            for name, spec in zip(players, (row.spec, row.rival), strict=True)
        }

    @cached_property
    def _rows(self) -> list[tuple[Row, tuple[str, str]]]:
        """The rows of matches, and their two entrants.

        Entrants of several runs with the same name and different specs get the names of their runs.
        """
        specs: defaultdict[str, set[str]] = defaultdict(set)
        matches = [(row, row.players) for row in self.results.rows if row.players is not None]
        for row, players in matches:
            for name, spec in zip(players, (row.spec, row.rival), strict=True):
                specs[name].add(spec)
        rows = []
        for row, players in matches:
            run = row.folders[0].name
            first, second = (name if len(specs[name]) == 1 else f"{name} ({run})" for name in players)
            rows.append((row, (first, second)))
        return rows

    @cached_property
    def anchor(self) -> str:
        """The name of the entrant whose rating is 0; empty if it does not play."""
        anchor_spec = self.results.suite.anchor
        return next((name for name, spec in self.specs.items() if spec == anchor_spec), "")

    @cached_property
    def controls(self) -> dict[str, str]:
        """Entrant to its blind control."""
        blind = {control_key(spec): name for name, spec in self.specs.items() if is_blind(spec)}
        return {
            name: blind[control_key(spec)]
            for name, spec in self.specs.items()
            if not is_blind(spec) and control_key(spec) in blind
        }

    @cached_property
    def games(self) -> dict[str, list[MatchGame]]:
        """The games of every competitive task."""
        games: dict[str, list[MatchGame]] = {}
        for row, players in self._rows:
            for name, cell in row.cells.items():
                if cell.task.motive == "competitive":
                    clusters = cell.episodes.clusters()
                    for place, score in cell.values(cell.task.metrics[0]).items():
                        seed, seating, _ = place
                        game = RatedGame(*players, score, name, clusters.get(seed, seed), seating)
                        games.setdefault(name, []).append(MatchGame(game, row, cell, place))
        return {name: games[name] for name in self.results.tasks if name in games}

    @cached_property
    def columns(self) -> list[RatingColumn]:
        """All games together where there are several, then each."""
        listed = tuple(name for name in self.games if self.results.tasks[name].config.listed)
        unlisted = tuple(name for name in self.games if name not in listed)
        together = [(ALL, listed), (ALL_UNLISTED, unlisted)]
        columns = [RatingColumn(title, tasks) for title, tasks in together if len(tasks) > 1]
        return [*columns, *(RatingColumn(name, (name,)) for name in self.games)]

    def ratings(self, column: RatingColumn) -> Ratings:
        if column.title not in self._ratings:
            games = tuple(match.game for task in column.tasks for match in self.games[task])
            self._ratings[column.title] = Ratings(games, self.anchor, self.resamples)
        return self._ratings[column.title]

    @cached_property
    def _ratings(self) -> dict[str, Ratings]:
        return {}

    @cached_property
    def order(self) -> list[str]:
        """Entrants from the strongest to the weakest in the first column, then those not rated there."""
        rated = self.ratings(self.columns[0]).order if self.columns else ()
        return [*rated, *(name for name in self.specs if name not in rated)]

    def sight(self, column: RatingColumn) -> dict[str, Estimate]:
        """Entrant to the rating points by which it is above its blind control."""
        ratings = self.ratings(column)
        return {name: ratings.difference(name, control) for name, control in self.controls.items()}

    @cached_property
    def cross_play(self) -> list[CrossPlay]:
        """Of every task that is not competitive."""
        tasks = [task for task in self.results.tasks.values() if task.motive in ("cooperative", "mixed")]
        return [self._cross_play(task) for task in tasks]

    def _cross_play(self, task: Task) -> CrossPlay:
        returns: dict[tuple[str, str], Estimate] = {}
        by_seed: dict[tuple[str, str], dict[int, float]] = {}
        own, rivals = task.metrics[:2]
        for row, (a, b) in self._rows:
            if (cell := row.cells.get(task.name)) is None or not cell.episodes:
                continue
            for pair, metric in (((a, b), own), ((b, a), rivals)):
                if pair not in returns:
                    returns[pair] = cell.metrics[metric.name]
                    by_seed[pair] = _seed_means(cell.values(metric))
        names = tuple(name for name in self.order if any(name in pair for pair in returns))
        seeing = [name for name in names if not is_blind(self.specs[name])]
        alone = dict(self._self_play(names, by_seed))
        return CrossPlay(task, names, returns, alone, alpha_rank(seeing, returns))

    def _self_play(
        self, names: Sequence[str], by_seed: Mapping[tuple[str, str], Mapping[int, float]]
    ) -> Iterator[tuple[str, Estimate]]:
        for name in names:
            partners = [
                by_seed[name, partner]
                for partner in names
                if partner != name and not is_blind(self.specs[partner]) and (name, partner) in by_seed
            ]
            alone = by_seed.get((name, name), {})
            seeds = [seed for seed in alone if partners and all(seed in partner for partner in partners)]
            crossed = {seed: sum(partner[seed] for partner in partners) / len(partners) for seed in seeds}
            if seeds:
                yield name, paired_difference({seed: alone[seed] for seed in seeds}, crossed).difference

    def head_to_head(self, column: RatingColumn) -> dict[tuple[str, str], Estimate]:
        """First and second of every match to the mean score of the first, 0 to 1, over seeds."""
        if column.title not in self._head_to_head:
            scores = self._scores(column).items()
            self._head_to_head[column.title] = {pair: mean(some, bounds=(0.0, 1.0)) for pair, some in scores}
        return self._head_to_head[column.title]

    @cached_property
    def _head_to_head(self) -> dict[str, dict[tuple[str, str], Estimate]]:
        return {}

    def _scores(self, column: RatingColumn) -> dict[tuple[str, str], list[float]]:
        """The mean score of the first on each seed of each task."""
        seeds: defaultdict[tuple[str, str], dict[tuple[str, int | str], list[float]]] = defaultdict(dict)
        for task in column.tasks:
            for match in self.games[task]:
                game = match.game
                if game.first != game.second:
                    same = seeds[game.first, game.second].setdefault((game.task, game.seed), [])
                    same.append(game.score)
        return {pair: [sum(s) / len(s) for s in some.values()] for pair, some in seeds.items()}

    def cycles(self, column: RatingColumn) -> list[Cycle]:
        """Cycles that are significant: each of three beats the next."""
        beats: dict[tuple[str, str], tuple[float, float]] = {}
        for (a, b), values in self._scores(column).items():
            keyed = dict(enumerate(values))
            test = paired_difference(keyed, dict.fromkeys(keyed, 0.5))
            average = sum(values) / len(values)
            one_sided = nan if isnan(test.p_value) else test.p_value / 2
            beats[a, b] = average, one_sided if average > 0.5 else 1.0
            beats[b, a] = 1 - average, one_sided if average < 0.5 else 1.0
        tested: list[Cycle] = []
        names = sorted({name for pair in beats for name in pair})
        for a, b, c in combinations(names, 3):
            for ring in ((a, b, c), (a, c, b)):
                edges = list(zip(ring, (*ring[1:], ring[0]), strict=True))
                if all(edge in beats for edge in edges):
                    scores = tuple(beats[edge][0] for edge in edges)
                    tested.append(Cycle(ring, scores, max(beats[edge][1] for edge in edges)))  # type: ignore[arg-type]
        tested.sort(key=lambda cycle: cycle.p_value)
        significant, least = list[Cycle](), 0.0
        for rank, cycle in enumerate(tested):
            least = max(least, min(1.0, cycle.p_value * (len(tested) - rank)))
            if not least < 1 - LEVEL:
                break
            significant.append(cycle._replace(p_value=least))
        return significant

    @cached_property
    def upsets(self) -> list[Upset]:
        """The most surprising games, one of each match, least likely first."""
        best: dict[tuple[str, str, str], Upset] = {}
        for column in self.columns:
            if len(column.tasks) > 1:
                continue
            ratings = self.ratings(column)
            for match in self.games[column.tasks[0]]:
                game = match.game
                if game.score == 0.5 or game.first not in ratings.rated:
                    continue
                won = game.score == 1.0
                chance = ratings.chance_of_result(game)
                winner, loser = (game.first, game.second) if won else (game.second, game.first)
                key = (game.task, game.first, game.second)
                weaker = ratings.strength(winner) < ratings.strength(loser)
                if weaker and (key not in best or chance < best[key].chance):
                    best[key] = Upset(winner, loser, chance, match)
        return sorted(best.values(), key=lambda upset: upset.chance)[:MAX_UPSETS]

    @cached_property
    def warnings(self) -> list[str]:
        """What is doubtful about the ratings, one sentence each."""
        return list(dict.fromkeys(line for column in self.columns for line in self._doubts(column)))

    def _doubts(self, column: RatingColumn) -> Iterator[str]:
        ratings = self.ratings(column)
        if len(ratings.parts) > 1:
            parts = "; ".join(", ".join(sorted(part)) for part in ratings.parts)
            yield (
                f"{column.title}: no games connect {len(ratings.parts)} groups of entrants ({parts}); only "
                "the first is rated."
            )
        if self.anchor and self.anchor not in ratings.rated:
            yield f"{column.title}: {self.anchor} has not played; ratings are relative to the weakest."
        ends = {name: end for name, end in ratings.bounded_once.items() if name in ratings.rated}
        for end, word in ((1.0, "lost"), (0.0, "won")):
            if names := [name for name, own in ends.items() if own == end]:
                side = "lower" if end else "upper"
                yield (
                    f"{column.title}: {', '.join(names)} {word} no game, so only the {side} end of the "
                    "interval is known."
                )
        for name, estimate in self.sight(column).items():
            if estimate.n >= MIN_NONZERO and not (excludes_zero(estimate) and estimate.mean > 0):
                yield f"{column.title}: {name} is not significantly above its blind control."


def standings_of(results: SuiteResults) -> Standings:
    """The standings of results, kept with them as a cached property would be: resamples take seconds."""
    standings: Standings = vars(results).setdefault("_standings", Standings(results))
    return standings


def _seed_means(values: Mapping[Place, float]) -> dict[int, float]:
    seeds: defaultdict[int, list[float]] = defaultdict(list)
    for (seed, _, _), value in values.items():
        seeds[seed].append(value)
    return {seed: sum(some) / len(some) for seed, some in seeds.items()}


ALPHA = 100.0
"""The strength of selection of alpha-rank, for returns scaled to 0..1."""
POPULATION = 50
"""The players of its population."""


def alpha_rank(names: Sequence[str], returns: Mapping[tuple[str, str], Estimate]) -> dict[str, float]:
    """The stationary distribution of alpha-rank in one population; empty if a return is missing.

    As OpenSpiel computes it, whose module cannot be imported without matplotlib.
    """
    import numpy as np

    table = np.array([[returns.get((a, b), UNKNOWN).mean for b in names] for a in names])
    count = len(names)
    if count < 2 or np.isnan(table).any():
        return {}
    spread = float(table.max() - table.min())
    strength = ALPHA * (table - table.T) / (spread or 1.0)
    even = np.isclose(strength, 0, atol=1e-14)
    strength[even] = 1.0
    with np.errstate(over="ignore"):
        fixation = np.where(even, 1 / POPULATION, np.expm1(-strength) / np.expm1(-POPULATION * strength))
    moves = fixation.T / (count - 1)
    np.fill_diagonal(moves, 0.0)
    np.fill_diagonal(moves, 1 - moves.sum(axis=1))
    balance = np.vstack([moves.T - np.eye(count), np.ones(count)])
    shares = np.linalg.lstsq(balance, np.append(np.zeros(count), 1.0))[0]
    return dict(zip(names, map(float, np.clip(shares, 0.0, 1.0)), strict=True))
