"""A leak of each kind is planted in a toy game, and the search finds it; without one it finds nothing."""

from __future__ import annotations

import orjson
import pytest

import ludens.run.search as searching
from ludens.core.registry import GAMES, make
from ludens.run.baselines import play_task, score_of
from ludens.run.references import TaskReferences
from ludens.run.search import Search, measure_again, rebuilt, search
from ludens.run.search.players import Script
from tests.support.leaks import GAME_LEAKS, QUESTION_LEAKS, RIGHT, LeakyGame, leaky_task


@pytest.fixture(autouse=True)
def _leaky(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES._added, "test/leaky", LeakyGame)


def nothing_known(leak: str, episodes: int) -> TaskReferences:
    return TaskReferences("mine", leak, "test/leaky", 1, episodes, ())


def result_of(leak: str, asks: bool, budget: int) -> Search:
    return search("mine", leaky_task(leak, asks), 40, budget, nothing_known(leak, 40))


def score(result: Search) -> float:
    blind = result.references.get("blind", RIGHT)
    assert blind is not None
    return blind.mean


@pytest.mark.parametrize("leak", [leak for leak in QUESTION_LEAKS if leak != "none"])
def test_what_the_words_of_a_question_give_away_is_found(leak: str) -> None:
    assert score(result_of(leak, True, 120)) >= 0.9


@pytest.mark.parametrize("leak", [leak for leak in GAME_LEAKS if leak != "none"])
def test_what_a_game_gives_away_is_found(leak: str) -> None:
    assert score(result_of(leak, False, 160)) >= 0.85


@pytest.mark.parametrize("asks", [True, False])
def test_nothing_is_found_without_a_leak(asks: bool) -> None:
    """Four answers: 40 guesses at 25%, four standard deviations."""
    assert score(result_of("none", asks, 120)) < 0.25 + 4 * (0.25 * 0.75 / 40) ** 0.5


@pytest.mark.parametrize(
    ("leak", "kind"),
    [
        ("script", "script: replay of bot/best"),
        ("refusals", "tree: own moves and refusals"),
        ("notes", "tree: all words"),
        ("listing", "belief: other seats known"),
        ("talk", "copy: latest"),
        ("agreement", "constant: one action"),
        ("mistakes", "brute force"),
    ],
)
def test_the_kind_of_player_finds_its_leak(leak: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind on its own, also where a simpler one is perfect already."""
    monkeypatch.setattr(searching, "_perfect", lambda metric, mean: False)
    trials = {trial.player: trial for trial in result_of(leak, False, 160).trials}
    assert trials[kind].other_seeds >= 0.85


@pytest.mark.parametrize("leak", ["notes", "talk"])
def test_a_deaf_player_uses_no_words(leak: str) -> None:
    known = nothing_known(leak, 40)
    found = search("mine", leaky_task(leak), 40, 160, known, deaf=True)
    assert found.references.searched == 160
    assert score(found) < 0.25 + 4 * (0.25 * 0.75 / 40) ** 0.5


@pytest.mark.parametrize(
    ("leak", "asks"),
    [("script", False), ("notes", False), ("listing", False), ("talk", False), ("word", True)],
)
def test_a_player_is_rebuilt_from_its_definition(leak: str, asks: bool) -> None:
    result, task = result_of(leak, asks, 100), leaky_task(leak, asks)
    [player] = result.references.players
    again = rebuilt(task, orjson.loads(player.definition))
    estimate = RIGHT.estimate(play_task(make(task.game), task, again, 40, {}))
    assert estimate.mean == score(result)


def test_an_upper_bound_is_raised_to_a_better_player() -> None:
    low = score_of("upper", RIGHT, "bot/weak", RIGHT.over([(seed, 0.0) for seed in range(40)]))
    known = TaskReferences("mine", "script", "test/leaky", 1, 40, (low,))
    found = search("mine", leaky_task("script"), 40, 40, known).references
    blind, upper = found.get("blind", RIGHT), found.get("upper", RIGHT)
    assert blind is not None
    assert upper is not None
    assert (upper.mean, upper.player) == (blind.mean, blind.player) == (1.0, "script: replay of bot/best")


def test_what_is_known_already_stays_if_it_is_better() -> None:
    high = score_of("blind", RIGHT, "bot/blind", RIGHT.over([(seed, 1.0) for seed in range(40)]))
    known = TaskReferences("mine", "none", "test/leaky", 1, 40, (high,))
    found = search("mine", leaky_task("none"), 40, 20, known).references
    assert found.get("blind", RIGHT) == high
    assert (found.players, found.searched) == ((), 20)


def test_scores_of_players_that_see_one_cue_stay() -> None:
    cue = score_of("cue", RIGHT, "types present", RIGHT.over([(seed, float(seed % 2)) for seed in range(40)]))
    known = TaskReferences("mine", "none", "test/leaky", 1, 40, (cue,))
    assert cue in search("mine", leaky_task("none"), 40, 20, known).references.scores


def test_a_second_search_does_not_change_the_players_of_earlier_scores() -> None:
    first = result_of("notes", False, 160).references
    second = search("mine", leaky_task("notes"), 40, 150, first)
    assert second.references.players == first.players
    assert (second.budget, second.references.searched) == (150, 160)
    assert any(trial.player.endswith("(budget 150)") for trial in second.trials)


def test_a_player_that_was_found_is_measured_again_with_the_others() -> None:
    first = result_of("script", False, 40).references
    definitions = {player.name: orjson.loads(player.definition) for player in first.players}
    again = measure_again("mine", leaky_task("script"), 20, first, definitions)
    blind, earlier = again.get("blind", RIGHT), first.get("blind", RIGHT)
    assert blind is not None
    assert earlier is not None
    assert (blind.player, blind.mean, blind.n) == (earlier.player, earlier.mean, 20)
    assert (again.players, again.searched) == (first.players, 40)


@pytest.mark.parametrize(
    ("worth", "tested"),
    [
        ({"one": 0.5, "two": 0.4, "three": 0.4, "four": 0.4, "belief": 0.4}, "one two three belief"),
        ({"one": 0.5, "two": 0.1, "belief": 0.1}, "one"),
        ({"belief": 0.5, "one": 0.4, "belief 2": 0.4}, "belief one"),
    ],
)
def test_players_that_may_be_as_good_are_tested_and_one_belief(worth: dict[str, float], tested: str) -> None:
    contenders = [
        searching._Contender(name, Script(), mean, mean, 0.2, "belief" in name)
        for name, mean in worth.items()
    ]
    assert " ".join(one.name for one in searching.best_contenders(contenders)) == tested
