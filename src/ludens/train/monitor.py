"""Following a run: progress with time left, measurements as JSON lines, sample games, a page with curves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from ludens.core.errors import MissingExtra
from ludens.train.loop import Trainer
from ludens.train.page import write_page

MEASUREMENTS, GAMES, PAGE = "measurements.jsonl", "games.jsonl", "index.html"
SHOWN = ("reward", "accuracy", "win_rate", "kl", "entropy", "fallback", "blind_reward")


class Monitor:
    """Called with the measurements of every iteration."""

    def __init__(self, trainer: Trainer, folder: Path, say: Callable[[str], None]) -> None:
        self.trainer, self.folder, self.say = trainer, folder, say
        self._began, self._from = perf_counter(), trainer.iteration
        self._writers = list(_writers(trainer, folder))
        lines = [orjson.dumps(measured) + b"\n" for measured in trainer.history]
        (folder / MEASUREMENTS).write_bytes(b"".join(lines))

    def __call__(self, measured: dict[str, float]) -> None:
        iteration, total = self.trainer.iteration, self.trainer.recipe.run.iterations
        with (self.folder / MEASUREMENTS).open("ab") as file:
            file.write(orjson.dumps(measured) + b"\n")
        for write in self._writers:
            write(iteration, measured)
        spent = perf_counter() - self._began
        left = spent / max(1, iteration - self._from) * (total - iteration)
        numbers = "  ".join(f"{name} {measured[name]:.3f}" for name in SHOWN if name in measured)
        stage = self.trainer.algorithm.stage
        self.say(
            f"{iteration}/{total}  {f'{stage}  ' if stage else ''}{numbers}  "
            f"{measured['s']:.1f} s, {timedelta(seconds=round(left))} left"
        )
        if self.trainer.at_checkpoint:
            self._store_games()
            write_page(self.folder / PAGE, self.trainer)

    def _store_games(self) -> None:
        """Append sample games as episodes, one line each: `ludens replay` shows them."""
        games = self.trainer.last_games[: self.trainer.recipe.monitor.games]
        with (self.folder / GAMES).open("ab") as file:
            for episode in games:
                file.write(episode.to_json() + b"\n")


def _writers(trainer: Trainer, folder: Path) -> list[Callable[[int, dict[str, float]], Any]]:
    options = trainer.recipe.monitor
    writers: list[Callable[[int, dict[str, float]], Any]] = []
    if options.tensorboard:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise MissingExtra("monitor.tensorboard", "tensorboard") from None
        events = SummaryWriter(str(folder / "tensorboard"))

        def tensorboard(iteration: int, measured: dict[str, float]) -> None:
            for name, value in measured.items():
                events.add_scalar(name, value, iteration)
            events.flush()

        writers.append(tensorboard)
    if options.wandb:
        try:
            import wandb
        except ImportError:
            raise MissingExtra("monitor.wandb", "wandb") from None
        run = wandb.init(project="ludens", name=trainer.recipe.run.name, config=trainer.recipe.as_dict())
        writers.append(lambda iteration, measured: run.log(measured, step=iteration))
    return writers
