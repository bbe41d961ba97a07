"""Following a run: what is measured, progress, sample games, the page, TensorBoard and W&B."""

from __future__ import annotations

import asyncio
import re
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

import ludens  # noqa: E402
from ludens.cli import main  # noqa: E402
from ludens.core.episode import Episode, Move  # noqa: E402
from ludens.core.errors import MissingExtra  # noqa: E402
from ludens.run.plan import HELD_BACK  # noqa: E402
from ludens.train import loop  # noqa: E402
from ludens.train.monitor import BOTTOM, PARTS, TOP, bands, curves, switches, time_parts  # noqa: E402
from ludens.train.nano import dataset  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.policy import TokenSample, Trajectory  # noqa: E402
from ludens.train.session import train  # noqa: E402
from tests.run.report.test_escape import parsed  # noqa: E402
from tests.support.tiny_training import recipe  # noqa: E402

SPY = {
    "run": {"algorithm": "spo", "iterations": 2, "name": "<spy>"},
    "model": {"longest": 96},
    "play": {"game": "spy?civilians=2&rounds=1", "episodes": 1, "samples": 1, "held_out": 1},
    "monitor": {"checkpoint": 1, "blind": 2, "against": "bot/random", "evaluate": 2, "evaluation_games": 1},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of a run of the spy game, and what it said."""
    folder, said = tmp_path_factory.mktemp("run"), list[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "VOCABULARY_EPISODES", 4)
        train(recipe(**SPY), folder, said.append)
    return folder, said


def test_the_checkpoint_with_the_best_evaluation_is_judged_once_on_held_back_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset, "VOCABULARY_EPISODES", 4)
    options = recipe(**SPY | {"monitor": SPY["monitor"] | {"judge": 1}})
    train(options, tmp_path)
    judged = orjson.loads((tmp_path / "judged.json").read_bytes())
    assert judged["iteration"] == 2  # the only one with an evaluation
    assert {"won", "won low", "won spy", "blind won"} <= set(judged)
    assert "2 iterations won" in (tmp_path / "index.html").read_text()
    said: list[str] = []
    trainer = train(options, tmp_path, said.append)
    assert not any("Judged" in line for line in said)

    played: list[loop.RolloutJob] = []

    async def games(self: loop.Trainer, player: Any, jobs: Any, blind: bool = False) -> list[Trajectory]:
        played.extend(jobs)
        return []

    monkeypatch.setattr(loop.Trainer, "_games", games)
    trainer.history = [{"iteration": 1.0, "won": 0.9}, {"iteration": 2.0, "won": 0.8}]
    assert asyncio.run(trainer.judge()) == {"iteration": 1.0}
    assert {job.seed for job in played} == {HELD_BACK.start}
    assert {tuple(job.players) for job in played} == {("spy",), ("civilian",)}
    first = NanoPolicy.read(tmp_path / "step-000001").parameters()
    assert all(torch.equal(a, b) for a, b in zip(trainer.policy.parameters(), first, strict=True))


def test_every_iteration_is_measured(run: tuple[Path, list[str]]) -> None:
    lines = [orjson.loads(line) for line in (run[0] / "measurements.jsonl").read_bytes().splitlines()]
    before, first, second = lines
    assert before["iteration"] == 0
    assert {"won", "won low", "won high", "won spy", "won civilian", "blind won"} <= set(before)
    games = {"clues undecided", "votes n/a", "votes unreadable", "votes right", "civilians won"}
    replies = {"entropy", "length", "length clue", "length decision", "fallback", "unreadable"}
    stages = {"kl", "no_signal", "accuracy", "na", "accuracy_ema", "na_ema", "trained_clue"}
    for measured in (first, second):
        assert games | replies | stages <= set(measured)
        assert {f"held_out {name}" for name in games} <= set(measured)
    assert {"blind spy clue", "blind civilian decision", "blind votes right"} <= set(first)
    assert "blind spy clue" not in second
    assert "won" in second
    assert "won" not in first


def test_progress_names_the_time_left(run: tuple[Path, list[str]]) -> None:
    before, first, second = run[1]
    assert re.match(r"0/2  decision  won \d", before)
    assert re.search(r"^1/2  decision .*na \d.*kl \d.*entropy \d.*length \d.*fallback \d.*:\d\d left", first)
    assert second.endswith("0:00:00 left")


def test_curves_have_a_colour(run: tuple[Path, list[str]]) -> None:
    """The style sheet of reports takes the colour of curves from the number of a series."""
    page = (run[0] / "index.html").read_text()
    assert page.count('<polyline class="curve s0"') == page.count("<polyline") > 10
    [rule] = re.findall(r"\.curve \{ ([^}]*)\}", page)
    assert "stroke: var(--c);" in rule
    assert ".s0 { --c: var(--h0); }" in page


def test_sample_games_can_be_replayed(
    run: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = sorted((run[0] / "games").iterdir())
    assert [file.name for file in files] == ["000001.jsonl", "000002.jsonl"]
    assert main(["replay", str(files[-1])]) == 0
    assert "spy, seed 500001" in capsys.readouterr().out
    page = (run[0] / "index.html").read_text()
    assert f"ludens replay {files[-1]}" in page


def test_the_page_is_self_contained(run: tuple[Path, list[str]]) -> None:
    page = (run[0] / "index.html").read_text()
    assert "<h1>&lt;spy&gt;</h1>" in page
    assert not re.search(r"url\(|@import", page)
    tags = parsed(page)
    links = [value for _, attrs in tags.found for name, value in attrs if name in ("src", "href", "action")]
    assert links
    assert all((value or "").startswith(("data:image/png;base64,", "#")) for value in links)
    assert [name for _, attrs in tags.found for name, _ in attrs if name.startswith("on")] == []
    assert page.count('<div class="viewer">') == page.count('<details class="episode">') > 0
    for name in ("kl", "entropy", "length clue", "votes n/a", "fallback", "won", "accuracy_ema"):
        assert f"<figcaption>{name}<small>" in page
    assert "seed 500001" in page
    assert "&#34;algorithm&#34;: &#34;spo&#34;" in page


def test_curves_switches_and_bands() -> None:
    history = [
        {"iteration": 0.0, "won": 0.5},
        {"iteration": 1.0, "kl": 0.0, "trained_clue": 0.0},
        {"iteration": 2.0, "kl": 0.5, "trained_clue": 1.0, "won": 1.0},
    ]
    assert switches(history) == [1]
    assert bands(history) == [(198.0, 154.0)]
    won, kl, clue = curves(history)
    assert clue.name == "trained_clue"
    assert (kl.name, kl.points, kl.low, kl.high) == ("kl", "198.0,126.0 352.0,8.0", "0", "0.5")
    assert (won.first, won.last, won.points) == ("0.5", "1", "44.0,126.0 352.0,8.0")


def trajectory(winner: str, learner: str) -> Trajectory:
    moves = [Move(0, "x", "A1", "ok", []), Move(1, "o", "A2", "fallback", [])]
    returns = {"x": 1.0 if winner == "x" else -1.0, "o": 1.0 if winner == "o" else -1.0}
    episode = Episode("tic_tac_toe", 2, {}, 0, {"x": "a", "o": "b"}, moves=moves, returns=returns)
    samples = [TokenSample([1], [2, 3], [-1.0, -3.0], seat=learner, role=learner, reward=returns[learner])]
    return Trajectory(episode, samples=samples, roles={learner: learner}, measures={"seen": 0.25})


def test_games_without_a_reply_in_the_stage_that_is_trained() -> None:
    measured = loop.of_play([trajectory("x", "x")], [])
    assert (measured["samples"], measured["no_signal"]) == (0, 1)


def test_measures_by_hand() -> None:
    games = [trajectory("x", "x"), trajectory("x", "o")]
    games[1].samples[0].advantage = 1.0
    assert loop.of_play(games, [s for t in games for s in t.samples]) == {
        "episodes": 2,
        "samples": 2,
        "entropy": 2.0,  # the mean of -log p over the tokens of a reply
        "fallback": 0.5,  # of the learner's two moves, the one as o
        "length": 2,
        "no_signal": 0.5,
        "reward": 0.0,
        "unreadable": 0.0,
        "truncated": 0.0,
        "seen": 0.25,
    }
    assert loop.of_rewards(games, "held_out") == {"held_out o": -1.0, "held_out x": 1.0}
    won = loop.of_evaluation([*games, trajectory("x", "x"), trajectory("o", "o")])
    assert {name: won[name] for name in ("won", "won x", "won o", "return", "return o")} == {
        "won": 0.75,
        "won x": 1.0,
        "won o": 0.5,
        "return": 0.5,
        "return o": 0.0,
    }
    # Wilson's interval of 3 out of 4.
    assert (won["won low"], won["won high"]) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert loop.of_evaluation([]) == {}


def test_evaluations_give_every_role_the_same_seeds() -> None:
    jobs = loop.evaluation_jobs(ludens.make("spy"), "frozen", 2)
    assert [(job.seed, dict(job.players)) for job in jobs] == [
        (900_000, {"civilian": "frozen"}),
        (900_001, {"civilian": "frozen"}),
        (900_000, {"spy": "frozen"}),
        (900_001, {"spy": "frozen"}),
    ]


def one(**monitor: Any) -> Any:
    return recipe(run={"iterations": 1}, play={"samples": 2, "held_out": 0}, monitor={"blind": 0, **monitor})


@pytest.mark.parametrize("name", ["trackio", "wandb"])
def test_trackers_where_installed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "VOCABULARY_EPISODES", 4)
    logged: list[tuple[int, dict[str, float]]] = []
    started: list[dict[str, Any]] = []

    def init(**settings: Any) -> Any:
        started.append(settings)
        return SimpleNamespace(log=lambda measured, step: logged.append((step, measured)))

    monkeypatch.setitem(sys.modules, name, SimpleNamespace(init=init))
    trainer = train(one(track=f"{name}:games"), tmp_path, lambda line: None)
    assert logged == [(1, trainer.history[0])]
    assert started[0]["project"] == "games"
    assert started[0]["config"]["run"]["iterations"] == 1


@pytest.mark.parametrize("name", ["trackio", "wandb", "tensorboard"])
def test_missing_trackers_are_found_before_anything_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="track"):
        train(one(track=f"{name}:x"), tmp_path / "run", lambda line: None)
    assert not (tmp_path / "run").exists()


def test_the_seconds_of_an_iteration_add_up(run: tuple[Path, list[str]]) -> None:
    lines = [orjson.loads(line) for line in (run[0] / "measurements.jsonl").read_bytes().splitlines()]
    for measured in lines[1:]:
        assert sum(measured[name] for name in PARTS) == pytest.approx(measured["s"], rel=1e-3)
        assert measured["draw_s"] > 0
        assert measured["sample_s"] > 0
        assert measured["update_s"] > 0


def test_where_the_time_went_by_hand() -> None:
    history = [
        {"iteration": 0.0, "won": 0.5},
        {"iteration": 1.0, "play_s": 1.0, "draw_s": 1.0, "sample_s": 2.0, "update_s": 0.0, "wait_s": 0.0},
        {"iteration": 2.0, "play_s": 1.0, "draw_s": 0.0, "sample_s": 4.0, "update_s": 2.0, "wait_s": 1.0},
    ]
    parts = {part.name: part for part in time_parts(history)}
    assert [part.share for part in parts.values()] == ["17%", "8%", "50%", "17%", "8%"]
    assert parts["sampling replies"].mean == "3"
    bars = [part.bars for part in parts.values()]
    assert sum(bar[1][3] for bar in bars) == pytest.approx(BOTTOM - TOP), (
        "the longest is as high as the picture"
    )
    assert sum(bar[0][3] for bar in bars) == pytest.approx((BOTTOM - TOP) / 2)
    for below, above in pairwise(bars):
        assert above[1][1] + above[1][3] == pytest.approx(below[1][1], abs=0.02), "one upon the other"
    assert time_parts([{"iteration": 0.0, "won": 0.5}]) == []


def test_the_page_shows_where_the_time_went(run: tuple[Path, list[str]]) -> None:
    page = (run[0] / "index.html").read_text(encoding="utf-8")
    assert "Where the time of an iteration goes" in page
    assert page.count('class="bar ours s2"') == 3  # two iterations, and the legend
