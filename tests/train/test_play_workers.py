"""play.workers: processes that play the games, with copies of the policies."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.core.errors import BadOption, UsageError  # noqa: E402
from ludens.train.checks import check  # noqa: E402
from ludens.train.loop import Trainer  # noqa: E402
from ludens.train.policy import Trajectory  # noqa: E402
from ludens.train.recipe import Recipe  # noqa: E402
from ludens.train.rollout import Rollouts  # noqa: E402
from ludens.train.workers import RolloutWorkers  # noqa: E402
from tests.support.tiny_training import policy, recipe  # noqa: E402

SMALL = recipe(
    play={"episodes": 3, "held_out": 2},
    optimizer={"lr": 1e-3},
    monitor={"checkpoint": 2, "blind": 1, "against": "frozen", "evaluation_games": 1, "evaluate": 3},
    run={"iterations": 3},
    opponents=[{"players": {"o": "previous"}}, {"players": {"x": "bot/random"}}],
)


def actions(games: list[Trajectory]) -> list[Any]:
    return [(game.number, game.episode.seed, [move.action for move in game.episode.moves]) for game in games]


def run(chosen: Recipe, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Trainer, list[Any]]:
    """Train, and keep what was played."""
    played: list[Any] = []
    for kind in (Rollouts, RolloutWorkers):
        play = kind.play

        async def kept(*args: Any, play: Any = play) -> list[Trajectory]:
            games: list[Trajectory] = await play(*args)
            played.append(actions(games))
            return games

        monkeypatch.setattr(kind, "play", kept)
    trainer = Trainer(chosen, policy(), folder)
    asyncio.run(trainer.run())
    monkeypatch.undo()
    return trainer, played


def test_workers_play_the_same_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, expected = run(SMALL, tmp_path / "alone", monkeypatch)
    several = replace(SMALL, play=replace(SMALL.play, workers=2))
    shared, found = run(several, tmp_path / "shared", monkeypatch)
    assert len(expected) == 2 * (3 + 2)  # iterations and evaluations, seeing and blind
    assert found == expected
    weights = zip(alone.policy.parameters(), shared.policy.parameters(), strict=True)
    # Rows of a batch are rounded differently; one step moves a weight by up to 1e-3.
    assert max(float((a - b).detach().abs().max()) for a, b in weights) < 2e-4
    assert shared.history[1]["sample_s"] > 0


def test_files_of_past_selves_go_with_them(tmp_path: Path) -> None:
    past = recipe(
        run={"iterations": 5},
        population={"every": 1, "size": 2},
        play={"episodes": 1, "held_out": 0, "workers": 1},
        opponents=[{"players": {"o": "past"}}],
    )
    trainer = Trainer(past, policy(), tmp_path)
    assert trainer.workers is not None
    files = Path(trainer.workers._folder.name)

    async def go() -> None:
        try:
            for _ in range(4):
                await trainer.iterate()
                assert len(trainer.league.copies) == 2
                assert len(list(files.iterdir())) <= 3  # the learner, the first one and the last but one
        finally:
            await trainer.close()

    asyncio.run(go())
    assert not files.exists()


def test_a_worker_that_dies_is_one_sentence(tmp_path: Path) -> None:
    trainer = Trainer(replace(SMALL, play=replace(SMALL.play, workers=1)), policy(), tmp_path)

    async def go() -> None:
        try:
            await trainer.iterate()
            assert trainer.workers is not None
            [process] = trainer.workers._pool._processes
            os.kill(process, signal.SIGKILL)
            with pytest.raises(UsageError, match=r"a process of play\.workers ended"):
                await trainer.iterate()
        finally:
            await trainer.close()

    asyncio.run(go())


def test_large_models_are_not_copied_to_workers() -> None:
    with pytest.raises(BadOption, match=r"play\.workers needs kind"):
        check(recipe(model={"kind": "hf", "path": "some/model"}, play={"workers": 2}))
