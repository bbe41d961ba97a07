"""Measures the reference scores of a task: random answers, the best of several players that never look, and
the best player (`bot/best`). Of many tasks each definition is measured once, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan
from pathlib import Path
from typing import TypeVar

from ludens.agents import BEST, agent
from ludens.agents.bots import Constant
from ludens.core.agent import Agent
from ludens.core.errors import UnknownName, UsageError
from ludens.core.game import Game
from ludens.core.processes import WorkerDied, run_in_processes
from ludens.core.registry import make
from ludens.core.state import State
from ludens.core.sync import run_sync
from ludens.core.view import RenderOptions, View, view_of
from ludens.loop import play
from ludens.run.baselines.questions import cue_players, fit_players
from ludens.run.references import Kind, Score, TaskReferences, definition, read_references
from ludens.run.stats import Estimate
from ludens.run.task import MODEL, EpisodeResult, Metric, Suite, Task, entrant_seats, import_suite, suite

LEAST, QUESTIONS, GAMES, SEARCHED = 100, 400, 200, 50
"""Episodes: the least of games; of questions; the most of games, and of games in which a player searches."""
FEW_ACTIONS = 8
"""In games with more actions at the start, always playing one of them is not tried."""


def default_episodes(task: Task) -> int:
    """400 questions, or the task's own number of games within limits; all seatings of a seed."""
    game = make(task.game)
    if game.question:
        return QUESTIONS
    players = (BEST, *task.opponents)
    most = SEARCHED if any(agent(player, game).computes for player in players) else GAMES
    games, swaps = min(max(task.episodes, LEAST), most), len(task.seatings)
    return -(-games // swaps) * swaps


def measure(suite: str, task: Task, episodes: int) -> TaskReferences:
    """The reference scores of a task over its first seeds.

    Each player plays `episodes` episodes; as many questions of other seeds are used for fitting.
    """
    game = make(task.game)
    starts: dict[int, State] = {}  # of questions, which may take long to make
    blind = {
        name: play_task(game, task, player, episodes, starts)
        for name, player in blind_players(task, episodes).items()
    }
    cues = cue_players(game, task, episodes) if game.question else {}
    by_cue = {name: play_task(game, task, player, episodes, starts) for name, player in cues.items()}
    best = agent(BEST, game)
    upper = play_task(game, task, best, episodes, starts)
    scores: list[Score] = []
    for metric in task.metrics:
        estimates = {name: metric.estimate(results) for name, results in blind.items()}
        estimates = {name: e for name, e in estimates.items() if e.n and not isnan(e.mean)}
        if not estimates:
            continue
        # A metric over a part of the episodes may say nothing about guesses.
        chance = next((name for name in ("bot/random", "bot/guess") if name in estimates), None)
        if chance is not None:
            scores.append(score_of("chance", metric, chance, estimates[chance]))
        sign = 1 if metric.higher_is_better else -1
        highest = max(estimates, key=lambda name: sign * estimates[name].mean)
        scores.append(score_of("blind", metric, highest, estimates[highest]))
        scores += [
            score_of("cue", metric, name, metric.estimate(results)) for name, results in by_cue.items()
        ]
        scores.append(score_of("upper", metric, best.spec, metric.estimate(upper)))
    return TaskReferences(suite, task.name, task.game, game.version, episodes, tuple(scores))


def score_of(kind: Kind, metric: Metric, player: str, e: Estimate) -> Score:
    """A score to be stored."""
    return Score(kind, metric.name, player, e.mean, e.low, e.high, e.n, e.standard_error)


def blind_players(task: Task, training: int) -> Mapping[str, Agent]:
    """Players that never look, by name: general ones, and the game's own `bot/blind` if it has one.

    Where legal actions are not listed, only players that need no list take part.
    """
    game = make(task.game)
    start = game.start(task.first_seed)
    legal = start.legal(start.to_act[0])
    guesses = type(view_of(game, RenderOptions(), 0)).guess is not View.guess
    names = []
    if task.config.listed:
        names += ["bot/first"] if legal.is_text else ["bot/random", "bot/first"]
    names += ["bot/guess"] if legal.is_text or guesses or not task.config.listed else []
    names += ["bot/blind"] if "blind" in game.bots else []
    players: dict[str, Agent] = {name: agent(name, game) for name in names}
    if game.question:
        players |= fit_players(game, task, training)
    elif task.config.listed and 1 < len(legal) <= FEW_ACTIONS:
        players |= {f"always {action}": Constant(action) for action in legal}
    return players


def play_task(
    game: Game, task: Task, player: Agent, episodes: int, starts: dict[int, State]
) -> list[EpisodeResult]:
    """The first episodes of a task with this player."""
    results = []
    for index in range(episodes):
        seed, seating = task.placed(index)
        seats = task.seatings[seating]
        agents = {seat: player if spec == MODEL else agent(spec, game) for seat, spec in seats.items()}
        state = (starts.get(seed) or starts.setdefault(seed, game.start(seed))) if game.question else None
        episode = run_sync(play(game, agents, seed, state=state, config=task.config))
        results.append(EpisodeResult("", episode, entrant_seats(task, seating)))
    return results


T = TypeVar("T")


@dataclass(frozen=True)
class BaselineOrder:
    key: str
    suite: str
    task: str
    episodes: int
    file: Path | None
    least: int = 0
    """Episodes that stored references must have to be used."""


def orders(
    suites: Mapping[str, Suite], tasks: Sequence[str] = (), episodes: int = 0, out: Path | None = None
) -> list[BaselineOrder]:
    """What to measure: every definition once per file, with the most episodes that a suite wants of it.

    Whole games come first, since they take longest.
    """
    names = {task.name for whole in suites.values() for task in whole.tasks}
    for name in tasks:
        if name not in names:
            raise UnknownName(f"task of {', '.join(suites)}", name, names)
    by_definition: dict[tuple[str, Path | None], BaselineOrder] = {}
    for name, whole in suites.items():
        for task in whole.tasks:
            if tasks and task.name not in tasks:
                continue
            file, count = out or whole.references, episodes or default_episodes(task)
            order = BaselineOrder(definition(task), name, task.name, count, file, episodes)
            earlier = by_definition.get((order.key, file))
            if earlier is None or earlier.episodes < count:
                by_definition[order.key, file] = order
    tasks_of = {(name, task.name): task for name, whole in suites.items() for task in whole.tasks}
    return sorted(
        by_definition.values(), key=lambda order: make(tasks_of[order.suite, order.task].game).question
    )


def read_stored(order: BaselineOrder) -> TaskReferences | None:
    """The references of an order, if they have as many episodes as it asks for."""
    references = read_any(order)
    return references if references is not None and references.episodes >= order.least else None


def read_any(order: BaselineOrder) -> TaskReferences | None:
    """The references of an order, of however many episodes."""
    if order.file is None or not order.file.is_file():
        return None
    return read_references(order.file).get(order.key)


def run_orders(
    work: Callable[[BaselineOrder], T], batch: Sequence[BaselineOrder], workers: int
) -> Iterator[tuple[BaselineOrder, T | str]]:
    """The result of some work for each order as it is known, or why there is none."""
    attempt = partial(_try_order, work)
    if workers < 2 or len(batch) < 2:
        yield from ((order, attempt(order)) for order in batch)
        return
    unfinished = dict.fromkeys(batch)
    try:
        for order, result in run_in_processes(attempt, batch, min(workers, len(batch)), ordered=False):
            del unfinished[order]
            yield order, result
    except WorkerDied:
        reason = "a process ended unexpectedly; run the command again for what is missing."
        yield from ((order, reason) for order in unfinished)


def _try_order(work: Callable[[BaselineOrder], T], order: BaselineOrder) -> T | str:
    try:
        import_suite(order.suite)
        return work(order)
    except UsageError as error:
        return str(error)
    except Exception as error:  # a bug in one game must not lose the scores of the others
        return f"{type(error).__name__}: {error}"


def task_of(order: BaselineOrder) -> Task:
    """The task of an order."""
    return next(task for task in suite(order.suite).tasks if task.name == order.task)
