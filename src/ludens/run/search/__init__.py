"""Searches for the best player that never looks, for any task.

Players are fitted on seeds outside every suite, compared on others of these, and the best are tested once on
the seeds of the task. What is found is stored with the reference scores, with a definition from which the
player can be rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import Any

import orjson

from ludens.agents import BEST, agent
from ludens.core.agent import Agent
from ludens.core.errors import BadFile, LudensError
from ludens.core.registry import make
from ludens.run.baselines import (
    BaselineOrder,
    measure,
    play_task,
    read_any,
    read_stored,
    run_orders,
    score_of,
    task_of,
)
from ludens.run.references import ReferencePlayer, Score, TaskReferences, definition_of
from ludens.run.search.beliefs import Belief
from ludens.run.search.games import (
    ActionCounts,
    Imitator,
    brute,
    climbed,
    constant,
    copycats,
    demonstrations,
    imitators,
    learned,
    mixed,
    rebuilt_imitator,
    replayed,
)
from ludens.run.search.models import ByModel, question_players, rebuilt_model
from ludens.run.search.players import (
    BruteForce,
    Copycat,
    Definition,
    Mixture,
    MoveTable,
    OwnBlind,
    Script,
    WordPlayer,
)
from ludens.run.search.training import Training
from ludens.run.stats import Estimate
from ludens.run.task import EpisodeResult, Metric, Task, suite

QUESTIONS, GAMES, SLOW = 800, 600, 60
"""Budgets: questions, games, and games in which a bot searches or that are long."""
LONG = 150
"""Moves of a player in one episode from which on games are long."""
TESTED = 3
"""Players that are tested on the seeds of the task: the best, and those that may be as good; and one more
that imagines states, since it was compared in fewer games."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class PlayerTrial:
    """A player that was tried."""

    player: str
    kind: str
    memory: bool
    other_seeds: float
    """Its score on other seeds than it was fitted to, outside every suite."""
    tested: Estimate | None = None
    """On the seeds of the task, if it was among the best."""


@dataclass(frozen=True)
class Search:
    """What a search found out about a task."""

    references: TaskReferences
    metric: str
    """Which was searched for."""
    budget: int
    """Episodes or questions in which players were fitted."""
    trials: tuple[PlayerTrial, ...]
    """The best first."""


@dataclass(frozen=True)
class _Contender:
    name: str
    player: WordPlayer | ByModel
    mean: float
    value: float
    error: float
    slow: bool = False


def search(
    suite: str,
    task: Task,
    episodes: int,
    budget: int = 0,
    references: TaskReferences | None = None,
    say: Say = lambda text: None,
    deaf: bool = False,
) -> Search:
    """Search for a task.

    Args:
        suite: The name of its suite, for the record.
        task: The task.
        episodes: How many each player plays that is tested.
        budget: Questions or games in which players are fitted; 0 for the default of the task.
        known: Its reference scores so far; measured if there are none.
        say: Called with what is done.
        deaf: Whether a player may not listen either (`Suite.deaf`).
    """
    game = make(task.game)
    references = references or measure(suite, task, episodes)
    if game.question:
        budget = budget or QUESTIONS
        metric = _metric_of(task)
        contenders = _questions(task, budget, say)
    else:
        training = Training(task, budget or GAMES)
        if not budget and training.slow:
            training.budget = SLOW
        budget, metric = training.budget, training.metric
        contenders = list(_games(training, max(8, budget // 10), say, deaf))
    names_in_use = {player.name for player in references.players}
    contenders = [
        replace(one, name=f"{one.name} (budget {budget})") if one.name in names_in_use else one
        for one in contenders
    ]
    contenders.sort(key=lambda one: (-one.value, one.slow))
    results: dict[str, list[EpisodeResult]] = {}
    for one in best_contenders(contenders):
        say(f"testing {one.name}")
        # As it will be rebuilt: what was remembered in other episodes must not matter.
        player = rebuilt(task, one.player.definition)
        results[one.name] = play_task(game, task, player, references.episodes, {})
    trials = tuple(
        PlayerTrial(
            one.name,
            one.player.kind,
            one.player.memory,
            one.mean,
            metric.estimate(results[one.name]) if one.name in results else None,
        )
        for one in contenders
    )
    players = {one.name: one.player for one in contenders}
    simple = dict(_simple_bots(task, references, say))
    references = _merged(task, references, results, simple, players)
    references = replace(references, searched=max(budget, references.searched))
    return Search(references, metric.name, budget, trials)


def measure_again(
    suite: str, task: Task, episodes: int, earlier: TaskReferences, definitions: Mapping[str, Definition]
) -> TaskReferences:
    """The reference scores of a task, measured anew; players that a search found earlier play too.

    Args:
        suite: The name of its suite, for the record.
        task: The task.
        episodes: How many each player plays.
        earlier: The scores so far.
        definitions: What its players can be rebuilt from, by name.
    """
    game, references = make(task.game), measure(suite, task, episodes)
    found = {
        name: play_task(game, task, rebuilt(task, one), episodes, {}) for name, one in definitions.items()
    }
    simple = dict(_simple_bots(task, references, lambda text: None)) if earlier.searched else {}
    references = replace(references, players=earlier.players, searched=earlier.searched)
    return _merged(task, references, found, simple, {})


def _metric_of(task: Task) -> Metric:
    return next((metric for metric in task.metrics if metric.paired), task.metrics[0])


def best_contenders(contenders: list[_Contender]) -> list[_Contender]:
    """The best, and others that may be as good."""
    if not contenders:
        return []
    best = contenders[0]
    near = [one for one in contenders[1:] if best.error and one.value >= best.value - best.error]
    fast = [one for one in near if not one.slow]
    slow = [one for one in near if one.slow and not best.slow]
    return [*[best, *fast][:TESTED], *slow[:1]]


def _questions(task: Task, budget: int, say: Say) -> list[_Contender]:
    contenders = []
    for name, player, reward in question_players(make(task.game), task, budget):
        say(f"{name}: {reward:.3f}")
        contenders.append(_Contender(name, player, reward, reward, (0.25 / budget) ** 0.5))
        if reward == 1:
            say("nothing can be better")
            break
    return contenders


def _games(training: Training, checked: int, say: Say, deaf: bool) -> Iterator[_Contender]:
    """Players of every kind, each the best of its kind, until one is perfect."""
    for name, player, slow in _players(training, deaf):
        validated = training.validate(player, max(4, checked // 4) if slow else checked)
        say(f"{name}: {validated.mean:.3f}")
        yield _Contender(name, player, validated.mean, validated.value, validated.error, slow)
        if _perfect(training.metric, validated.mean):
            say("nothing can be better")
            return


def _perfect(metric: Metric, mean: float) -> bool:
    return mean == metric.limits[1 if metric.higher_is_better else 0]


def _players(training: Training, deaf: bool) -> Iterator[tuple[str, WordPlayer, bool]]:
    episodes = demonstrations(training, max(2, training.share_of_budget(0.1 if training.slow else 0.3)))
    moves = sum(len(one.decisions) for one in episodes) / max(len(episodes), 1)
    if moves > LONG:
        training.budget = max(SLOW, training.budget // 8)
    words, config = ActionCounts(episodes), training.task.config
    bases: list[WordPlayer] = []
    script, same = replayed(training, episodes, words), constant(training, episodes, words)
    if script is not None:
        yield "script: replay of bot/best", script, False
    if same is not None:
        yield "constant: one action", same, False
    starts = [one for one in (script, same) if one is not None]
    if starts:
        script = climbed(training, starts, words, training.share_of_budget(0.25))
        yield "script: hill-climbed", script, False
        bases.append(script)
    table = learned(training, "stage", None, training.share_of_budget(0.1))
    yield "table: one action per stage", table, False
    by_refusals = learned(training, "refusals", script or table, training.share_of_budget(0.2))
    yield "tree: own moves and refusals", by_refusals, False
    if not deaf:
        by_words = learned(training, "words", by_refusals, training.share_of_budget(0.35))
        yield "tree: all words", by_words, False
    single: list[WordPlayer] = [*bases, table]
    tried = list(brute(training, episodes, words))
    if tried:
        forced = training.best_of(tried, range(300, 306))
        yield "brute force", forced, False
        single.append(forced)
    imitator = None if deaf else imitators(training, episodes)
    if imitator is not None:
        yield f"imitation: {imitator.model_name}", imitator, False
        single.insert(0, imitator)
    if "blind" in training.game.bots:
        single.insert(0, OwnBlind(config))
    copies = [] if deaf else list(copycats(training, words, single))
    if copies:
        copy = training.best_of(copies, range(300, 306))
        yield f"copy: {copy.mode}", copy, False
    several = mixed(training, episodes, [*single, *copies], training.share_of_budget(1.0))
    if several is not None:
        yield f"mixed: {', '.join(sorted(several.parts))}", several, False
    if BEST in training.guides and moves <= LONG and not deaf:
        for others in ("known", "any") if len(training.game.seats) > 1 else ("known",):
            states = 5 if training.slow else 12
            belief = Belief(config, others, states, 4, training.task.seatings)
            yield f"belief: other seats {others}", belief, True


def _simple_bots(
    task: Task, references: TaskReferences, say: Say
) -> Iterator[tuple[str, list[EpisodeResult]]]:
    """Bots of the game that do not search, as candidates for the upper bound."""
    game = make(task.game)
    if game.question:
        return
    for name in game.bots:
        if name in ("best", "blind"):
            continue
        try:
            bot = agent(f"bot/{name}", game)
            if bot.computes or any(score.player == bot.spec for score in references.scores):
                continue
            results = play_task(game, task, bot, references.episodes, {})
        except LudensError:
            continue
        say(f"tried bot/{name} as upper bound")
        yield bot.spec, results


def _merged(
    task: Task,
    references: TaskReferences,
    searched: Mapping[str, list[EpisodeResult]],
    simple: Mapping[str, list[EpisodeResult]],
    players: Mapping[str, WordPlayer | ByModel],
) -> TaskReferences:
    """The scores with those of better blind players, and upper bounds that no player exceeds."""
    scores: list[Score] = []
    for metric in task.metrics:
        sign = 1 if metric.higher_is_better else -1

        def best(score: Score | None, kind: Any, tried: Mapping[str, list[EpisodeResult]]) -> Score | None:
            for name, results in tried.items():
                estimate = metric.estimate(results)  # noqa: B023
                if not estimate.n or isnan(estimate.mean):
                    continue
                if score is None or sign * estimate.mean > sign * score.mean + 1e-12:  # noqa: B023
                    score = score_of(kind, metric, name, estimate)  # noqa: B023
            return score

        blind = best(references.get("blind", metric), "blind", searched)
        upper = best(references.get("upper", metric), "upper", simple)
        if upper is not None and blind is not None and sign * blind.mean > sign * upper.mean:
            upper = replace(blind, kind="upper")
        cues = [score for score in references.scores if (score.kind, score.metric) == ("cue", metric.name)]
        scores += filter(None, (references.get("chance", metric), blind, *cues, upper))
    names = {score.player for score in scores}
    earlier = [player for player in references.players if player.name in names]
    new = [_as_reference(name, player) for name, player in players.items() if name in names & searched.keys()]
    return replace(references, scores=tuple(scores), players=(*earlier, *new))


def _as_reference(name: str, player: WordPlayer | ByModel) -> ReferencePlayer:
    definition = orjson.dumps(player.definition, option=orjson.OPT_SORT_KEYS).decode()
    return ReferencePlayer(name, player.kind, player.memory, definition)


def rebuilt(task: Task, definition: Definition) -> Agent:
    """The player that a search found, from its definition."""
    try:
        return _rebuilt(task, definition)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(f"the definition of a player of {task.name!r} is not valid: {error!r}.") from None


_PLAYERS: dict[str, type[WordPlayer]] = {
    player.kind: player for player in (Script, BruteForce, Belief, OwnBlind, MoveTable, Copycat, Mixture)
}


def _rebuilt(task: Task, definition: Definition) -> WordPlayer | ByModel:
    kind = definition["kind"]
    if kind == ByModel.kind:
        return rebuilt_model(make(task.game), task, definition)
    if kind == Imitator.kind:
        return rebuilt_imitator(task, definition)
    if kind not in _PLAYERS:
        raise ValueError(f"unknown kind {kind!r}")
    values = {name: definition[name] for name in _PLAYERS[kind].parameters}
    if values.get("base") is not None:
        values["base"] = _rebuilt(task, values["base"])
    if "parts" in values:
        values["parts"] = {part: _rebuilt(task, one) for part, one in values["parts"].items()}
    return _PLAYERS[kind](task.config, **values)


def measure_all(
    orders: Sequence[BaselineOrder], workers: int
) -> Iterator[tuple[BaselineOrder, TaskReferences | str]]:
    """The references of each order as they are known, or why there are none.

    Players that a search found earlier are measured with the others, so that none is forgotten.
    """
    return run_orders(_measure_anew, orders, workers)


def _measure_anew(order: BaselineOrder) -> TaskReferences:
    earlier = read_any(order)
    if earlier is None or order.file is None:
        return measure(order.suite, task_of(order), order.episodes)
    definitions = {player.name: definition_of(order.file, player) for player in earlier.players}
    return measure_again(order.suite, task_of(order), order.episodes, earlier, definitions)


def search_all(
    orders: Sequence[BaselineOrder],
    workers: int,
    budget: int = 0,
    again: bool = False,
    say: Say | None = None,
) -> Iterator[tuple[BaselineOrder, Search | str]]:
    """What a search found for each order as it is known, or why nothing.

    Args:
        wanted: The tasks.
        workers: Number of processes.
        budget: Questions or games of other seeds for each task; 0 for its default.
        again: Whether to measure again what is stored.
        say: A function of a module, called in the processes with what is done.
    """
    return run_orders(partial(_search_for, budget=budget, again=again, say=say), orders, workers)


def _search_for(order: BaselineOrder, budget: int, again: bool, say: Say | None) -> Search:
    def report(text: str) -> None:
        if say is not None:
            say(f"{order.suite} {order.task}: {text}")

    known = None if again else read_stored(order)
    known, deaf = known or _measure_anew(order), suite(order.suite).deaf
    return search(order.suite, task_of(order), order.episodes, budget, known, report, deaf)
