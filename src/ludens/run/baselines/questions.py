"""Question tasks: questions of other seeds, the reward of every answer, and players fitted on the words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from statistics import median_low

from ludens.agents.bots import Constant
from ludens.core.agent import Agent, Ask, Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode, Move
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.core.state import State
from ludens.core.view import RenderOptions, view_of
from ludens.run.baselines.words import (
    Answerer,
    Example,
    RewardTable,
    Words,
    blind_words,
    simple_tables,
    table_of_pieces,
    table_of_places,
)
from ludens.run.task import EpisodeResult, Metric, Task

OTHER_SEEDS = 2**40
"""Where the seeds of training questions begin: no task reaches them."""
VOCABULARY = 96
"""The most frequent right answers, and as many guesses, are candidates where the answer is a text."""

Results = Sequence[Mapping[str, EpisodeResult | None]]
"""For every question, the episode of each answer; None if it may not be given."""

_TOKEN = re.compile(r"-?\d+|[^\d-]+|-")


@dataclass
class Fitted(Agent):
    """Answers by a table over the words of a question; it reads nothing else of the state."""

    table: Answerer
    vocabulary: Sequence[str]
    config: PlayConfig
    kind = "table"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        words = words_of(self.game, ask.state, ask.seat, self.config, self.vocabulary)
        action = self.table.answer(words)
        return Reply(action, action)


def words_of(game: Game, state: State, seat: str, config: PlayConfig, vocabulary: Sequence[str]) -> Words:
    """The words of a question. The answers are those listed, or the vocabulary where none are."""
    legal = state.legal(seat)
    listed = config.listed and not legal.is_text
    text = blind_words(view_of(game, RenderOptions(), 0), state, seat, config)
    return Words(text, tuple(legal) if listed else tuple(vocabulary), listed)


@dataclass(frozen=True)
class Questions:
    """Questions of other seeds with what every answer leads to."""

    words: Sequence[Words]
    vocabulary: tuple[str, ...]
    """The answers that are tried where none are listed."""
    results: Results

    def examples(self, rewards: Sequence[Mapping[str, float]]) -> list[Example]:
        return [Example(w, r) for w, r in zip(self.words, rewards, strict=True) if r]


def questions(game: Game, task: Task, count: int) -> Questions:
    [seat] = game.seats
    states = [game.start(OTHER_SEEDS + number) for number in range(count)]
    listed = task.config.listed and not states[0].legal(seat).is_text
    vocabulary = () if listed else tuple(candidates(game, states, seat))
    words = [words_of(game, state, seat, task.config, vocabulary) for state in states]
    results = [
        {answer: answered(game, state, seat, answer) for answer in one.answers}
        for state, one in zip(states, words, strict=True)
    ]
    return Questions(words, vocabulary, results)


def fit_players(game: Game, task: Task, count: int) -> dict[str, Agent]:
    training = questions(game, task, count)
    players: dict[str, Agent] = {}
    tried: list[list[dict[str, float]]] = []
    for metric in task.metrics:
        aim = "" if metric == task.metrics[0] else f" for {metric.name}"
        if not metric.paired:
            if training.vocabulary:
                answer = _best_answer(metric, training.vocabulary, training.results)
                players[f"table: one answer{aim}"] = Constant(answer)
            continue
        rewards = rewards_of(metric, training.results)
        if rewards is None or rewards in tried:  # two names of one number
            continue
        tried.append(rewards)
        table = best_table(training.examples(rewards))
        players[f"table: {table.name}{aim}"] = Fitted(table, training.vocabulary, task.config)
    return players


@dataclass
class CueTable(Agent):
    """Gives the most frequent right answer for what one cue of a question says, and looks at nothing else."""

    cue: str
    answers: Mapping[str, str]
    """By what the cue says; under the empty text the most frequent one of all."""
    kind = "table"
    sees = "state"

    async def act(self, ask: Ask) -> Reply:
        assert ask.state is not None
        action = self.answers.get(ask.state.cues(ask.seat)[self.cue], self.answers[""])
        return Reply(action, action)


def cue_players(game: Game, task: Task, count: int) -> dict[str, Agent]:
    """A player for each cue (`State.cues`), by its name, fitted on questions of other seeds."""
    [seat] = game.seats
    if not game.start(task.first_seed).cues(seat):
        return {}
    counts: dict[str, dict[str, Counter[str]]] = {}
    for number in range(count):
        state = game.start(OTHER_SEEDS + number)
        answer = state.solution(seat)
        for cue, value in state.cues(seat).items() if answer is not None else ():
            table = counts.setdefault(cue, {})
            for key in (value, ""):
                table.setdefault(key, Counter())[str(answer)] += 1
    return {
        cue: CueTable(cue, {value: some.most_common(1)[0][0] for value, some in table.items()})
        for cue, table in counts.items()
    }


def best_table(examples: Sequence[Example]) -> RewardTable:
    """The table that is best on questions it was not fitted to; the simplest of those that are equal."""
    tables = [RewardTable(name, keys, examples) for name, keys in simple_tables(examples).items()]
    tables += filter(None, (table_of_places(examples), table_of_pieces(examples)))
    scores = [table.validated(examples) for table in tables]
    return next(table for table, score in zip(tables, scores, strict=True) if score >= max(scores) - 1e-9)


def _best_answer(metric: Metric, vocabulary: Sequence[str], results: Results) -> str:
    """The answer that is best if it is always given, by a metric of all episodes together."""
    sign = 1 if metric.higher_is_better else -1

    def score(answer: str) -> float:
        mean = metric.estimate([result for each in results if (result := each[answer]) is not None]).mean
        return -inf if isnan(mean) else sign * mean

    return max(vocabulary, key=score)


def rewards_of(metric: Metric, results: Results) -> list[dict[str, float]] | None:
    """The reward of every answer to every question: 1 for the best, 0 for the worst and those that may not be
    given; empty where the metric does not count the question. None if the answer decides whether it counts,
    or all are worth the same."""
    questions: list[dict[str, float | None]] = []
    for episodes in results:
        values = {answer: _value(metric, result) for answer, result in episodes.items() if result is not None}
        counts = {value is not None for value in values.values()}
        if len(counts) > 1:
            return None
        questions.append({} if counts == {False} else {answer: values.get(answer) for answer in episodes})
    distinct = {value for values in questions for value in values.values() if value is not None}
    if len(distinct) < 2:
        return None
    low, high = min(distinct), max(distinct)
    return [
        {answer: 0.0 if value is None else (value - low) / (high - low) for answer, value in values.items()}
        for values in questions
    ]


def answered(game: Game, state: State, seat: str, answer: str) -> EpisodeResult | None:
    after = state.clone()
    if after.refusal(seat, answer) is not None:
        return None
    after.apply({seat: answer})
    episode = Episode(game.name, game.version, game.options, 0, {seat: ""}, moves=[Move(0, seat, answer)])
    episode.returns, episode.facts = after.returns, after.facts
    return EpisodeResult("", episode, (seat,))


def _value(metric: Metric, result: EpisodeResult) -> float | None:
    value = metric.value(result)
    if not isinstance(value, int | float):
        return None
    return float(value) if metric.higher_is_better else -float(value)


def candidates(game: Game, states: Sequence[State], seat: str) -> tuple[str, ...]:
    """Answers to choose from where none are listed: frequent right ones, guesses, and what is usual at each
    place of the right ones."""
    view = view_of(game, RenderOptions(), 0)
    right = [answer for state in states if (answer := state.solution(seat)) is not None]
    guesses = [view.guess(state, seat, stream(n, "guess")) for n, state in enumerate(states)]
    frequencies = [Counter(some).most_common(VOCABULARY) for some in (right, guesses)]
    # Where nothing recurs, as with boards, one of each is enough.
    frequent = [some[0][0] for some in frequencies] + [
        answer for some in frequencies for answer, n in some if n > 1
    ]
    return tuple(dict.fromkeys([*frequent, *_usual(right)]))


def _usual(right: Sequence[str]) -> Iterator[str]:
    """From answers of one form, such as matrices: the usual number at each place, the one in the middle (of
    coordinates), the usual one but the most frequent of all, and each frequent number everywhere."""
    split = [_TOKEN.findall(answer) for answer in right]
    split = [tokens for tokens in split if len(tokens) == len(split[0])]
    places = [Counter(column) for column in zip(*split, strict=True)]
    numbers = Counter(token for tokens in split for token in tokens if _is_number(token))
    if len(split) < 2 or not numbers:
        return
    most = numbers.most_common(1)[0][0]
    yield "".join(place.most_common(1)[0][0] for place in places)
    yield "".join(_middle(place) for place in places)
    rest = ([token for token, _ in place.most_common(2) if token != most] for place in places)
    yield "".join((tokens or [most])[0] for tokens in rest)
    for number, _ in numbers.most_common(16):
        yield "".join(number if _is_number(next(iter(place))) else next(iter(place)) for place in places)


def _middle(place: Counter[str]) -> str:
    if all(map(_is_number, place)):
        return str(median_low(int(token) for token in place.elements()))
    return place.most_common(1)[0][0]


def _is_number(token: str) -> bool:
    return token.lstrip("-").isdigit()
