"""A run of every kind of recipe, from `train` to a checkpoint that plays, as small as possible."""

from __future__ import annotations

import asyncio
from math import log
from pathlib import Path
from typing import Any

import orjson
import pytest

import ludens
from ludens.agents import agent
from ludens.train.recipe import Recipe

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano import dataset  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.policy import TokenSample  # noqa: E402
from ludens.train.session import train  # noqa: E402
from tests.support.tiny_training import recipe  # noqa: E402

KUHN = {"game": "kuhn_poker", "episodes": 2, "held_out": 0}


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "VOCABULARY_EPISODES", 4)


def run(chosen: Recipe, folder: Path) -> tuple[Trainer, list[str]]:
    """Train; whatever the recipe, replies are recomputed as drawn and every weight stays finite."""
    said: list[str] = []
    trainer = train(chosen, folder, said.append)
    assert len(trainer.history) == chosen.iterations
    for measured in trainer.history:
        assert measured["gap"] < 1e-4, "log-probabilities differ from those while sampling"
    assert all(bool(parameter.isfinite().all()) for parameter in trainer.policy.parameters())
    stored = (folder / "measurements.jsonl").read_bytes().splitlines()
    assert list(map(orjson.loads, stored)) == trainer.history
    return trainer, said


def moved(trainer: Trainer) -> float:
    """How far the log-probabilities of a reply are from where play started."""
    with torch.no_grad():
        before, now = (
            p.logprobs([TokenSample([5, 6, 7], [8, 9], [])])[0] for p in (trainer.start, trainer.policy)
        )
    return float((before - now).abs().max())


def plays(spec: str, game: str) -> None:
    """A game of a checkpoint with itself."""
    made, player = ludens.make(game), agent(spec, ludens.make(game))

    async def go() -> Any:
        try:
            return await ludens.play(made, dict.fromkeys(made.seats, player), 7)
        finally:
            await player.close()

    assert asyncio.run(go()).status == "done"


def test_grpo_with_groups(tmp_path: Path) -> None:
    small = recipe(run={"iterations": 2}, play={"held_out": 0, "samples": 2}, monitor={"blind": 0})
    trainer, _ = run(small, tmp_path)
    assert moved(trainer) > 1e-3
    plays(f"nano/{tmp_path / 'step-000002'}?device=cpu", "tic_tac_toe")


def test_play_may_need_shorter_replies_than_what_was_learnt(tmp_path: Path) -> None:
    small = recipe(run={"iterations": 1}, play={"held_out": 0, "max_tokens": 2}, monitor={"blind": 0})
    trainer, _ = run(small, tmp_path)
    assert trainer.history[0]["length"] <= 2 < small.model.max_tokens
    stored = orjson.loads((tmp_path / "step-000001" / "nano.json").read_bytes())
    assert stored["max_tokens"] == small.model.max_tokens


def test_role_baselines_on_a_game_without_roles(tmp_path: Path) -> None:
    small = recipe(run={"iterations": 2}, play=KUHN, advantage={"kind": "role"}, monitor={"blind": 0})
    trainer, _ = run(small, tmp_path)
    assert moved(trainer) > 1e-3
    assert set(trainer.algorithm.state()["baselines"]) == {"first", "second"}


def test_iterative_spo(tmp_path: Path) -> None:
    small = recipe(
        run={"algorithm": "spo", "iterations": 2},
        model={"longest": 96},
        play={"game": "spy?civilians=2&rounds=1", "episodes": 2, "held_out": 1},
        advantage={"kind": "role"},
        switch={"k_min": 0, "patience": 1},
        reference={"anchor": "switch"},
        monitor={"blind": 0},
        opponents=[{"players": {"civilian": "bot/vague"}, "stage": "clue"}],
    )
    trainer, _ = run(small, tmp_path)
    assert [m["trained_clue"] for m in trainer.history] == [0.0, 1.0]
    assert all(job.players for job in trainer.jobs()), "the next games are for clues"
    assert moved(trainer) > 1e-3
    assert (tmp_path / "step-000002" / "anchor").is_dir()


def test_iterative_spo_on_a_second_game(tmp_path: Path) -> None:
    small = recipe(
        run={"algorithm": "spo", "iterations": 3},
        model={"longest": 160},
        play={"game": "comma/wire?turns=2", "episodes": 1, "samples": 2, "held_out": 2},
        advantage={"kind": "role"},
        switch={"k_min": 0, "patience": 1, "first": "advise"},
        monitor={"blind": 0, "games": 0},
        opponents=[{"players": {"solver": "bot/oracle"}, "stage": "advise"}],
    )
    trainer, _ = run(small, tmp_path)
    assert [m["trained_advise"] for m in trainer.history] == [1.0, 0.0, 1.0]
    assert trainer.history[0]["na"] >= 0
    assert trainer.algorithm.state()["switch"]["stage"] == "advise"
    assert "Shaded: stage advise." in (tmp_path / "index.html").read_text()


def test_imitation_with_a_model_of_ours(tmp_path: Path) -> None:
    small = recipe(
        run={"algorithm": "sft"},
        demonstrations=[{"bot": "bot/random", "episodes": 8}],
        supervised={"epochs": 10, "batch": 16, "lr": 1e-2},
    )
    _, said = run(small, tmp_path)
    losses = [float(line.split("loss ")[1].split()[0]) for line in said if "  loss " in line]
    # A reply has five tokens; two of them, the cell, cannot be foretold: log(9) / 5 is 0.44.
    assert losses[-1] < 0.6 < log(len(NanoPolicy.read(tmp_path / "supervised").vocabulary)) / 2
    plays(f"nano/{tmp_path / 'supervised'}?device=cpu", "tic_tac_toe")
    stored = orjson.loads((tmp_path / "imitation.json").read_bytes())["losses"]
    assert stored[-1] < stored[0]
    page = (tmp_path / "index.html").read_text()
    assert f"{len(stored)} updates" in page
    assert page.count("<polyline") == 1


@pytest.fixture(scope="module")
def llava(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("transformers", reason="the extra 'train' is not installed")
    from tests.support.tiny_vlm import build

    return str(build(tmp_path_factory.mktemp("llava")))


def hf(path: str, **sections: Any) -> Recipe:
    model = {"kind": "hf", "path": path, "max_tokens": 4, "device": "cpu", **sections.pop("model", {})}
    rest = {"run": {"iterations": 1}, "monitor": {"blind": 0}, "play": KUHN, "advantage": {"kind": "role"}}
    return recipe(model=model, **{**rest, **sections})


@pytest.mark.parametrize("lora", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_grpo_with_a_model_of_transformers(llava: str, lora: int, tmp_path: Path) -> None:
    trainer, _ = run(hf(llava, model={"lora": lora}), tmp_path)
    assert trainer.history[0]["grad"] > 0
    assert moved(trainer) > 1e-4
    plays(f"hf/{tmp_path / 'step-000001'}?max_tokens=4&device=cpu", "kuhn_poker")


def test_imitation_with_trl(llava: str, tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="the extra 'train' is not installed")
    imitated = hf(
        llava,
        run={"algorithm": "sft"},
        demonstrations=[{"bot": "bot/equilibrium", "episodes": 4}],
        supervised={"epochs": 2, "batch": 4, "lr": 1e-2},
    )
    trainer, said = run(imitated, tmp_path)
    assert any("replies with TRL" in line for line in said)
    from transformers import AutoModelForImageTextToText

    before = AutoModelForImageTextToText.from_pretrained(llava).state_dict()
    after = trainer.policy.model.state_dict()  # type: ignore[attr-defined]
    assert max(float((before[name] - after[name]).abs().max()) for name in before) > 1e-3
