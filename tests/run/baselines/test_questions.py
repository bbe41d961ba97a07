"""What a fitted player is told, what answers it may give, and when two questions are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

import ludens
from ludens.agents.vlm import prompt
from ludens.core.ask import build_ask
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.view import RenderOptions, view_of
from ludens.models.settings import PromptOptions
from ludens.run.baselines import measure
from ludens.run.baselines.questions import (
    OTHER_SEEDS,
    candidates,
    cue_players,
    rewards_of,
)
from ludens.run.baselines.words import Words, blind_words
from ludens.run.task import EpisodeResult, mean_of, suite
from ludens.suites import CATALOGUE
from tests.support.questions import content, shared_share


@pytest.mark.parametrize("spec", ["qa?board=chess", "perceive", "rule?board=reversi", "vs-bench/predict"])
def test_it_reads_exactly_the_words_of_a_blind_model(spec: str) -> None:
    game, config = ludens.make(spec), PlayConfig()
    view, state, [seat] = view_of(game, RenderOptions(), 0), game.start(3), game.seats
    sent = prompt(build_ask(view, state, seat, "offered", config), PromptOptions(blind=True))
    words = [part for message in sent[1:] for part in message.parts if isinstance(part, str)]
    assert blind_words(view, state, seat, config) == "\n".join(words)


def test_options_are_read_from_the_last_lines_that_name_them() -> None:
    text = "Example:\nA. 7\nAnswer: A\nHow many knights?\nA. 12\nB. 3\nEnd with a letter."
    words = Words(text, ("A", "B"), True)
    assert words.texts == {"A": "12", "B": "3"}
    assert words.ranks == {"B": 0, "A": 1}
    assert words.question == "How many knights?"


def test_the_constant_answers_of_a_matrix_are_tried() -> None:
    game = ludens.make("perceive?board=tic_tac_toe")
    states: list[Any] = [game.start(OTHER_SEEDS + n) for n in range(40)]
    found = candidates(game, states, "viewer")
    empty = json.dumps([[0] * 3] * 3)
    cells = [[[state.matrix[r][c] for state in states] for c in range(3)] for r in range(3)]
    usual = json.dumps([[max((0, 1, 2), key=of.count) for of in row] for row in cells])
    assert {empty, usual} <= set(found)


def test_the_path_in_the_middle_is_tried() -> None:
    game = ludens.make("viki/trace")
    states: list[Any] = [game.start(OTHER_SEEDS + n) for n in range(9)]
    found = [json.loads(answer) for answer in candidates(game, states, "planner")]
    first = sorted(int(state.truth[0][0][0]) for state in states)
    assert any(int(answer[0][0][0]) == first[4] for answer in found)


def test_one_answer_is_fitted_to_metrics_of_all_boards_together() -> None:
    """On boards with kings only, a king everywhere is right in half of the occupied cells."""
    [task] = [task for task in suite("playground-sweeps").tasks if task.name == "variety/K"]
    [metric] = [metric for metric in task.metrics if metric.name == "occupied cells right"]
    blind = measure("", task, 30).get("blind", metric)
    assert blind is not None
    assert blind.player.startswith("table: one answer")
    assert blind.low < 0.5 < blind.high + 0.05


def test_answers_that_may_not_be_given_are_the_worst() -> None:
    """Also where less is better: distances of points are at least 0."""
    distance = mean_of("distance", lambda result: result.episode.facts["far"], higher_is_better=False)

    def far(by: float) -> EpisodeResult:
        episode = Episode("", 1, {}, 0, {})
        episode.facts = {"far": by}
        return EpisodeResult("", episode, ())

    assert rewards_of(distance, [{"near": far(0.0), "away": far(50.0), "nonsense": None}]) == [
        {"near": 1.0, "away": 0.0, "nonsense": 0.0}
    ]


def test_training_seeds_are_no_seeds_of_a_task() -> None:
    for name in CATALOGUE:
        for task in suite(name).tasks:
            assert task.first_seed + task.episodes < OTHER_SEEDS


def test_the_number_of_the_step_does_not_make_a_question_new() -> None:
    class Told:
        has_text = True

        def __init__(self, step: int, pot: int) -> None:
            self.step, self.pot = step, pot

        def text(self, state: Any, seat: str) -> str:
            return f"The pot holds {self.pot} onions. Step {self.step} of 50."

        def notes(self, state: Any, seat: str) -> str:
            return f"step {self.step - 1}: chef_0 LEFT"

        def legal(self, seat: str) -> tuple[str, ...]:
            return ("LEFT", "RIGHT")

    def of(told: Any) -> str:
        return content(told, told, "")

    assert of(Told(7, 1)) == of(Told(30, 1)) != of(Told(7, 2))


def test_shared_questions_are_counted() -> None:
    game = ludens.make("perceive?board=gomoku&pieces=40-80")
    assert shared_share(game, range(10), range(5, 15)) == 0.5


def test_a_cue_alone_is_a_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cue that is the answer is always right; one that says nothing is no better than one answer."""
    task = next(
        task for task in suite("vs-bench").tasks if task.game.startswith("vs-bench/predict?game=kuhn")
    )
    assert not cue_players(ludens.make(task.game), task, 3)
    state_class = type(ludens.make(task.game).start(0))
    monkeypatch.setattr(
        state_class, "cues", lambda self, seat: {"answer": self.solution(seat) or "", "nothing": "x"}
    )
    scores = {score.player: score for score in measure("", task, 40).scores if score.kind == "cue"}
    assert set(scores) == {"answer", "nothing"}
    assert scores["answer"].mean > scores["nothing"].mean
