"""Checkpoints: a folder each, complete or absent.

A checkpoint holds what plays (weights, tokenizer), and what training needs to go on: the optimiser, the state
of the algorithm, random states, the history of measurements, and the recipe.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile, UsageError
from ludens.train import ranks
from ludens.train.policy import Policy

STATE, OPTIMIZER, ANCHOR, PREFIX = "training.json", "optimizer.pt", "anchor", "step-"


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one run."""

    folder: Path
    keep: int = 3

    def path(self, iteration: int) -> Path:
        return self.folder / f"{PREFIX}{iteration:06d}"

    def all(self) -> list[Path]:
        """Complete checkpoints, oldest first."""
        return sorted(path for path in self.folder.glob(f"{PREFIX}??????") if (path / STATE).is_file())

    def latest(self) -> Path | None:
        return next(reversed(self.all()), None)

    def write(
        self, iteration: int, policy: Policy, anchor: Policy | None, optimizer: Any, state: Mapping[str, Any]
    ) -> Path:
        """Write a checkpoint under another name, then rename it; older ones are removed afterwards."""
        import torch

        final = self.path(iteration)
        with _complete(final) as partial:
            policy.save(partial)
            if anchor is not None:
                (partial / ANCHOR).mkdir()
                anchor.save(partial / ANCHOR)
            torch.save(optimizer, partial / OPTIMIZER)
            (partial / STATE).write_bytes(orjson.dumps(dict(state), option=orjson.OPT_INDENT_2))
        for old in self.all()[: -self.keep]:
            shutil.rmtree(old, ignore_errors=True)
        return final

    @staticmethod
    def read(path: Path, policy: Policy, device: Any = None) -> tuple[Any, dict[str, Any]]:
        """Load the weights into the policy; returns the state of the optimiser and the rest."""
        import torch

        try:
            state = orjson.loads((path / STATE).read_bytes())
            optimizer = torch.load(path / OPTIMIZER, map_location=device, weights_only=True)
        except (OSError, orjson.JSONDecodeError, RuntimeError) as error:
            raise BadFile(f"the checkpoint {path} cannot be read: {error}.") from None
        policy.load(path)
        return optimizer, state


def save_whole(policy: Policy, folder: Path) -> None:
    """Save a policy so that the folder is complete or absent. All ranks call it, and the first one writes."""
    if ranks.world()[0] == 0:
        with _complete(folder) as partial:
            policy.save(partial)
    ranks.wait()


@contextmanager
def _complete(folder: Path) -> Iterator[Path]:
    """A folder to write to, which gets its name when everything is on the disk."""
    from safetensors import SafetensorError

    partial = folder.with_name(f".{folder.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        yield partial
        for file in filter(Path.is_file, partial.rglob("*")):
            with file.open("rb") as handle:
                os.fsync(handle)
        if folder.exists():
            shutil.rmtree(folder)
        partial.rename(folder)
    except (OSError, RuntimeError, SafetensorError) as error:
        shutil.rmtree(partial, ignore_errors=True)
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
        raise UsageError(
            f"the checkpoint {folder} cannot be written: {reason}; earlier ones are whole, and the same "
            "command goes on from the last."
        ) from None
