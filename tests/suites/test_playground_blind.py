"""What a player scores in the questions of playground who never looks: bounds for every board.

Measured on 1,000 questions each (docs/experiments/playground-baselines.md); the bounds leave room for the
120 used here.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache

import pytest

import ludens
from ludens.core.episode import Episode
from ludens.core.view import RenderOptions
from ludens.run.results import summarise_published
from ludens.run.task import EpisodeResult, suite
from ludens.suites.playground import GAMES, table
from ludens.suites.playground.metrics import BALANCED, CELLS, OCCUPIED
from tests.suites.test_playground import named, played

SEEDS = 120
MOST_ABOVE_CHANCE = {"chess": 0.2}
"""In chess one pair of squares in a hundred is a move, but some are more often than others."""
MOST_SHARED = {"tic_tac_toe": 0.15}
"""There are few positions of tic-tac-toe: 4,186 with 4 to 8 marks can be played on."""


@lru_cache(maxsize=16)
def asked(game: str, first: int) -> list[tuple[str, str, frozenset[str], float]]:
    """Of each question: what is seen, the other words, the valid moves and the chance of a random answer."""
    made = ludens.make(named(f"rule/{game}").game)
    view = made.view(RenderOptions())
    found = []
    for seed in range(first, first + SEEDS):
        state = made.start(seed)
        position = state.position  # type: ignore[attr-defined]
        valid = frozenset(position.legal(position.to_act[0]))
        found.append((view.text(state, "player"), view.notes(state, "player"), valid, state.facts["chance"]))
    return found


@lru_cache(maxsize=16)
def best_blind_answer(game: str) -> float:
    """The share of valid moves of a player who answers what was valid most often for the same words."""
    by_words: dict[str, Counter[str]] = {}
    everything: Counter[str] = Counter()
    for _, words, valid, _ in asked(game, 10_000):
        by_words.setdefault(words, Counter()).update(valid)
        everything.update(valid)
    answers = [by_words.get(words, everything).most_common(1)[0][0] for _, words, _, _ in asked(game, 0)]
    questions = asked(game, 0)
    return sum(a in valid for a, (_, _, valid, _) in zip(answers, questions, strict=True)) / SEEDS


@pytest.mark.parametrize("game", GAMES)
def test_no_blind_answer_to_rule_is_much_better_than_chance(game: str) -> None:
    chance = sum(chance for _, _, _, chance in asked(game, 0)) / SEEDS
    assert chance <= 0.55
    assert best_blind_answer(game) <= chance + MOST_ABOVE_CHANCE.get(game, 0.12)


def test_blind_answers_to_rule_score_below_the_best_published_model() -> None:
    whole = suite("playground")
    best = max(
        summarise_published(whole, {f"rule/{g}": 100 * row[g] for g in GAMES})["rule"].mean
        for model, row in table("rule").items()
        if model != "Random"
    )
    blind = summarise_published(whole, {f"rule/{g}": 100 * best_blind_answer(g) for g in GAMES})["rule"].mean
    assert best == pytest.approx(36.9, abs=0.1)
    assert blind < best - 2


@pytest.mark.parametrize("game", GAMES)
def test_two_sets_of_rule_share_few_questions(game: str) -> None:
    seen = {text for text, _, _, _ in asked(game, 0)}
    shared = sum(text in seen for text, _, _, _ in asked(game, 10_000)) / SEEDS
    assert shared <= MOST_SHARED.get(game, 0.01)


@pytest.mark.parametrize("game", GAMES)
def test_an_all_empty_answer_shows_in_perceive(game: str) -> None:
    """The paper's metric gives it half of the cells or more; the others do not."""
    made = ludens.make(named(f"perceive/{game}").game)
    results = []
    for seed in range(60):
        state = made.start(seed)
        board = state.board  # type: ignore[attr-defined]
        empty = [[board.empty] * board.columns for _ in range(board.rows)]
        state.apply({"viewer": json.dumps(empty)})
        episode = Episode("perceive", 1, {}, seed, {"viewer": "bot/first"}, returns=state.returns)
        episode.facts = state.facts
        results.append(EpisodeResult("key", episode, ("viewer",)))
    shown = {code for one in results for code in one.episode.facts["by_code"]}
    assert CELLS.estimate(results).mean > 0.38
    assert OCCUPIED.estimate(results).mean == 0.0
    assert BALANCED.estimate(results).mean == pytest.approx(1 / len(shown))
    assert len(shown) >= len(board.codes) - 1  # the cell with eight mines around it is rare


def test_above_chance_is_nothing_for_guesses_and_one_for_the_oracle() -> None:
    task = named("rule/gomoku")
    [metric] = [metric for metric in task.metrics if metric.name == "above chance"]
    guesses = metric.estimate([played(task, "bot/guess", seed) for seed in range(80)])
    assert guesses.low < 0 < guesses.high
    assert metric.estimate([played(task, "bot/oracle", seed) for seed in range(5)]).mean == 1.0
