"""The metrics of VIKI, with separate ones for the parts of each task."""

from __future__ import annotations

from ludens.run.task import COUNT, EpisodeResult, Metric, fact, mean_of, own_return, rate_of


def _fact(name: str, key: str, about: str) -> Metric:
    return rate_of(name, fact(key), about=about)


def _mean(name: str, key: str, about: str) -> Metric:
    def value(played: EpisodeResult) -> float | None:
        number = played.episode.facts[key]
        return None if number is None else float(number)

    return mean_of(name, value, bounds=COUNT, higher_is_better=False, about=about)


def within(attempts: int) -> Metric:
    return rate_of(
        f"pass@{attempts}",
        lambda played: any(played.episode.facts["rights"][:attempts]),
        about=f"a right plan among the first {attempts}" if attempts > 1 else "the first plan is right",
    )


READABLE = _fact("readable", "readable", "every answer could be read")
RIGHT_TEAM = _fact("right", "right", "the set of robot types of the best team")
RIGHT_PLAN = _fact("right", "right", "a plan that can be done, reaches the goal and is the shortest")
FEASIBLE = _fact("feasible", "feasible", "every action can be done and orders are kept")
REACHED = _fact("goal reached", "reached", "feasible, and the goal holds at the end")
ABOVE = _mean("steps above shortest", "above", "of the plans that reach the goal")
AVERAGE = _mean("distance", "average", "mean of RMSE, Hausdorff and discrete Frechet distance, in pixels")
RMSE = _mean("RMSE", "rmse", "root mean square distance of points, in pixels")
HAUSDORFF = _mean("HD", "hausdorff", "Hausdorff distance in pixels")
FRECHET = _mean("DFD", "frechet", "discrete Frechet distance in pixels")
RELATIVE = mean_of(
    "distance by side",
    lambda played: float(played.episode.facts["relative"]),
    bounds=COUNT,
    higher_is_better=False,
    percent=True,
    about="the distance divided by the longer side of the picture",
)
REWARD = mean_of("reward", own_return, bounds=(0.0, 1.0), about="what the answer earns in training")
DONE = _fact("done", "reached", "the task is done in time")
EFFICIENCY = mean_of(
    "done, by length", own_return, percent=True, about="shortest plan divided by steps taken; 0 if not done"
)
REFUSED = _mean("refused steps", "refused", "steps that could not be done")

TEAM = (RIGHT_TEAM, READABLE)
PLAN = (RIGHT_PLAN, FEASIBLE, REACHED, ABOVE, READABLE)
TRACE = (AVERAGE, RMSE, HAUSDORFF, FRECHET, RELATIVE, REWARD, READABLE)
RETRY = (*(within(attempts) for attempts in (6, 3, 1)), FEASIBLE, REACHED)
ACT = (DONE, EFFICIENCY, ABOVE, REFUSED)
