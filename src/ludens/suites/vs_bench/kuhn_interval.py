"""A 95% interval for the exploitability of a Kuhn poker policy that is known from few answers.

A policy known from few answers looks worse than it is, most where it is close to an equilibrium, so that
resampled answers alone give intervals that are too narrow or in the wrong place. The interval is the union
of two: 1.96 standard errors on both sides, which is right far from an equilibrium; and the values that could
have given the answers, which is right close to one. For the latter, policies on the line from the closest
equilibrium through the answers and beyond are tried as the truth, answers are drawn from each, and a policy
is kept unless the exploitability of the real answers is in the outer 5% of those drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ludens.games.kuhn_poker.bots import equilibrium
from ludens.games.kuhn_poker.rules import INFOSETS
from ludens.run.stats import Estimate
from ludens.run.stats.estimate import Z

Array = NDArray[np.float64]

DRAWS = 300
STEPS = 24
FURTHEST = 1.5
"""The end of the line, where 0 is the equilibrium and 1 the answers."""
_HIGHER = np.sign(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
"""1 where the first card beats the second, -1 where it loses, 0 for the same card, which is never dealt."""
_DEALT = np.abs(_HIGHER)


def exploitabilities(policies: Array) -> Array:
    """The exploitability of many policies: the last axis is the probability of BET, as `INFOSETS` orders."""
    opens, after_pass, after_bet, calls = np.split(policies, 4, axis=-1)
    second = _most((2 * opens) @ _HIGHER.T, -opens @ _DEALT)
    passes, calling = 1 - opens, (1 - opens) * calls
    second += _most(passes @ _HIGHER.T, (2 * calling) @ _HIGHER.T + (passes - calling) @ _DEALT)
    bets = (2 * after_bet) @ _HIGHER.T + (1 - after_bet) @ _DEALT
    answers = np.maximum((2 * after_pass) @ _HIGHER.T, -after_pass @ _DEALT)
    first = _most(bets, (1 - after_pass) @ _HIGHER.T + answers)
    return np.asarray((first + second) / 12)


def _most(one: Array, other: Array) -> Array:
    """The better of two actions at each card, added up."""
    return np.asarray(np.maximum(one, other).sum(axis=-1))


def interval(answers: Sequence[Sequence[bool]], seed: int = 0) -> Estimate:
    """The exploitability of the answers, with its interval.

    Args:
        answers: For each of `INFOSETS`, whether each answer was BET; none is empty.
        seed: Of the draws.
    """
    counts = np.array([len(given) for given in answers])
    bets = np.array([sum(given) for given in answers])
    observed = float(exploitabilities(bets / counts))
    # Answers that never differ may come from a policy that sometimes does.
    likely = (bets + 0.5) / (counts + 1)
    dice = np.random.default_rng(seed)
    error = float(_drawn(likely, counts, dice).std(ddof=1))
    tried = _line(likely)
    truth = exploitabilities(tried)
    drawn = _drawn(tried[:, None, :], counts, dice)
    p_values = np.minimum(_share(drawn <= observed + 1e-9), _share(drawn >= observed - 1e-9))
    kept = np.flatnonzero(p_values > 0.025)
    # Up to the first policy on each side that is not kept: the line is tried at few points.
    sides = (max(0, kept[0] - 1), min(STEPS - 1, kept[-1] + 1)) if len(kept) else ()
    ends = [float(truth[side]) for side in sides] or [observed]
    low = max(0.0, min(*ends, observed - Z * error))
    return Estimate(observed, low, max(*ends, observed + Z * error), int(counts.sum()), error)


def _drawn(policies: Array, counts: NDArray[np.int64], dice: np.random.Generator) -> Array:
    """The exploitability of answers drawn from policies."""
    shape = (*policies.shape[:-2], DRAWS, len(counts))
    return exploitabilities(dice.binomial(counts, policies, shape) / counts)


def _share(extreme: NDArray[np.bool_]) -> Array:
    return np.asarray((extreme.sum(axis=1) + 1) / (DRAWS + 1))


def _line(policy: Array) -> Array:
    """Policies from the closest equilibrium through the policy and beyond."""
    known = np.array([list(equilibrium(alpha / 30).values()) for alpha in range(11)])
    order = [list(equilibrium(0)).index(name) for name in INFOSETS]
    known = known[:, order]
    start = known[np.argmin(((known - policy) ** 2).sum(axis=1))]
    return np.asarray(np.clip(start + np.linspace(0, FURTHEST, STEPS)[:, None] * (policy - start), 0, 1))
