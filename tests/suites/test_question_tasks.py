"""What every question task must meet, present and future: it cannot be answered without looking, it can be
answered, and other seeds ask other questions.

Cheap tasks are measured here; of all others the stored scores are checked (`ludens baselines --all --write`).
With `--slow`, everything is measured.
"""

from __future__ import annotations

import pytest

from ludens.core.registry import GAMES, make
from ludens.run.baselines import measure
from ludens.run.baselines.questions import OTHER_SEEDS
from ludens.run.references import TaskReferences, definition, references_of
from ludens.run.task import SUITES, Metric, Suite, Task, suite
from ludens.suites import TASKS_IN_OPTIONS
from tests.support.questions import shared_share

ABOVE_CHANCE, BLIND = 0.08, 0.65
"""The blind baseline may be better than chance by this much, and not better than this."""
UPPER = 0.80
"""The best player must reach this."""
LOWER = {
    "vs-bench: reason/kuhn": (0.70, "the other's card is hidden, and no bet is likelier than two thirds"),
    "vs-bench-sight: reason/kuhn": (0.45, "the same, in both worlds of a pair"),
}
"""Tasks in which the best player cannot reach as much, and why."""
SHARED = 0.05
"""The share of questions that two sets of seeds may have in common."""
COMPARED = 100
"""Questions of each of the two sets."""
FRESH = 80
"""Questions that are measured here."""

CHEAP = ("qa?board=chess", "qa?board=sudoku", "rule?board=tic_tac_toe", "vs-bench/predict?game=kuhn_poker")
"""Games measured in every run of the tests, by how their specs begin; they take less than a second each."""
QUICK_TO_START = ("qa", "perceive", "rule?board=reversi", "rule?board=minesweeper")
"""Games whose questions are made in a few milliseconds: their seeds are compared in every run."""
SLOW_TO_START = ("rule?board=minesweeper", "twins=true")
"""In the specs of questions that have a twin only after a long search."""

METRICS = {"perceive": ("balanced accuracy", "whole board right"), "viki/trace": ("both", "reward")}
"""The metric that must meet the bounds, if not the first: a share of cells rewards empty answers, and
distances have no scale."""

FEW_QUESTIONS = {
    "vs-bench/predict?game=kuhn_poker": "Kuhn poker has twelve information sets",
    "perceive?board=tic_tac_toe": "a board of nine cells is empty in one of ten questions",
    "rule?board=tic_tac_toe&filled=4-8": "tic-tac-toe has few positions",
}
"""Games with few different questions, which all seeds share."""
FEW_QUESTIONS |= {f"{game}&twins=true": reason for game, reason in FEW_QUESTIONS.items()}

WIDER = {
    "playground-sweeps: variety/K": (0.30, "boards of kings have three contents, answers thirteen"),
    "playground-sweeps: variety/KQ": (
        0.15,
        "boards of kings and queens have five contents",
    ),
    "viki: activate": (0.25, "one team is right in a fifth of the scenes, and a guess is one of 41 teams"),
    "viki: activate/out-of-domain": (0.25, "one robot with arms is often enough to bring one dish"),
    "viki: plan/out-of-domain": (0.20, "tasks are few, and the usual plan for one is often right"),
    "viki: trace": (0.20, "a path through the middle of the floor is nearer to any other than a random one"),
}
"""Tasks whose blind baseline may be better than chance by more, and why."""


def _tasks() -> dict[str, tuple[Suite, Task]]:
    """Every definition of a question task once."""
    found: dict[str, tuple[str, Suite, Task]] = {}
    for name in SUITES.names():
        if name in TASKS_IN_OPTIONS:
            continue
        whole = suite(name)
        for task in whole.tasks:
            if make(task.game).question:
                found.setdefault(definition(task), (f"{name}: {task.name}", whole, task))
    return {label: (whole, task) for label, whole, task in found.values()}


TASKS = _tasks()


def _metric(task: Task) -> Metric:
    wanted = METRICS.get(make(task.game).name, ())
    return next((metric for metric in task.metrics if metric.name in wanted), task.metrics[0])


def faults(label: str, references: TaskReferences) -> list[str]:
    """Which bounds the scores of a task do not meet, beyond what their intervals leave open."""
    metric = _metric(TASKS[label][1])
    chance, blind, upper = (references.get(kind, metric) for kind in ("chance", "blind", "upper"))
    assert chance is not None
    assert blind is not None
    assert upper is not None
    wrong = []
    above, _ = WIDER.get(label, (ABOVE_CHANCE, ""))
    if blind.low > min(chance.mean + above, BLIND):
        wrong.append(f"{blind.player} reaches {blind.mean:.3f} without looking, chance is {chance.mean:.3f}")
    least, _ = LOWER.get(label, (UPPER, ""))
    if upper.high < least:
        wrong.append(f"{upper.player} reaches {upper.mean:.3f} only")
    return wrong


def _is_cheap(task: Task) -> bool:
    return task.game.startswith(CHEAP)


def _is_quick_to_start(task: Task) -> bool:
    return task.game.startswith(QUICK_TO_START) and not all(part in task.game for part in SLOW_TO_START)


@pytest.mark.parametrize("label", TASKS)
def test_stored_scores_meet_the_bounds(label: str) -> None:
    whole, task = TASKS[label]
    known = references_of(whole, [task]).get(task.name)
    assert known is not None, f"{label} has no reference scores: run `ludens baselines --all --write`"
    wrong = faults(label, known)
    assert not wrong, f"{label}: {'; '.join(wrong)}"


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, marks=[] if _is_cheap(task) else [pytest.mark.slow])
        for label, (_, task) in TASKS.items()
    ],
)
def test_measured_scores_meet_the_bounds(label: str) -> None:
    _, task = TASKS[label]
    wrong = faults(label, measure("", task, FRESH))
    assert not wrong, f"{label}: {'; '.join(wrong)}"


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, marks=[] if _is_quick_to_start(task) else [pytest.mark.slow])
        for label, (_, task) in TASKS.items()
        if task.game not in FEW_QUESTIONS
    ],
)
def test_other_seeds_ask_other_questions(label: str) -> None:
    _, task = TASKS[label]
    own = range(task.first_seed, task.first_seed + COMPARED)
    share = shared_share(make(task.game), own, range(OTHER_SEEDS, OTHER_SEEDS + COMPARED))
    assert share <= SHARED, f"{label}: {share:.0%} of the questions recur"


def test_bounds_can_be_missed() -> None:
    label = next(label for label, (_, task) in TASKS.items() if task.game.startswith("qa"))
    _, task = TASKS[label]
    found = measure("", task, 40)
    for kind, mean in (("blind", 0.9), ("upper", 0.3)):
        scores = tuple(
            type(s)(s.kind, s.metric, s.player, mean, mean - 0.05, mean + 0.05, s.n, 0.02)
            if s.kind == kind
            else s
            for s in found.scores
        )
        worse = TaskReferences("", task.name, task.game, 1, 40, scores)
        assert len(faults(label, worse)) == 1


@pytest.mark.parametrize("name", GAMES.names())
def test_games_say_whether_they_are_questions(name: str) -> None:
    """One seat, one answer that ends the episode, and a right answer that is known."""
    game = make(name)
    state = game.start(0)
    asked = len(game.seats) == 1 and state.to_act == game.seats
    answer = state.solution(game.seats[0]) if asked else None
    if answer is not None:
        state.apply({game.seats[0]: answer})
    assert game.question == (answer is not None and state.over)
