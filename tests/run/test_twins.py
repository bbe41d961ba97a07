"""Twin worlds: seeds come in pairs, and only who looks is right in both."""

from __future__ import annotations

import pytest

import ludens
from ludens.core.episode import Episode
from ludens.core.game import Game
from ludens.core.registry import make
from ludens.core.twins import MARKS, TwinGame
from ludens.core.view import RenderOptions
from ludens.loop import play
from ludens.run.cells import CellReader
from ludens.run.stats import rate
from ludens.run.task import MODEL, EpisodeResult, Task, fact, rate_of
from ludens.run.twins import both_of, pair_score, pair_scores, with_twins
from ludens.testing import check_game
from tests.support.broken_twins import Lamps

BOTH = both_of(fact("right"))

QUESTIONS = [
    *(f"{task}?board={board}" for task in ("perceive", "qa") for board in ("tic_tac_toe", "sudoku", "chess")),
    "qa?board=minesweeper",
    "qa?board=reversi",
    "qa?board=gomoku",
    "rule?board=tic_tac_toe&filled=4-8",
    "rule?board=reversi&filled=10-56",
    "rule?board=chess&moves=80-160",
    "rule?board=sudoku&filled=45-70",
    "rule?board=minesweeper&filled=36-50",
    "rule?board=gomoku&filled=115-157",
    *(f"vs-bench/predict?game={game}" for game in ("coin_dilemma", "battle_of_colors")),
]


def answered(seed: int, right: bool) -> EpisodeResult:
    return EpisodeResult("", Episode("qa", 1, {}, seed, {}, facts={"right": right}), ("viewer",))


def test_pair_counts_only_if_both_answers_are_right() -> None:
    pairs = [(True, True), (True, False), (False, True), (False, False)]
    episodes = [answered(2 * k + n, right) for k, pair in enumerate(pairs) for n, right in enumerate(pair)]
    assert BOTH.estimate(episodes) == rate(1, 4)


def test_incomplete_pair_does_not_count() -> None:
    assert BOTH.estimate([answered(4, True), answered(5, True), answered(6, True)]) == rate(1, 1)
    assert BOTH.estimate([answered(7, True), answered(8, True)]).n == 0


def test_pairs_of_one_cluster_count_as_one() -> None:
    votes = make("spy/vote?source=clevr-16&twins=true")
    episodes = [
        EpisodeResult("", Episode(votes.name, 1, votes.options, seed, {}, facts={"right": True}), ("voter",))
        for seed in range(60)
    ]
    entries = {votes.cluster(seed) for seed in range(60)}
    assert votes.cluster(6) == votes.cluster(7) != ""
    assert BOTH.estimate(episodes).n == len(entries) < 30


def test_share_of_answers_that_are_right_in_both_worlds() -> None:
    assert pair_score("1101", "0111") == 0.5
    assert pair_score("1", "1") == 1
    assert pair_scores({(2, 0, 0): "10", (3, 0, 0): "11", (4, 0, 0): "11"}) == {(2, 0, 0): 0.5}


def test_values_of_a_cell_are_those_of_pairs(tmp_path: object) -> None:
    task = Task("t", "lamps", ({"viewer": MODEL},), 4, (BOTH, rate_of("right", fact("right"))))
    reader = CellReader("a", task, tmp_path, task.metrics)  # type: ignore[arg-type]
    for seed, right in enumerate((True, True, True, False)):
        values = ["1" if right else "0", float(right)]
        reader.add([{"key": "", "entrant": "a", "task": "t", "seed": seed, "seating": 0, "values": values}])
    cell = reader.cell(4)
    assert cell.paired_values(BOTH) == {(0, 0, 0): 1.0, (2, 0, 0): 0.0}
    assert cell.metrics["both"].mean == 0.5
    assert cell.metrics["right"].mean == 0.75


def test_sound_twins_keep_the_contract() -> None:
    check_game(Lamps(twins=True))
    check_game(Lamps())


@pytest.mark.parametrize("spec", QUESTIONS)
def test_twins_of_questions_keep_the_contract(spec: str) -> None:
    from ludens.testing.trial import Trial
    from ludens.testing.views import twins_differ_only_in_pictures

    game = make(with_twins(spec))
    assert isinstance(game, TwinGame)
    twins_differ_only_in_pictures(Trial(game, seeds=range(4), views=(RenderOptions("random", 256),)))


async def scores(game: Game, player: str, pairs: int) -> list[float]:
    agent = ludens.agent(player, game)
    [seat] = game.seats
    marks = {}
    for seed in range(2 * pairs):
        episode = await play(game, {seat: agent}, seed)
        marks[seed, 0, 0] = episode.facts.get(MARKS) or "01"[episode.returns[seat] == 1]
    return list(pair_scores(marks).values())


@pytest.mark.parametrize("spec", QUESTIONS)
async def test_who_knows_the_answer_is_right_in_both_worlds_and_a_fixed_answer_in_none(spec: str) -> None:
    game = make(with_twins(spec))
    assert await scores(game, "bot/oracle", 5) == [1.0] * 5
    assert await scores(game, "bot/first", 5) == [0.0] * 5


async def test_random_answers_are_right_in_both_worlds_by_chance_only() -> None:
    shares = await scores(make("qa?board=chess&kind=piece_at&twins=true"), "bot/random", 400)
    assert sum(shares) / len(shares) == pytest.approx(1 / 16, abs=0.04)


def test_seeds_without_the_option_are_what_they_were() -> None:
    plain, twins = make("qa?board=chess"), make("qa?board=chess&twins=true")
    assert plain.start(3).item == twins.start(6).item != twins.start(7).item  # type: ignore[attr-defined]


def test_both_worlds_have_one_theme() -> None:
    game = make("perceive?board=chess&twins=true")
    assert isinstance(game, TwinGame)
    first, _ = game.pair(0)
    render = RenderOptions("random", 256)
    pictures = [game.view(render, seed).images(first, "viewer")[0].hash for seed in (8, 9, 10)]
    assert pictures[0] == pictures[1] != pictures[2]
