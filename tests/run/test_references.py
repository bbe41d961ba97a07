"""Files of reference scores: written, read, and never used for a task that has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ludens.core.config import PlayConfig
from ludens.core.errors import BadFile
from ludens.games.tic_tac_toe import TicTacToe
from ludens.run.baselines import blind_players, default_episodes, measure
from ludens.run.references import (
    LONGEST,
    ReferencePlayer,
    Score,
    TaskReferences,
    definition,
    definition_of,
    keep_references,
    read_references,
    references_of,
    write_references,
)
from ludens.run.stats import rate
from ludens.run.task import MODEL, RETURN, WON, Suite, Task, suite

TASK = Task("turns", "tic_tac_toe", ({"x": MODEL, "o": "bot/random"},), 20, (WON, RETURN))


def reached(task: Task, mean: float, name: str = "mine") -> TaskReferences:
    score = Score("blind", "won", 'bot/"first"', mean, mean - 0.1, mean + 0.1, 50, 0.05)
    return TaskReferences(name, task.name, task.game, 2, 50, (score,))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    file, known = tmp_path / "references.toml", reached(TASK, 0.25)
    write_references(file, {definition(TASK): known})
    assert read_references(file) == {definition(TASK): known}


def test_a_new_measurement_replaces_that_of_the_same_task_only(tmp_path: Path) -> None:
    file = tmp_path / "references.toml"
    write_references(file, {"a": reached(TASK, 0.1), "b": reached(TASK, 0.2, "other")})
    write_references(file, {"c": reached(TASK, 0.3)})
    assert {key: one.scores[0].mean for key, one in read_references(file).items()} == {"b": 0.2, "c": 0.3}


def test_references_of_tasks_that_are_no_more_are_removed(tmp_path: Path) -> None:
    file = tmp_path / "references.toml"
    write_references(file, {"a": reached(TASK, 0.1), "b": reached(TASK, 0.2, "other")})
    keep_references(file, ["b", "c"])
    assert list(read_references(file)) == ["b"]


@pytest.mark.parametrize(
    "changed",
    [
        replace(TASK, game="breakthrough", seatings=({"black": MODEL, "white": "bot/random"},)),
        replace(TASK, seatings=({"x": MODEL, "o": "bot/minimax"},)),
        replace(TASK, config=PlayConfig(retries=0)),
        replace(TASK, metrics=(WON,)),
    ],
)
def test_a_task_that_has_changed_has_no_references(changed: Task, tmp_path: Path) -> None:
    file = tmp_path / "references.toml"
    write_references(file, {definition(TASK): reached(TASK, 0.25)})
    whole = Suite("mine", "", (TASK,), references=file)
    same = replace(TASK, name="renamed", episodes=3, first_seed=9, metrics=(RETURN, WON))
    assert references_of(whole, [same])
    assert not references_of(whole, [changed])


def test_a_new_version_of_the_game_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = definition(TASK)
    monkeypatch.setattr(TicTacToe, "version", TicTacToe.version + 1)
    assert definition(TASK) != before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("][", "not TOML"),
        ('["a"]\nsuite = 3', "not valid at a"),
        ('["a"]\nscores = [{kind = "x"}]', "not valid"),
    ],
)
def test_a_bad_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "references.toml").write_text(text)
    with pytest.raises(BadFile, match=said):
        read_references(tmp_path / "references.toml")


def test_whole_games_are_measured() -> None:
    """On a small field, inference opens all cells nearly always, and random play seldom."""
    task = Task("sweep", "minesweeper?rows=4&columns=4&mines=3", ({"player": MODEL},), 20, (WON,))
    found = measure("mine", task, 24)
    chance, blind, upper = (found.get(kind, WON) for kind in ("chance", "blind", "upper"))
    assert chance
    assert blind
    assert upper
    assert (chance.player, upper.player) == ("bot/random", "bot/logic")
    assert upper.low > blind.mean >= chance.mean
    assert {score.n for score in found.scores} == {24}


def test_a_question_is_measured() -> None:
    [task] = [task for task in suite("playground").tasks if task.name == "perceive/tic_tac_toe"]
    found, metric = measure("playground", task, 40), task.metrics[0]
    blind, upper = found.get("blind", metric), found.get("upper", metric)
    assert blind
    assert upper
    assert (upper.mean, upper.low) == (1.0, rate(40, 40).low)
    # Boards have 0 to 9 marks: an empty answer is right in half of the cells.
    assert blind.player == "table: one answer"
    assert abs(blind.mean - 0.5) < 0.15


def test_every_seed_is_played_in_all_seatings() -> None:
    both = ({"x": MODEL, "o": "bot/random"}, {"x": "bot/random", "o": MODEL}, {"x": MODEL, "o": MODEL})
    assert default_episodes(replace(TASK, seatings=both)) % 3 == 0
    assert default_episodes(replace(TASK, episodes=9_999)) == 200
    assert default_episodes(replace(TASK, seatings=({"x": MODEL, "o": "bot/mcts"},))) == 50


def test_a_game_can_bring_its_own_blind_player(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TicTacToe, "bots", {**TicTacToe.bots, "blind": "ludens.agents.bots:First"})
    assert "bot/blind" in blind_players(TASK, 0)


def test_players_are_stored_with_what_they_can_be_rebuilt_from(tmp_path: Path) -> None:
    """Long definitions have files of their own, which go when nobody names them any more."""
    file = tmp_path / "references.toml"
    short = ReferencePlayer("script: one", "script", False, '{"kind":"script"}')
    long = ReferencePlayer("tree: all", "tree", True, '{"kind":"tree","actions":"' + "x" * LONGEST + '"}')
    write_references(file, {"a": replace(reached(TASK, 0.5), players=(short, long), searched=60)})
    read = read_references(file)["a"]
    assert (read.players[0], read.searched) == (short, 60)
    assert (read.players[1].memory, len(read.players[1].definition) < 60) == (True, True)
    assert [definition_of(file, player)["kind"] for player in read.players] == ["script", "tree"]
    write_references(file, {"b": reached(TASK, 0.5, "other")})
    assert list((tmp_path / "players").iterdir())
    write_references(file, {"a": reached(TASK, 0.5)})
    assert not list((tmp_path / "players").iterdir())
    with pytest.raises(BadFile, match="cannot read the player"):
        definition_of(file, read.players[1])


def test_a_new_player_does_not_take_the_file_of_one_that_stays(tmp_path: Path) -> None:
    file = tmp_path / "references.toml"
    one, two, three = (
        ReferencePlayer(f"tree: {name}", "tree", True, f'{{"kind":"{name}","actions":"{"x" * LONGEST}"}}')
        for name in ("one", "two", "three")
    )
    write_references(file, {"a": replace(reached(TASK, 0.5), players=(one, two))})
    stays = read_references(file)["a"].players[1]
    write_references(file, {"a": replace(reached(TASK, 0.5), players=(stays, three))})
    read = read_references(file)["a"].players
    assert [definition_of(file, player)["kind"] for player in read] == ["two", "three"]
