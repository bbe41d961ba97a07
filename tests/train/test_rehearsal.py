"""Demonstrations of other games beside play: chosen, learnt, and the same after a stop."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption  # noqa: E402
from ludens.train.demonstrations import rehearsed  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.nano.supervised import Rehearsal  # noqa: E402
from ludens.train.recipe import Recipe  # noqa: E402
from ludens.train.session import train  # noqa: E402
from ludens.train.update import (  # noqa: E402
    LossOptions,
    OptimizerOptions,
    Updater,
)
from tests.support.tiny_training import policy, recipe  # noqa: E402

OTHERS: list[dict[str, Any]] = [
    {"episodes": 50},
    {"game": "tic_tac_toe", "bot": "bot/random", "episodes": 50},
    {"game": "rule?board=tic_tac_toe", "bot": "bot/valid", "episodes": 40},
    {"game": "rule?board=minesweeper", "bot": "bot/valid", "episodes": 4},
]


def chosen(**sections: Any) -> Recipe:
    return recipe(**{"rehearsal": {"share": 0.2}, "demonstrations": OTHERS, **sections})


def test_a_share_of_the_games_that_are_not_played() -> None:
    found = [(source.game, source.episodes) for source in rehearsed(chosen())]
    assert found == [("rule?board=tic_tac_toe", 8), ("rule?board=minesweeper", 1)]


def test_a_model_without_the_words_is_refused() -> None:
    short = chosen(demonstrations=[{"game": "perceive?board=chess", "episodes": 2}])
    with pytest.raises(BadOption, match="nothing can be rehearsed"):
        Rehearsal(short, policy())


def surprise(rehearsal: Rehearsal, learner: NanoPolicy) -> float:
    """The loss of one fixed batch."""
    learner.train(True)
    return rehearsal.backward(0)


def test_what_is_rehearsed_is_learnt_beside_play_that_teaches_nothing() -> None:
    learner = policy()
    rehearsal = Rehearsal(chosen(demonstrations=OTHERS[:3], rehearsal={"share": 1.0}), learner)
    assert len(rehearsal) > 20
    options = OptimizerOptions(lr=1e-2, warmup=0.0)
    before = surprise(rehearsal, learner)
    updater = Updater(learner, options, LossOptions(kl=0.0), 40, rehearsal)
    sample = _silent(learner)
    losses = [updater.update([sample], None, seed=step)["rehearsal"] for step in range(20)]
    assert losses[-1] < 0.7 * losses[0]
    assert surprise(rehearsal, learner) < 0.7 * before


def _silent(learner: NanoPolicy) -> Any:
    """A reply without an advantage."""
    from ludens.train.policy import TokenSample

    sample = TokenSample([5, 6], [7, 1], [0.0, 0.0])
    sample.logprobs = learner.logprobs([sample])[0][0].tolist()
    return sample


def test_its_gradient_is_not_clipped_away() -> None:
    """That of play is cut to a length first: a sum over tokens may be many times longer."""
    learner = policy()
    rehearsal = Rehearsal(chosen(demonstrations=OTHERS[:3]), learner)
    rehearsal.backward(0)
    alone = _gradient(learner)
    options = OptimizerOptions(lr=0.0, grad_norm=1e-9)
    sample = _silent(learner)
    sample.advantage = 1000.0
    learner.network.zero_grad()
    Updater(learner, options, LossOptions(kl=0.0), 10, rehearsal).update([sample], None)
    assert torch.allclose(_gradient(learner), alone, atol=1e-6)


def _gradient(learner: NanoPolicy) -> Any:
    return torch.cat([p.grad.flatten() for p in learner.parameters() if p.grad is not None])


@pytest.mark.slow
def test_a_stopped_run_rehearses_what_it_would_have(tmp_path: Path) -> None:
    few = {"share": 0.2, "batch": 8}
    small = chosen(rehearsal=few, supervised={"rounds": 0}, monitor={"blind": 0, "checkpoint": 1})
    said: list[str] = []
    whole = train(small, tmp_path / "whole", said.append)
    assert any("replies of other games" in line for line in said)
    assert all(measured["rehearsal"] > 0 for measured in whole.history)
    folder = tmp_path / "stopped"
    first = Trainer(small, *_start(small, folder))
    asyncio.run(_iterate(first, 2))
    resumed = train(small, folder, said.append)
    assert [m["rehearsal"] for m in resumed.history] == [m["rehearsal"] for m in whole.history]
    for a, b in zip(whole.policy.parameters(), resumed.policy.parameters(), strict=True):
        assert torch.equal(a, b)


def _start(small: Recipe, folder: Path) -> tuple[NanoPolicy, Path, Rehearsal]:
    """Where `train` begins to play."""
    from ludens.train import session

    session._bind(small, folder)
    learner = session._supervised(small, folder, lambda line: None)
    assert isinstance(learner, NanoPolicy)
    return learner, folder, Rehearsal(small, learner)


async def _iterate(trainer: Trainer, times: int) -> None:
    for _ in range(times):
        await trainer.iterate()
        trainer.save()
    await trainer.close()
