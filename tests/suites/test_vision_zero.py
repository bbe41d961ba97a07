"""The suite vision-zero: sides, reference, sources, and metrics by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ludens import make, play_sync
from ludens.agents import agent
from ludens.cli import main
from ludens.core.agent import Reply
from ludens.core.episode import Usage
from ludens.core.errors import BadOption
from ludens.games.spy.game import Spy
from ludens.games.spy.pairs import largest_set
from ludens.pictures import PictureSetWriter, open_set
from ludens.run.references import references_of
from ludens.run.report.tables import scores
from ludens.run.results import load_results
from ludens.run.task import MODEL, EpisodeResult, suite
from ludens.suites.vision_zero import METRICS
from tests.support.picture_pairs import made_set
from tests.support.players import Scripted

BY_NAME = {metric.name: metric for metric in METRICS}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LUDENS_DATA", str(tmp_path))
    return tmp_path


def test_half_of_the_games_are_played_on_each_side() -> None:
    for task in suite("vision-zero?reference=bot/blunt").tasks:
        assert task.episodes == 100
        civilians, spy = task.seatings
        assert {seat for seat, who in civilians.items() if who == MODEL} == {
            f"civilian_{n}" for n in range(1, 5)
        }
        assert {seat for seat, who in spy.items() if who == MODEL} == {"spy"}
        assert {who for seating in task.seatings for who in seating.values()} == {MODEL, "bot/blunt"}
        assert [task.placed(index) for index in range(3)] == [(0, 0), (0, 1), (1, 0)]


@pytest.mark.parametrize("name", ["vision-zero", "vision-zero-mini", "vision-zero-ablations"])
def test_every_task_has_a_blind_baseline_and_an_upper_bound(name: str) -> None:
    built = suite(name)
    found = references_of(built, built.tasks)
    for task in built.tasks:
        blind, upper = (found[task.name].get(kind, METRICS[0]) for kind in ("blind", "upper"))
        assert blind is not None
        assert upper is not None
        assert blind.high < upper.low


def test_pictures_that_bots_cannot_read_need_a_reference(place: Path) -> None:
    made_set(place, "photos", described=False, generator="spy/photos")
    with pytest.raises(BadOption, match="reference=SPEC"):
        suite("vision-zero?source=photos")
    [task] = suite("vision-zero?source=photos&reference=bot/random").tasks
    assert "bot/random" in task.seatings[0].values()
    made_set(place, "rendered")
    [task] = suite("vision-zero?source=rendered").tasks
    assert "bot/clever" in task.seatings[0].values()
    assert "chart" not in [task.name for task in suite("vision-zero").tasks]
    assert "chart" in [task.name for task in suite("vision-zero?reference=bot/random").tasks]


def test_one_model_sits_among_varied_partners() -> None:
    for name in ("vision-zero-sight", "vision-zero-sight-mini"):
        votes = [task for task in suite(name).tasks if task.name.startswith("vote/")]
        assert {task.metrics[0].name for task in votes} == {"both"}
        for task in suite(name).tasks[len(votes) :]:
            civilian, spy = task.seatings
            assert [seat for seat, who in civilian.items() if who == MODEL] == ["civilian_1"]
            assert [seat for seat, who in spy.items() if who == MODEL] == ["spy"]
            partners = {who for seat, who in civilian.items() if seat not in ("spy", "civilian_1")}
            assert len(partners) == 3
            assert civilian["spy"] == "bot/clever"
            assert partners == {who for seat, who in spy.items() if seat != "spy"}
            assert task.metrics[0].name == "votes right"
            assert {metric.name for metric in task.metrics} == set(BY_NAME)
    assert [task.name for task in suite("vision-zero-sight-mini").tasks] == ["vote/flat", "flat"]
    copies, _ = suite("vision-zero-sight?seats=copies").tasks[-1].seatings
    assert list(copies.values()).count(MODEL) == 4


def test_partners_can_be_named(place: Path) -> None:
    made_set(place, "photos", described=False, generator="spy/photos")
    with pytest.raises(BadOption, match="partners=SPEC"):
        suite("vision-zero-sight?source=photos&reference=bot/random")
    [task] = suite("vision-zero-sight?source=photos&reference=bot/random&partners=bot/first, bot/guess").tasks
    civilian, spy = task.seatings
    assert list(civilian.values()) == ["bot/random", MODEL, "bot/first", "bot/guess", "bot/first"]
    assert list(spy.values()) == [MODEL, "bot/first", "bot/guess", "bot/first", "bot/guess"]
    assert "chart" not in [task.name for task in suite("vision-zero-sight?reference=bot/random").tasks]


def test_a_civilian_wins_with_the_others() -> None:
    game = Spy(civilians=2, rounds=1)
    players = dict.fromkeys(game.seats, agent("bot/oracle", game))
    episode = play_sync(game, players, 0)
    assert BY_NAME["won"].value(EpisodeResult("a", episode, ("civilian_1",))) == 1.0
    assert BY_NAME["won as civilians"].value(EpisodeResult("a", episode, ("civilian_1",))) == 1.0
    assert BY_NAME["won"].value(EpisodeResult("a", episode, ("spy",))) == 0.0


def test_ablations_and_published_rows() -> None:
    tasks = suite("vision-zero-ablations").tasks
    assert [make(task.game).options["civilians"] for task in tasks] == [2, 3, 4, 4, 4, 4]
    assert [make(task.game).options["rounds"] for task in tasks] == [2, 2, 2, 1, 2, 3]
    # The paper's opponent is the model before training.
    assert suite("vision-zero").published == suite("vision-zero?reference=bot/random").published == ()
    paper = suite("vision-zero?reference=vllm/Qwen/Qwen2.5-VL-7B-Instruct").published
    assert [row.values for row in paper] == [{"clevr": 50.0}, {"clevr": 71.0}]
    assert all(task.episodes == 10 for task in suite("vision-zero-mini").tasks)


def _said(text: str, tokens: int) -> Reply:
    return Reply(text, usage=Usage(5, tokens))


def test_metrics_of_one_game() -> None:
    game = Spy(civilians=2, rounds=1)
    state = game.start(0)
    spy, mine = state.spy + 1, state.pair.original  # type: ignore[union-attr]
    true = f"There is a {mine.objects[0].name}"
    players = {
        "spy": Scripted(["\\boxed{There are 9 objects}"]),
        "civilian_1": Scripted([_said(f"\\boxed{{{true}}}", 30), _said(f"\\boxed{{{spy}}}", 100)]),
        "civilian_2": Scripted([_said("\\boxed{It is a lovely picture}", 10), _said("\\boxed{N/A}", 50)]),
    }
    episode = play_sync(game, players, 0)
    civilians = EpisodeResult("a", episode, ("civilian_1", "civilian_2"))
    as_spy = EpisodeResult("b", episode, ("spy",))
    expected = {
        "won": (1.0, 0.0),
        "won as civilians": (1.0, None),
        "won as spy": (None, 0.0),
        "votes right": (0.5, None),
        "votes n/a": (0.5, None),
        "votes unreadable": (0.0, None),
        "votes on spy": (None, 0.5),
        "votes on civilian": (0.0, None),
        "clues true": (1.0, 0.0),
        "clues true of other": (None, 0.0),
        "clues undecidable": (0.5, 0.0),
        "informativeness": (None, 1.0),
        "clue words": ((len(true.split()) + 5) / 2, 4.0),
        "clue tokens": (20.0, None),
        "decision tokens": (75.0, None),
    }
    assert set(expected) == set(BY_NAME)
    for name, (ours, theirs) in expected.items():
        if ours is not None or name.startswith("won"):
            assert BY_NAME[name].value(civilians) == ours, name
        if theirs is not None or name.startswith(("won", "votes")):
            assert BY_NAME[name].value(as_spy) == theirs, name


def test_better_players_win_more() -> None:
    game = make("spy")
    won = {}
    for bot in ("random", "clever", "oracle"):
        players = dict.fromkeys(game.seats, agent(f"bot/{bot}", game)) | {"spy": agent("bot/clever", game)}
        won[bot] = sum(play_sync(game, players, seed).facts["winner"] == "civilian" for seed in range(30))
    assert won["random"] < won["clever"] < won["oracle"] == 30


def test_intervals_count_pairs_of_a_set(tmp_path: Path) -> None:
    [clevr] = [task for task in suite("vision-zero").tasks if task.name == "clevr"]
    folder = tmp_path / "run"
    words = ["eval", "vision-zero", "--limit", "24", "-m", "bot/vague", "-m", "bot/first"]
    assert main([*words, "--out", str(folder)]) == 0
    [results] = load_results([folder]).suites
    cells = results.rows[0].cells
    pairs = {make(clevr.game).cluster(seed) for seed in range(12)}
    shared = cells["clevr"].episodes.clusters()
    assert set(shared.values()) <= pairs
    assert len(set(cells["clevr"].episodes.groups())) == len(pairs)
    assert cells["clevr"].metrics["won"].n == len(pairs) < 12
    assert cells["flat"].episodes.clusters() == {}
    assert [pair.difference.n for pair in results.pairs] == [12, len(pairs)]
    assert any(f"count as {cells['clevr'].episodes.distinct} in" in note for note in scores(results).notes)


def test_a_larger_set_is_used_automatically(place: Path) -> None:
    shipped = open_set("clevr-16").header
    assert largest_set("clevr") == "clevr-16"
    entries = open_set("clevr-16")
    for name, change, copies in (("more", "color+shape", 2), ("most", "size", 3)):
        header = replace(shipped, name=name, settings={**shipped.settings, "change": change, "seed": 1})
        writer = PictureSetWriter(place / name, replace(header, entries=0, sha256=""))
        for copy in range(copies):
            for entry in entries.entries:
                files = {role: entries.picture(entry, role).encoded()[0] for role in entry.files}
                writer.add(f"{copy}-{entry.id}", files, scene=entry.scene)
        writer.finish()
    assert largest_set("clevr") == "more", "a set with another change is another task"
    assert [task.game for task in suite("vision-zero").tasks] == ["spy?source=flat", "spy?source=more"]
    games = [task.game for task in suite("vision-zero-sight").tasks]
    votes = [f"spy/vote?source={source}&twins=true" for source in ("flat", "more", "chart-16")]
    assert games == [*votes, "spy?source=flat", "spy?source=more"]
    assert make("spy?source=clevr").options["source"].startswith("more@")
    assert largest_set("chart") == "chart-16"
