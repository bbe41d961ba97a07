"""Ratings from games between entrants: Bradley-Terry with draws (Davidson 1970) and seat advantages.

The chance of a win, a draw and a loss of a against b are in the ratio exp(x / 2) : draws : exp(-x / 2), where
x is the strength of a less that of b, plus the advantage of a's seats; advantages and draws are those of the
task. Half a win and half a loss of every entrant are added: without them an entrant that always wins would
have infinite strength, and the others would be too far apart. Intervals come from a bootstrap that resamples
the seeds of each task with all games played on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, sqrt
from typing import TYPE_CHECKING

from ludens.run.stats import BCA_UP_TO, LEVEL, UNKNOWN, Estimate

if TYPE_CHECKING:
    import numpy as np

ELO = 400 / log(10)
"""Rating points of one unit of strength."""
PRIOR = 1 / 400
"""The precision of a normal prior. It keeps parameters finite that no game bounds."""
HALF = 0.5
"""Wins and losses of each entrant, spread over its kinds of games, that are added to what was played: they
remove most of the bias of maximum likelihood, as Jeffreys' prior does for a proportion."""
RESAMPLES = 999
STEPS, CLOSE = 60, 1e-9


@dataclass(frozen=True, slots=True)
class RatedGame:
    """One game, seen from its first player."""

    first: str
    second: str
    score: float
    """1 for a win of the first, 1/2 for a draw, 0."""
    task: str
    seed: int | str
    """What it shares with other games of the task: the seed, or the cluster of seeds."""
    seating: int = 0
    """0 and 1 are the same seats with the players exchanged; so are 2 and 3, and so on."""


@dataclass(frozen=True)
class _Design:
    """Games as counts of results, and the sums of parameters that decide each kind of game."""

    entrants: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    """Of all parameters: strengths, advantages by task and pair of seatings, draws by task."""
    contrasts: np.ndarray
    """Kinds of games x parameters: what adds up to x."""
    draws: np.ndarray
    """Kinds of games x parameters: 1 at the parameter of draws; all 0 where a task has none."""
    counts: np.ndarray
    """Groups x kinds of games x (wins, draws, losses)."""
    strata: np.ndarray
    """The task of each group."""
    prior_counts: np.ndarray
    """Kinds of games x (wins, draws, losses): what is added to the counts."""

    @staticmethod
    def of(games: Sequence[RatedGame]) -> _Design:
        import numpy as np

        entrants = tuple(dict.fromkeys(name for game in games for name in (game.first, game.second)))
        tasks = tuple(dict.fromkeys(game.task for game in games))
        with_draws = {game.task for game in games if game.score == 0.5}
        seats = dict.fromkeys((game.task, game.seating // 2) for game in games)
        both = {game.task: set[int]() for game in games}
        for game in games:
            both[game.task].add(game.seating)
        advantages = [key for key in seats if {2 * key[1], 2 * key[1] + 1} <= both[key[0]]]
        names = (
            *(("strength", name) for name in entrants),
            *(("advantage", task, str(number)) for task, number in advantages),
            *(("draws", task) for task in tasks if task in with_draws),
        )
        place = {name: number for number, name in enumerate(names)}
        kinds = {(g.first, g.second, g.task, g.seating): 0 for g in games}
        kinds = {kind: number for number, kind in enumerate(kinds)}
        contrasts, draws = np.zeros((len(kinds), len(names))), np.zeros((len(kinds), len(names)))
        for (first, second, task, seating), number in kinds.items():
            contrasts[number, place["strength", first]] += 1
            contrasts[number, place["strength", second]] -= 1
            advantage = ("advantage", task, str(seating // 2))
            if advantage in place:
                contrasts[number, place[advantage]] = 1 if seating % 2 == 0 else -1
            if task in with_draws:
                draws[number, place["draws", task]] = 1
        groups = {(game.task, game.seed): 0 for game in games}
        groups = {group: number for number, group in enumerate(groups)}
        counts = np.zeros((len(groups), len(kinds), 3))
        outcome = {1.0: 0, 0.5: 1, 0.0: 2}
        for game in games:
            kind = kinds[game.first, game.second, game.task, game.seating]
            counts[groups[game.task, game.seed], kind, outcome[game.score]] += 1
        strata = np.array([tasks.index(task) for task, _ in groups])
        number_of = Counter(name for first, second, *_ in kinds for name in {first, second})
        prior_counts = np.zeros((len(kinds), 3))
        for (first, second, *_), kind in kinds.items():
            prior_counts[kind, [0, 2]] = HALF / 2 * (1 / number_of[first] + 1 / number_of[second])
        return _Design(entrants, names, contrasts, draws, counts, strata, prior_counts)

    def fit(self, counts: np.ndarray, start: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The most likely parameters for each of several tables of counts, and the negated second
        derivatives; by Newton's method, halving steps that do not improve."""
        import numpy as np

        counts = counts + self.prior_counts
        many, size = len(counts), len(self.names)
        at = np.zeros((many, size)) if start is None else np.repeat(start[None], many, 0)
        value, gradient, curvature = self._likelihood(counts, at)
        for _ in range(STEPS):
            step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
            if np.abs(step).max() < CLOSE:
                break
            scale = np.ones(many)
            for _ in range(30):
                tried = at + scale[:, None] * step
                tried_value = self._value(counts, tried)
                worse = tried_value < value - 1e-12 * np.abs(value)
                if not worse.any():
                    break
                scale[worse] /= 2
            at = tried
            value, gradient, curvature = self._likelihood(counts, at)
        return at, curvature

    def _chances(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-chances of win, draw and loss for each kind of game: parameters x kinds x 3; and chances."""
        import numpy as np

        x = at @ self.contrasts.T
        has_draws = self.draws.any(1)
        draw = np.where(has_draws, at @ self.draws.T, -np.inf)
        parts = np.stack([x / 2, draw, -x / 2], -1)
        most = parts.max(-1, keepdims=True)
        logs = parts - most - np.log(np.exp(parts - most).sum(-1, keepdims=True))
        return logs, np.exp(logs)

    def _value(self, counts: np.ndarray, at: np.ndarray) -> np.ndarray:
        import numpy as np

        logs, _ = self._chances(at)
        terms = np.where(counts > 0, counts * np.where(np.isfinite(logs), logs, 0.0), 0.0)
        value: np.ndarray = terms.sum((1, 2)) - PRIOR / 2 * (at**2).sum(1)
        return value

    def _likelihood(self, counts: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        import numpy as np

        _, chances = self._chances(at)
        games = counts.sum(-1)
        win, draw, loss = np.moveaxis(chances, -1, 0)
        edge = (win - loss) / 2
        by_x = (counts[..., 0] - counts[..., 2]) / 2 - games * edge
        by_draw = counts[..., 1] - games * draw
        gradient = by_x @ self.contrasts + by_draw @ self.draws - PRIOR * at
        xx = games * ((win + loss) / 4 - edge**2)
        dd = games * draw * (1 - draw)
        xd = -games * edge * draw
        a, b = self.contrasts, self.draws
        crossed = (a.T[None] * xd[:, None]) @ b
        curvature = (a.T[None] * xx[:, None]) @ a + (b.T[None] * dd[:, None]) @ b
        curvature += crossed + crossed.swapaxes(1, 2) + PRIOR * np.eye(len(self.names))
        return self._value(counts, at), gradient, curvature

    def resampled(self, number: int, seed: int) -> np.ndarray:
        """Tables of counts with the groups of every task drawn with replacement."""
        import numpy as np

        random = np.random.default_rng(seed)
        weights = np.zeros((number, len(self.strata)))
        for task in np.unique(self.strata):
            members = np.flatnonzero(self.strata == task)
            weights[:, members] = random.multinomial(
                len(members), np.full(len(members), 1 / len(members)), size=number
            )
        flat = self.counts.reshape(len(self.counts), -1)
        tables: np.ndarray = (weights @ flat).reshape(number, *self.counts.shape[1:])
        return tables


@dataclass(frozen=True)
class Ratings:
    """Strengths of entrants, in rating points relative to the anchor where it has played."""

    games: tuple[RatedGame, ...]
    anchor: str = ""
    resamples: int = RESAMPLES
    seed: int = 0

    @cached_property
    def parts(self) -> tuple[frozenset[str], ...]:
        """The entrants in groups between which no game was played, the group of the anchor first."""
        groups: list[set[str]] = []
        for game in self.games:
            joined = {game.first, game.second}
            for group in [group for group in groups if group & joined]:
                groups.remove(group)
                joined |= group
            groups.append(joined)
        return tuple(
            sorted(map(frozenset, groups), key=lambda group: (self.anchor not in group, -len(group)))
        )

    @cached_property
    def rated(self) -> tuple[str, ...]:
        """The entrants that can be compared with each other: those of the first part."""
        return tuple(name for name in self._design.entrants if name in self.parts[0]) if self.games else ()

    @cached_property
    def zero(self) -> str:
        """The entrant whose rating is 0: the anchor, or the weakest where it has not played."""
        if self.anchor in self.rated:
            return self.anchor
        return min(self.rated, key=lambda name: self._point[self._place(name)])

    @cached_property
    def bounded_once(self) -> dict[str, float]:
        """Entrants that have lost no game (1.0) or won none (0.0), which bound a rating on one side only.

        Draws do not bound it on the other side: how frequent they are is estimated too.
        """
        scores: dict[str, set[float]] = {}
        for game in self.games:
            if game.first != game.second:
                scores.setdefault(game.first, set()).add(game.score)
                scores.setdefault(game.second, set()).add(1 - game.score)
        decided = {name: some - {0.5} for name, some in scores.items()}
        return {name: next(iter(some)) for name, some in decided.items() if len(some) == 1}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """From the strongest to the weakest."""
        return tuple(sorted(self.rated, key=lambda name: -self._point[self._place(name)]))

    @cached_property
    def _design(self) -> _Design:
        return _Design.of(self.games)

    @cached_property
    def _point(self) -> np.ndarray:
        at, _ = self._design.fit(self._design.counts.sum(0)[None])
        point: np.ndarray = at[0]
        return point

    @cached_property
    def _samples(self) -> np.ndarray:
        tables = self._design.resampled(self.resamples, self.seed)
        at, _ = self._design.fit(tables, self._point)
        return at

    @property
    def groups(self) -> int:
        """The number of seeds, over all tasks."""
        return len(self._design.strata)

    def _place(self, name: str) -> int:
        return self._design.names.index(("strength", name))

    def strength(self, name: str) -> float:
        return float(self._point[self._place(name)])

    def rating(self, name: str) -> Estimate:
        """The rating of an entrant; NaN if no chain of games connects it with the anchor."""
        if name not in self.rated:
            return UNKNOWN
        return self.difference(name, self.zero)

    def difference(self, a: str, b: str) -> Estimate:
        """How many points a is above b."""
        if a not in self.rated or b not in self.rated:
            return UNKNOWN
        i, j = self._place(a), self._place(b)
        point = float(self._point[i] - self._point[j])
        if a == b:
            return Estimate(0.0, 0.0, 0.0, self._seeds(a), 0.0)
        low, high = self._one_sided(a, b, point, *self._interval(self._contrast(a, b)))
        return Estimate(point, low, high, self._seeds(a), self._error(a, b)).scaled(ELO)

    def _error(self, a: str, b: str) -> float:
        """The standard error of the difference, by resamples."""
        i, j = self._place(a), self._place(b)
        return float((self._samples[:, i] - self._samples[:, j]).std(ddof=1))

    def _contrast(self, a: str, b: str) -> np.ndarray:
        import numpy as np

        contrast = np.zeros(len(self._design.names))
        contrast[self._place(a)] += 1
        contrast[self._place(b)] -= 1
        return contrast

    def _interval(self, contrast: np.ndarray) -> tuple[float, float]:
        """The BCa interval of a sum of parameters, its level widened for few seeds as by Student's t."""
        import numpy as np
        from scipy.special import ndtr, ndtri, stdtrit

        point, values = float(contrast @ self._point), self._samples @ contrast
        freedom = max(self.groups - len(np.unique(self._design.strata)), 1)
        wide = stdtrit(freedom, (1 + LEVEL) / 2) * sqrt((freedom + 1) / freedom)
        below = float(np.mean(values < point) + np.mean(values == point) / 2)
        bias = ndtri(min(max(below, 1 / len(values)), 1 - 1 / len(values)))
        pulls = self._pulls @ contrast
        spread = float((pulls**2).sum()) ** 1.5
        acceleration = float((pulls**3).sum()) / (6 * spread) if spread else 0.0
        shifts = [bias + z for z in (-wide, wide)]
        ends = [ndtr(bias + shift / (1 - acceleration * shift)) for shift in shifts]
        low, high = np.quantile(values, ends)
        return float(low), float(high)

    @cached_property
    def _pulls(self) -> np.ndarray:
        """How much the parameters change, in either direction, if a group is left out; by group."""
        import numpy as np

        counts = self._design.counts
        if len(counts) > BCA_UP_TO:
            return np.zeros((len(counts), len(self._point)))
        without, _ = self._design.fit(counts.sum(0)[None] - counts, self._point)
        pulls: np.ndarray = without.mean(0) - without
        return pulls

    def _one_sided(self, a: str, b: str, point: float, low: float, high: float) -> tuple[float, float]:
        """The interval, infinite on the side on which no game bounds a or b.

        On the other side resamples say little, since most games ended alike: it ends no nearer than where
        the games, one of each seed and rival, are less likely by a factor of 1 - LEVEL than they can be.
        """
        above = {self.bounded_once.get(a), 1 - self.bounded_once[b] if b in self.bounded_once else None}
        if above <= {None}:
            return low, high
        slack = max(self._slack(name) for name in (a, b) if name in self.bounded_once)
        if 1.0 in above and 0.0 in above:
            return -inf, inf
        return (min(low, point - slack), inf) if 1.0 in above else (-inf, max(high, point + slack))

    def _slack(self, name: str) -> float:
        """How far the strength of an entrant that lost no game may be below its estimate, or above it."""
        import numpy as np

        design, place = self._design, self._place(name)
        own = design.contrasts[:, place] != 0
        counts, weight = design.counts[:, own], np.zeros((int(own.sum()), 3))
        opponents = np.abs(design.contrasts[own, : len(design.entrants)])
        opponents[:, place] = 0
        for rival in np.unique(opponents.argmax(1)):
            met = opponents.argmax(1) == rival
            number = np.maximum(counts[:, met].sum((1, 2), keepdims=True), 1)
            weight[met] = (counts[:, met] / number).sum(0)
        sign = 1.0 if self.bounded_once[name] == 1.0 else -1.0
        part = replace(design, contrasts=design.contrasts[own], draws=design.draws[own], counts=counts)

        def chance(down: float) -> float:
            at = self._point.copy()
            at[place] -= sign * down
            logs, _ = part._chances(at[None])
            return float(np.where(weight > 0, weight * np.where(np.isfinite(logs[0]), logs[0], 0), 0).sum())

        best = max(range(-60, 61), key=chance)
        low, high, limit = float(best), 60.0, chance(best) + log(1 - LEVEL)
        for _ in range(80):  # the chance falls as the strength approaches that of the others
            middle = (low + high) / 2
            low, high = (middle, high) if chance(middle) > limit else (low, middle)
        return low

    def _seeds(self, name: str) -> int:
        return len({(game.task, game.seed) for game in self.games if name in (game.first, game.second)})

    def chance_above(self, a: str, b: str) -> float:
        """How certain it is that a is stronger than b, from 0 to 1: normal, with the error of resamples."""
        import numpy as np
        from scipy.special import ndtr

        contrast = self._contrast(a, b)
        # The error by the second derivatives too: few seeds may all have ended alike.
        by_model = float(sqrt(contrast @ np.linalg.solve(self._curvature, contrast)))
        difference = self._point[self._place(a)] - self._point[self._place(b)]
        return float(ndtr(difference / max(self._error(a, b), by_model)))

    @cached_property
    def _curvature(self) -> np.ndarray:
        """The negated second derivatives at the ratings."""
        _, curvatures = self._design.fit(self._design.counts.sum(0)[None], self._point)
        curvature: np.ndarray = curvatures[0]
        return curvature

    def chance_of_result(self, game: RatedGame) -> float:
        """How likely ratings make the result of a game that was not drawn."""
        kind = self._kinds[game.first, game.second, game.task, game.seating]
        return float(self._chances[kind, 0 if game.score == 1.0 else 2])

    @cached_property
    def _kinds(self) -> dict[tuple[str, str, str, int], int]:
        kinds = dict.fromkeys((g.first, g.second, g.task, g.seating) for g in self.games)
        return {kind: number for number, kind in enumerate(kinds)}

    @cached_property
    def _chances(self) -> np.ndarray:
        _, chances = self._design._chances(self._point[None])
        one: np.ndarray = chances[0]
        return one

    def advantages(self) -> Mapping[tuple[str, int], Estimate]:
        """Task and number of a pair of seatings to the points that the seats of the first are worth."""
        import numpy as np

        worth = {}
        for place, name in enumerate(self._design.names):
            if name[0] == "advantage":
                low, high = self._interval(np.eye(len(self._design.names))[place])
                error = float(self._samples[:, place].std(ddof=1))
                estimate = Estimate(float(self._point[place]), low, high, self.groups, error)
                worth[name[1], int(name[2])] = estimate.scaled(ELO)
        return worth

    def gains(self, pairs: Sequence[tuple[str, str]], open_pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair of entrants, how much a game between them is expected to reduce the variance of the
        differences of the open pairs, relative to it."""
        import numpy as np

        spread = np.linalg.inv(self._curvature)
        gains = []
        for a, b in pairs:
            x = self._contrast(a, b)
            difference = float(x @ self._point)
            win = 1 / (1 + np.exp(-difference))
            information = win * (1 - win)
            after = spread @ x
            reduction = information / (1 + information * float(x @ after))
            total = 0.0
            for first, second in open_pairs:
                c = self._contrast(first, second)
                total += reduction * float(c @ after) ** 2 / float(c @ spread @ c)
            gains.append(total)
        return gains
