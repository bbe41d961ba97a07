"""The metrics of VIKI, with separate ones for the parts of each task."""

from __future__ import annotations

from ludens.run.task import COUNT, EpisodeResult, Metric, mean_of, own_return, rate_of


def _fact(name: str, fact: str, about: str) -> Metric:
    return rate_of(name, lambda played: bool(played.episode.facts[fact]), about=about)


def _mean(name: str, fact: str, about: str, *, lower: bool = True) -> Metric:
    def value(played: EpisodeResult) -> float | None:
        found = played.episode.facts[fact]
        return None if found is None else float(found)

    return mean_of(name, value, bounds=COUNT, higher_is_better=not lower, about=about)


def within(attempts: int) -> Metric:
    """Whether one of the first attempts was right."""
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
REWARD = mean_of("reward", own_return, bounds=(0.0, 1.0), about="what the answer earns in training")
DONE = _fact("done", "reached", "the task is done in time")
EFFICIENCY = mean_of(
    "done, by length", own_return, percent=True, about="shortest plan divided by steps taken; 0 if not done"
)
REFUSED = _mean("refused steps", "refused", "steps that could not be done")

TEAM = (RIGHT_TEAM, READABLE)
PLAN = (RIGHT_PLAN, FEASIBLE, REACHED, ABOVE, READABLE)
TRACE = (AVERAGE, RMSE, HAUSDORFF, FRECHET, REWARD, READABLE)
RETRY = (*(within(attempts) for attempts in (6, 3, 1)), FEASIBLE, REACHED)
ACT = (DONE, EFFICIENCY, ABOVE, REFUSED)


DEVIATIONS = (
    "Scenes are generated from a simulator; every label is computed, and every picture shows the state that "
    "is scored. In the released data start places are drawn again at every evaluation.",
    "Pictures are maps of the kitchen from above by default; look=camera shows pictures rendered with "
    "MuJoCo, in which other robots stand in for Stompy (Unitree G1) and ANYmal C (Unitree B1).",
    "Level 1: the right team is the one with the shortest plan and, among equals, the fewest robots; scenes "
    "have exactly one. In 71 of 1,000 released scenes an idle robot could do the task as well.",
    "Level 1: the types of the best team are drawn about equally often, one or two of them, and idle robots "
    "mostly have arms, so that neither words nor the list of robots tell the answer; in the released data "
    "597 of 1,000 tasks need one robot.",
    "Level 2: a plan is right if it is no longer than the shortest, which is proven; the released limit is "
    "the length of a hand-written plan, not the shortest in 543 of 1,000 tasks.",
    "Level 2: the picture tells which robots are there and what they are; the paper's prompt lists the "
    "active robots. All robots in the picture may be used.",
    "Level 2: primitives follow consistent rules (variant default): a robot stays where it went, grasps one "
    "thing at a time, needs a free hand to reach, and Close and Handover work.",
    "Level 3: paths come from the simulator; the paper's are drawn by hand. On the map they are on the floor "
    "plan, in coordinates of 512 by 512.",
    "Level 3: an unreadable answer has the diagonal of the picture as its distance and earns nothing; in the "
    "released scorer its distance is 0.",
    "Feedback keeps the rule about the length and allows up to five further attempts: pass@1, pass@3 and "
    "pass@6 with and without the checker's sentence. Pass@1 in the paper's table 3 equals its level 1.",
    "Answers are parsed, never evaluated; code fences, trailing commas, Python literals and lower-case robot "
    "names are accepted. The reward for the form wants exactly one <think> and one <answer> part.",
    "viki/act and viki/team, the closed loops, have no counterpart in the paper.",
)
