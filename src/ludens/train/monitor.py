"""Following a run: progress with time left, measurements as JSON lines, sample games, a page with curves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson

from ludens.core.files import write_atomically
from ludens.train.loop import Trainer
from ludens.train.page import FIRST, write_page

MEASUREMENTS, GAMES, PAGE = "measurements.jsonl", "games", "index.html"

Writer = Callable[[int, dict[str, float]], Any]


class Monitor:
    """Called with the measurements of every iteration, and with those before training as iteration 0."""

    def __init__(self, trainer: Trainer, folder: Path, say: Callable[[str], None]) -> None:
        self.trainer, self.folder, self.say = trainer, folder, say
        self._began, self._from = perf_counter(), trainer.iteration
        self._writers = _writers(trainer, folder)
        lines = [orjson.dumps(measured) + b"\n" for measured in trainer.history]
        write_atomically(folder / MEASUREMENTS, b"".join(lines))

    def __call__(self, measured: dict[str, float]) -> None:
        iteration = int(measured["iteration"])
        with (self.folder / MEASUREMENTS).open("ab") as file:
            file.write(orjson.dumps(measured) + b"\n")
        for write in self._writers:
            write(iteration, measured)
        self.say(self._line(iteration, measured))
        if self.trainer.at_checkpoint:
            self._store_games(iteration)
            write_page(self.folder / PAGE, self.trainer)

    def _line(self, iteration: int, measured: dict[str, float]) -> str:
        total, stage = self.trainer.recipe.iterations, self.trainer.algorithm.stage
        parts = [f"{iteration}/{total}", *([stage] if stage else [])]
        parts += [f"{name} {measured[name]:.3f}" for name in FIRST if name in measured]
        if measured.get("no_signal") == 1:
            parts.append("(nothing to learn: all rewards were as expected)")
        if iteration > self._from:
            left = (perf_counter() - self._began) / (iteration - self._from) * (total - iteration)
            parts.append(f"{measured['s']:.1f} s, {timedelta(seconds=round(left))} left")
        return "  ".join(parts)

    def _store_games(self, iteration: int) -> None:
        """Write sample games as episodes, one line each: `ludens replay` shows them."""
        games = self.trainer.last_games[: self.trainer.recipe.monitor.games]
        if games:
            (self.folder / GAMES).mkdir(exist_ok=True)
            lines = b"".join(episode.to_json() + b"\n" for episode in games)
            write_atomically(self.folder / GAMES / f"{iteration:06d}.jsonl", lines)


def _writers(trainer: Trainer, folder: Path) -> list[Writer]:
    options = trainer.recipe.monitor
    writers: list[Writer] = []
    if options.tensorboard:
        from torch.utils.tensorboard import SummaryWriter

        # Events of iterations after the checkpoint belong to a run that was stopped.
        events = SummaryWriter(str(folder / "tensorboard"), purge_step=trainer.iteration + 1)

        def tensorboard(iteration: int, measured: dict[str, float]) -> None:
            for name, value in measured.items():
                events.add_scalar(name, value, iteration)
            events.flush()

        writers.append(tensorboard)
    if options.wandb:
        import wandb

        run = wandb.init(project="ludens", name=trainer.recipe.run.name, config=trainer.recipe.as_dict())
        writers.append(lambda iteration, measured: run.log(measured, step=iteration))
    return writers
