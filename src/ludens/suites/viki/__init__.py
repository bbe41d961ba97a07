"""VIKI: which robots, which plan, which paths; with feedback from a checker, and step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ludens.core.config import PlayConfig
from ludens.core.options import Touch, option
from ludens.run.stats import Estimate, weighted_sum
from ludens.run.task import (
    COUNT,
    MODEL,
    EpisodeResult,
    Metric,
    Published,
    Suite,
    SuiteBuilder,
    Summary,
    Task,
    fact,
    mean_of,
    own_return,
    rate_of,
    read_deviations,
    read_published,
)
from ludens.run.twins import both_of


def _fact(name: str, key: str, about: str) -> Metric:
    return rate_of(name, fact(key), about=about)


def _mean(name: str, key: str, about: str) -> Metric:
    def value(result: EpisodeResult) -> float | None:
        number = result.episode.facts[key]
        return None if number is None else float(number)

    return mean_of(name, value, bounds=COUNT, higher_is_better=False, about=about)


def within(attempts: int) -> Metric:
    return rate_of(
        f"pass@{attempts}",
        lambda result: any(result.episode.facts["rights"][:attempts]),
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
    lambda result: float(result.episode.facts["relative"]),
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


ONE_TRY = PlayConfig(retries=0)
EPISODES, SIGHT_EPISODES = 500, 100
WEIGHTS = {"plan/in-domain": 0.596, "plan/out-of-domain": 0.404}
"""Shares of the paper's 3,018 test samples of level 2."""
_BOTH_PATHS = "pairs of twin worlds (same words, other pictures) with a reward of at least 0.8 in both"
_FOLDER = Path(__file__).parent


def _task(name: str, game: str, metrics: tuple[Metric, ...], seats: tuple[str, ...] = ("planner",)) -> Task:
    return Task(name, game, (dict.fromkeys(seats, MODEL),), EPISODES, metrics, ONE_TRY)


def _published() -> tuple[Published, ...]:
    """Tables 2 and 3: a key `TASK: METRIC` is a metric that is not the first of its task."""
    rows = []
    for row in read_published(_FOLDER / "published.toml", "VIKI, tables 2 and 3"):
        further_names = {name: name.partition(": ")[::2] for name in row.values if ": " in name}
        first = {name: value for name, value in row.values.items() if name not in further_names}
        further = {(task, metric): row.values[name] for name, (task, metric) in further_names.items()}
        rows.append(replace(row, values=first, further=further))
    return tuple(rows)


def _average(parts: Mapping[str, Estimate]) -> Estimate:
    return weighted_sum([parts[name] for name in WEIGHTS], list(WEIGHTS.values()))


def _on_map() -> tuple[Task, ...]:
    return (
        _task("activate", "viki/activate", TEAM),
        _task("activate/out-of-domain", "viki/activate?split=ood", TEAM),
        _task("plan/in-domain", "viki/plan?split=id", PLAN),
        _task("plan/out-of-domain", "viki/plan?split=ood", PLAN),
        _task("plan/layouts", "viki/plan?split=layout", PLAN),
        _task("trace", "viki/trace", TRACE),
        _task("feedback/told", "viki/plan?feedback=5", RETRY),
        _task("feedback/untold", "viki/plan?feedback=5&told=false", RETRY),
        _task("act", "viki/act", ACT),
        _task("team", "viki/team", ACT, ("R1", "R2")),
    )


def _by_camera(pictures: str) -> tuple[Task, ...]:
    """The tasks whose pictures do not change; the split is that of the set."""
    look = f"look=camera&pictures={pictures}"
    return (
        _task("activate", f"viki/activate?{look}", TEAM),
        _task("plan/in-domain", f"viki/plan?{look}", PLAN),
        _task("trace", f"viki/trace?{look}", TRACE),
        _task("feedback/told", f"viki/plan?{look}&feedback=5", RETRY),
        _task("feedback/untold", f"viki/plan?{look}&feedback=5&told=false", RETRY),
    )


@dataclass(frozen=True)
class Viki(SuiteBuilder):
    """Three levels, feedback and the closed loop."""

    look: str = option("map", choices=("map", "camera"), help="the kitchen from above, or camera pictures")
    pictures: str = option("viki-8", help="the picture set of look=camera", touches=Touch.READ)
    data: str = option(
        "", help="a folder with the released Parquet files: evaluate on them", touches=Touch.READ
    )
    episodes: int = option(EPISODES, low=1, high=9_999_999, help="of every task")

    def build(self) -> Suite:
        average = Summary("plan, weighted average", _average, tuple(WEIGHTS))
        own = _by_camera(self.pictures) if self.look == "camera" else _on_map()
        tasks = self._released() if self.data else own
        return Suite(
            name="viki",
            about="VIKI: robots of six types in a kitchen; choose the team, plan its steps, mark paths; with "
            "feedback, and step by step.",
            tasks=tuple(replace(task, episodes=self.episodes) for task in tasks),
            published=_published(),
            deviations=read_deviations(_FOLDER / "deviations.md"),
            summaries=(average,) if self.look == "map" else (),
            references=_FOLDER / "references.toml",
            paper=_FOLDER / "paper.bib",
        )

    def _released(self) -> tuple[Task, ...]:
        data = f"data={self.data}"
        return (
            _task("activate", f"viki/activate?{data}", TEAM),
            _task("plan/in-domain", f"viki/plan?{data}&split=id", PLAN),
            _task("plan/out-of-domain", f"viki/plan?{data}&split=ood", PLAN),
            _task("trace", f"viki/trace?{data}", TRACE),
            _task("feedback/told", f"viki/plan?{data}&feedback=5", RETRY),
            _task("feedback/untold", f"viki/plan?{data}&feedback=5&told=false", RETRY),
        )


@dataclass(frozen=True)
class VikiSight(SuiteBuilder):
    """The three levels in twin worlds."""

    episodes: int = option(SIGHT_EPISODES, low=2, high=9_999_998, help="of every task; two are a pair")

    def build(self) -> Suite:
        both = both_of(fact("right"))
        tasks = (
            _task("activate", "viki/activate?twins=true", (both, *TEAM)),
            _task("activate/out-of-domain", "viki/activate?split=ood&twins=true", (both, *TEAM)),
            _task("plan/in-domain", "viki/plan?split=id&twins=true", (both, *PLAN)),
            _task("plan/out-of-domain", "viki/plan?split=ood&twins=true", (both, *PLAN)),
            _task("trace", "viki/trace?twins=true", (both_of(fact("right"), about=_BOTH_PATHS), *TRACE)),
        )
        return Suite(
            name="viki-sight",
            about="VIKI in twin worlds: one task, two kitchens, and both answers must be right.",
            tasks=tuple(replace(task, episodes=self.episodes) for task in tasks),
            deviations=read_deviations(_FOLDER / "deviations.md"),
            references=_FOLDER / "references.toml",
            paper=_FOLDER / "paper.bib",
        )


@dataclass(frozen=True)
class VikiMini(SuiteBuilder):
    """All tasks, a few episodes of each."""

    def build(self) -> Suite:
        about = "VIKI in small: ten episodes of every task."
        return Viki().build().limited("viki-mini", about, lambda task: 10)
