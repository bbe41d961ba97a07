"""The playground suites: the paper's counts and tables, tasks that can be played, metrics that tell."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

import ludens
from ludens.agents import agent
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadOption, UnknownName
from ludens.loop import play
from ludens.run.results import summarise_published
from ludens.run.task import MODEL, EpisodeResult, Suite, Task, suite
from ludens.suites.playground import DENSITIES, GAMES, OPPONENTS, VARIETIES, table
from ludens.suites.playground.metrics import INVALID, SAFE, SOLVABLE, steps, unbeaten
from tests.support.players import Scripted


def test_the_counts_are_the_papers() -> None:
    tasks = suite("playground").tasks
    assert [task.name for task in tasks] == [
        f"{t}/{g}" for t in ("perceive", "qa", "rule", "e2e") for g in GAMES
    ]
    assert {task.episodes for task in tasks} == {200}
    lengths = [task for task in suite("playground-sweeps").tasks if task.name.startswith("steps/")]
    assert {task.episodes for task in lengths} == {1_000}
    assert len(suite("playground-sweeps").tasks) == len(DENSITIES) + len(VARIETIES) + len(GAMES)


def test_questions_have_one_try_and_games_three_in_a_row() -> None:
    tables = {task.name.partition("/")[0]: task.config for task in suite("playground").tasks}
    assert tables == {
        "perceive": PlayConfig(retries=0, fallback="forfeit"),
        "qa": PlayConfig(retries=0, fallback="forfeit"),
        "rule": PlayConfig(retries=0, fallback="forfeit"),
        "e2e": PlayConfig(retries=2, fallback="forfeit", listed=False, reasons="kind"),
    }


def test_published_tables_are_whole_and_in_our_units() -> None:
    for name, columns, models in (
        ("perceive", GAMES, 9), ("qa", GAMES, 9), ("rule", GAMES, 9),
        ("density", DENSITIES, 8), ("variety", VARIETIES, 8),
    ):  # fmt: skip
        found = table(name)
        assert len(found) == models
        assert all(tuple(row) == columns for row in found.values())
        assert all(0 <= value <= 1 for row in found.values() for value in row.values())
    assert "chess" not in table("steps")["Random"]
    # Table 7 ends where table 2 begins: all kinds of pieces.
    assert {model: row["KQRBNP"] for model, row in table("variety").items()} == {
        model: row["chess"] for model, row in table("perceive").items() if model != "Random"
    }
    ours = {row.model: row.values for row in suite("playground").published}
    assert ours["GPT-4o"]["perceive/tic_tac_toe"] == 90.7
    assert ours["GPT-4o"]["e2e/sudoku"] == 0.0
    assert "e2e/sudoku" not in ours["Random"]
    steps_of = {row.model: row.values for row in suite("playground-sweeps").published}
    assert steps_of["GPT-4o"]["steps/reversi"] == 1.53


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ("playground", {"e2e/gomoku", "e2e/chess"}),
        ("playground?opponent=bot/uci%3Fseconds%3D1", {"e2e/gomoku"}),
        ("playground?opponent=bot/random", {f"e2e/{game}" for game in OPPONENTS}),
        ("playground?sides=both", {f"e2e/{game}" for game in OPPONENTS}),
        ("playground?examples=0", {"e2e/gomoku", "e2e/chess", *(f"qa/{game}" for game in GAMES)}),
        ("playground?positions=any", {"e2e/gomoku", "e2e/chess", *(f"rule/{game}" for game in GAMES)}),
        ("playground-sweeps", {"steps/gomoku", "steps/chess"}),
    ],
)
def test_published_rows_are_of_the_papers_opponents_and_questions(spec: str, missing: set[str]) -> None:
    found = suite(spec)
    [row] = [row for row in found.published if row.model == "GPT-4o"]
    assert {task.name for task in found.tasks} - row.values.keys() == missing


@pytest.mark.parametrize("name", ["playground", "playground-mini", "playground-sweeps"])
def test_published_rows_speak_of_our_tasks(name: str) -> None:
    found = suite(name)
    known = {task.name for task in found.tasks}
    assert found.published
    assert all(set(row.values) <= known for row in found.published)


def test_the_model_may_sit_on_either_side() -> None:
    def seats(sides: str) -> list[tuple[str, ...]]:
        [chess] = [t for t in suite(f"playground?sides={sides}").tasks if t.name == "e2e/chess"]
        return [tuple(seat for seat, who in seating.items() if who == MODEL) for seating in chess.seatings]

    assert seats("first") == [("white",)]
    assert seats("second") == [("black",)]
    assert seats("both") == [("white",), ("black",)]
    with pytest.raises(UnknownName):
        suite("playground?sides=left")


def opponents(spec: str) -> dict[str, str]:
    """The opponent in each game that has one."""
    tasks = {t.name: t for t in suite(spec).tasks if t.name.removeprefix("e2e/") in OPPONENTS}
    return {n: next(w for w in t.seatings[0].values() if w != MODEL) for n, t in tasks.items()}


def test_the_opponent_can_be_replaced_in_the_games_it_plays() -> None:
    usual = opponents("playground")
    assert usual == {f"e2e/{game}": bot for game, (_, bot) in OPPONENTS.items()}
    released = "bot/uci?seconds=1"
    assert opponents(f"playground?opponent={released}") == {**usual, "e2e/chess": released}
    assert set(opponents("playground?opponent=bot/random").values()) == {"bot/random"}
    with pytest.raises(UnknownName, match="unknown opponent 'bot/stockfish'"):
        suite("playground?opponent=bot/stockfish")


def test_positions_are_dense_released_or_any() -> None:
    def games(spec: str) -> list[str]:
        return [task.game for task in suite(spec).tasks if task.name.startswith("rule/")]

    assert "rule?board=gomoku&filled=67-157" in games("playground")
    assert "rule?board=chess&moves=80-160" in games("playground")
    assert "rule?board=chess&moves=5-55" in games("playground?positions=released")
    assert "rule?board=tic_tac_toe&filled=1-8" in games("playground?positions=released")
    assert games("playground?positions=any") == [
        "rule?board=tic_tac_toe",
        "rule?board=reversi&moves=0-60",
        "rule?board=sudoku",
        "rule?board=minesweeper",
        "rule?board=gomoku&moves=0-220",
        "rule?board=chess",
    ]


def test_questions_may_be_asked_without_examples() -> None:
    games = {task.game for task in suite("playground?examples=0").tasks if task.name.startswith("qa/")}
    assert games == {f"qa?board={game}&examples=0" for game in GAMES}


def test_baselines_may_be_longer() -> None:
    assert {task.episodes for task in suite("playground?episodes=1000").tasks} == {1_000}
    with pytest.raises(BadOption, match="must be a whole number"):
        suite("playground?episodes=many")


def test_ratings_change_scores_and_nothing_else() -> None:
    formula, paper = suite("playground"), suite("playground?ratings=paper")
    assert [t.name for t in formula.tasks] == [t.name for t in paper.tasks]
    values = {row.model: row.values for row in formula.published}["GPT-4o"]
    one, other = summarise_published(formula, values), summarise_published(paper, values)
    by_hand = 0.5 * 90.7 + 1.718 * 52.0 + 3.704 * 55.0 + 3.859 * 23.6 + 5.0 * 40.9 + 3.445 * 44.7
    assert one["perceive"].mean == pytest.approx(by_hand / 18.226, abs=0.01)
    assert one["qa"].mean != pytest.approx(other["qa"].mean, abs=0.01)


def played(task: Task, who: str, seed: int = 0) -> EpisodeResult:
    game = ludens.make(task.game)
    seating = task.seatings[0]
    agents = {seat: agent(who if spec == MODEL else spec, game) for seat, spec in seating.items()}
    episode = asyncio.run(play(game, agents, seed, config=task.config))
    return EpisodeResult("key", episode, tuple(seat for seat, spec in seating.items() if spec == MODEL))


def named(name: str, of: str = "playground") -> Task:
    whole: Suite = suite(of)
    [task] = [task for task in whole.tasks if task.name == name]
    return task


QUESTIONS = [f"{t}/{g}" for t in ("perceive", "qa", "rule") for g in GAMES]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_oracle_scores_all_in_every_question(name: str) -> None:
    task = named(name)
    found = [played(task, "bot/oracle", seed) for seed in range(3)]
    assert task.metrics[0].estimate(found).mean == 1.0
    for metric in task.metrics:
        metric.estimate(found)


@pytest.mark.parametrize("name", QUESTIONS)
def test_silence_scores_nothing_in_every_question(name: str) -> None:
    task = named(name)
    game = ludens.make(task.game)
    [seat] = game.seats
    episode = asyncio.run(play(game, {seat: Scripted(says=["..."])}, 0, config=task.config))
    silent = [EpisodeResult("key", episode, (seat,))]
    assert episode.status == "forfeit"
    assert task.metrics[0].estimate(silent).mean == 0.0
    if task.metrics[0].labels:
        [(_, answer)] = task.metrics[0].labels(silent[0])
        assert answer is None


@pytest.mark.parametrize("game", [*OPPONENTS, "sudoku", "minesweeper"])
def test_three_invalid_replies_in_a_row_lose(game: str) -> None:
    task = named(f"e2e/{game}")
    made = ludens.make(task.game)
    seating = task.seatings[0]
    [seat] = [seat for seat, who in seating.items() if who == MODEL]
    good = made.start(3).legal(seat)[0]  # type: ignore[index]
    mute = Scripted(says=["huh?", f"Action: {good}", "huh?", "what?", "no."])
    agents = {s: mute if who == MODEL else agent(who, made) for s, who in seating.items()}
    episode = asyncio.run(play(made, agents, 3, config=task.config))
    lost = EpisodeResult("key", episode, (seat,))
    assert episode.status == "forfeit"
    assert steps(lost) == 1
    assert not unbeaten(lost)
    assert INVALID.estimate([lost]).mean == 1.0


def ended(returns: dict[str, float], seed: int = 0, **facts: object) -> EpisodeResult:
    episode = Episode(
        "minesweeper", 1, {}, seed, dict.fromkeys(returns, "bot/first"), returns=returns, facts=facts
    )
    return EpisodeResult("key", episode, (next(iter(returns)),))


def test_unbeaten_is_won_or_drawn_and_solved_when_alone() -> None:
    assert unbeaten(ended({"white": 1.0, "black": -1.0}))
    assert unbeaten(ended({"white": 0.0, "black": 0.0}))
    assert not unbeaten(ended({"white": -1.0, "black": 1.0}))
    assert unbeaten(ended({"player": 1.0}))
    assert not unbeaten(ended({"player": 0.0}))


def test_logic_is_told_from_luck_over_the_moves_of_all_games() -> None:
    """A long game counts for all its moves: 3 of 4 and 1 of 16 are 4 of 20, not the mean of two shares."""
    safe = [
        ended({"player": 0.0}, seed, safe_moves_taken=taken, certain_moves=certain)
        for seed, (taken, certain) in enumerate(((3, 4), (0, 0), (1, 16)))
    ]
    assert SAFE.estimate(safe).mean == pytest.approx(4 / 20)
    assert SAFE.estimate(safe).n == 2
    digits = [
        ended({"player": 0.0}, seed, solvable_digits=a, wrong_digits=b)
        for seed, (a, b) in enumerate(((9, 1), (0, 0), (0, 30)))
    ]
    assert SOLVABLE.estimate(digits).mean == pytest.approx(9 / 40)
    assert "all games" in SAFE.about
    assert "all games" in SOLVABLE.about


@pytest.mark.parametrize(("game", "bot"), [("minesweeper", "bot/logic"), ("sudoku", "bot/oracle")])
def test_solvers_play_by_logic(game: str, bot: str) -> None:
    task = named(f"e2e/{game}")
    metric = next(m for m in task.metrics if m in (SAFE, SOLVABLE))
    assert metric.estimate([played(task, bot, seed) for seed in range(4)]).mean == 1.0


def test_questions_by_type_add_up() -> None:
    task = replace(named("qa/chess"), episodes=60)
    found = [played(task, "bot/random", seed) for seed in range(60)]
    whole, *kinds = (metric.estimate(found) for metric in task.metrics)
    assert sum(kind.n for kind in kinds) == whole.n == 60
    assert sum(kind.n * kind.mean for kind in kinds if kind.n) == pytest.approx(60 * whole.mean)
