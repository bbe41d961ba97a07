"""Several processes share the games of an iteration: each seed is played by exactly one of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ludens.core.registry import make
from ludens.train import loop, ranks
from ludens.train.loop import Trainer
from ludens.train.rollout import RolloutJob

PLAY = SimpleNamespace(episodes=7, seeds=0, first_seed=100, samples=2, held_out=5, held_out_seed=1000)


def seeds_of(rank: int, size: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(ranks, "world", lambda: (rank, size))
    if kind == "evaluation":
        return [job.seed for job in loop.evaluation_jobs(make("tic_tac_toe"), "bot/random", 6)]
    league = SimpleNamespace(job=lambda seed, sample, stage: RolloutJob(seed, sample))
    algorithm = SimpleNamespace(stage="", explores=False)
    recipe = SimpleNamespace(play=PLAY)
    trainer: Any = SimpleNamespace(recipe=recipe, iteration=2, league=league, algorithm=algorithm)
    jobs = Trainer.jobs(trainer) if kind == "training" else Trainer.held_out_jobs(trainer)
    return [job.seed for job in jobs]


@pytest.mark.parametrize("kind", ["training", "held out", "evaluation"])
def test_ranks_play_different_seeds_and_together_all_of_them(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = seeds_of(0, 1, kind, monkeypatch)
    for size in (2, 3):
        parts = [seeds_of(rank, size, kind, monkeypatch) for rank in range(size)]
        assert all(parts)
        for number, part in enumerate(parts):
            assert not any(set(part) & set(other) for other in parts[number + 1 :])
        assert sorted(seed for part in parts for seed in part) == sorted(alone)
