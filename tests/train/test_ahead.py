"""play.ahead: the next games are played during the update, and what an earlier policy drew is corrected."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from math import exp
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption  # noqa: E402
from ludens.train.checks import check  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.policy import TokenSample  # noqa: E402
from ludens.train.recipe import LossOptions, OptimizerOptions, Recipe  # noqa: E402
from ludens.train.update import Updater  # noqa: E402
from tests.support.tiny_training import policy, recipe  # noqa: E402


def ahead(checkpoint: int = 3, **sections: Any) -> Recipe:
    values: dict[str, Any] = {
        "run": {"iterations": 6},
        "play": {"ahead": 1, "held_out": 1},
        "monitor": {"checkpoint": checkpoint, "games": 0, "blind": 2},
        "opponents": [{"players": {"o": "previous"}}],
    }
    return recipe(**values | sections)


def run(trainer: Trainer, times: int) -> None:
    async def go() -> None:
        for _ in range(times):
            await trainer.iterate()
            if trainer.at_checkpoint:
                trainer.save()

    asyncio.run(go())


def weights(trainer: Trainer) -> list[Any]:
    return [parameter.detach().clone() for parameter in trainer.policy.parameters()]


def equal(first: list[Any], second: list[Any]) -> bool:
    return all(map(torch.equal, first, second))


def test_a_stopped_run_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    whole = Trainer(ahead(), policy(), tmp_path / "whole")
    run(whole, 6)
    assert [measured["staleness"] for measured in whole.history] == [0, 1, 1, 0, 1, 1]
    stopped = Trainer(ahead(), policy(), tmp_path / "stopped")
    run(stopped, 5)
    again = Trainer(ahead(), policy(), tmp_path / "stopped")
    again.resume(tmp_path / "stopped" / "step-000003")
    run(again, 3)
    assert equal(weights(whole), weights(again))
    assert not equal(weights(whole), weights(stopped))


def test_games_are_those_of_the_policy_before_the_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(ahead(checkpoint=6), policy(), tmp_path)
    apart: list[tuple[float, float]] = []
    before = trainer.policy.frozen()
    update = Updater.update

    def gap(drawn: list[TokenSample], model: Any) -> float:
        with torch.no_grad():
            return max(
                float((model.logprobs([sample])[0][0] - torch.tensor(sample.logprobs)).abs().max())
                for sample in drawn
            )

    def watched(updater: Updater, samples: list[TokenSample], *rest: Any) -> dict[str, float]:
        nonlocal before
        apart.append((gap(samples, before), gap(samples, updater.policy)))
        before = updater.policy.frozen()
        return update(updater, samples, *rest)

    monkeypatch.setattr(Updater, "update", watched)
    run(trainer, 3)
    assert max(old for old, _ in apart) < 1e-5
    assert apart[0][1] < 1e-5 < 1e-3 < min(now for _, now in apart[1:])
    stale = trainer.history[1]
    assert stale["weight"] != 1
    assert stale["gap"] < 1e-5  # ratios count from the policy that learns
    assert stale["overlap_s"] > 0
    parts = sum(stale[f"{name}_s"] for name in ("play", "draw", "sample", "update", "wait"))
    assert parts == pytest.approx(stale["s"] + stale["overlap_s"], abs=0.02)


def test_threads_take_turns_quickly_while_a_run_goes_on(tmp_path: Path) -> None:
    before, during = sys.getswitchinterval(), list[float]()
    trainer = Trainer(ahead(run={"iterations": 1}), policy(), tmp_path)
    asyncio.run(trainer.run(lambda measured: during.append(sys.getswitchinterval())))
    assert during == [pytest.approx(5e-5)]
    assert sys.getswitchinterval() == before


def test_without_it_nothing_changes(tmp_path: Path) -> None:
    plain = recipe(play={"held_out": 1}, monitor={"blind": 2, "games": 0, "checkpoint": 1})
    now = Trainer(plain, policy(), tmp_path / "now")
    run(now, 2)
    assert "staleness" not in now.history[0]
    # With a checkpoint after every iteration, nothing is played ahead.
    waits = Trainer(replace(plain, play=replace(plain.play, ahead=1)), policy(), tmp_path / "waits")
    run(waits, 2)
    assert [measured["staleness"] for measured in waits.history] == [0, 0]
    assert equal(weights(now), weights(waits))


def sample(gains: list[float]) -> tuple[TokenSample, list[float]]:
    """A reply whose tokens have become more likely by these log-ratios since they were drawn."""
    made = TokenSample([5, 6, 7], [8, 9, 10][: len(gains)], [], advantage=1.5)
    with torch.no_grad():
        values = policy().logprobs([made])[0][0].tolist()
    made.logprobs = [value - gain for value, gain in zip(values, gains, strict=True)]
    return made, values


def test_tokens_count_by_their_ratio_up_to_a_limit() -> None:
    learner = policy()
    made, _ = sample([0.3, 2.0, -1.0])
    loss = LossOptions(kl=0.0, norm="sum", correction=2.0)
    updater = Updater(learner, OptimizerOptions(grad_norm=0.0), loss, 1)
    gradients: list[Any] = []
    updater.optimizer.register_step_pre_hook(
        lambda *_: gradients.extend(p.grad.clone() for p in learner.parameters())
    )
    measured = updater.update([made], None, staleness=1)
    counted = [exp(0.3), 2.0, exp(-1.0)]
    assert measured["weight"] == pytest.approx(sum(counted) / 3, rel=1e-4)
    assert measured["capped"] == pytest.approx(1 / 3)
    other = policy()
    values = other.logprobs([made])[0][0]
    (-1.5 * (values * torch.tensor(counted)).sum()).backward()
    expected = [parameter.grad for parameter in other.parameters()]
    assert max(float(p.abs().max()) for p in expected) > 1e-3
    assert max(float((a - b).abs().max()) for a, b in zip(gradients, expected, strict=True)) < 1e-5


def test_without_a_correction_the_ratio_is_that_of_the_draw() -> None:
    made, _ = sample([2.0])
    updater = Updater(policy(), OptimizerOptions(), LossOptions(kl=0.0, correction=0.0), 1)
    measured = updater.update([made], None, staleness=1)
    assert "weight" not in measured
    assert measured["grad"] == 0  # clipped
    assert measured["gap"] == pytest.approx(2.0, rel=1e-4)


def test_models_that_fill_a_gpu_cannot_play_meanwhile() -> None:
    hf = ahead(model={"kind": "hf", "path": "some/model"})
    with pytest.raises(BadOption, match=r"play\.ahead needs kind"):
        check(hf)
    served = replace(hf, server=replace(hf.server, url="http://127.0.0.1:1"))
    with pytest.raises(BadOption, match=r"other .* than 'previous'"):
        check(served)
    with pytest.raises(BadOption, match=r"play\.ahead needs kind"):
        check(ahead(model={"shard": True}))
