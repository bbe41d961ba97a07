"""Data sets on the device, copied there while the one before is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from ludens.train.nano.dataset import Array, Dataset


@dataclass
class Uploaded:
    """The arrays of a data set on the device: an update then copies nothing but the numbers of its rows."""

    prompts: Tensor
    replies: Tensor
    prompt_lengths: Tensor
    reply_lengths: Tensor
    picture: Tensor
    pictures: Tensor

    @staticmethod
    def of(dataset: Dataset, device: torch.device) -> Uploaded:
        arrays = [getattr(dataset, array.name) for array in fields(Uploaded)]
        return Uploaded(*(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays))

    def number(self, rows: Array) -> Tensor:
        """Numbers of rows on the device, which goes on with what it does meanwhile."""
        numbers, device = torch.from_numpy(rows), self.picture.device
        return (numbers.pin_memory() if device.type == "cuda" else numbers).to(device, non_blocking=True)


def pinned(shape: tuple[int, ...]) -> Array:
    """Memory that a GPU reads by itself, while other threads launch kernels."""
    made: Array = torch.empty(shape, dtype=torch.uint8, pin_memory=True).numpy()
    return made


def uploaded(
    datasets: Iterable[Dataset], device: torch.device, meanwhile: Callable[[], None] | None = None
) -> Iterator[tuple[Dataset, Uploaded, Callable[[], bool]]]:
    """Each data set, also on the device, and whether the next is there: it is made and copied meanwhile.

    `meanwhile` is done while the first is made.
    """
    waiting = iter(datasets)
    stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def take() -> tuple[Dataset, Uploaded] | None:
        dataset = next(waiting, None)
        if dataset is None:
            return None
        with torch.cuda.stream(stream) if stream else nullcontext():
            there = Uploaded.of(dataset, device)
        if stream:
            stream.synchronize()
            dataset.pictures = np.empty((0, *dataset.pictures.shape[1:]), np.uint8)
        return dataset, there

    with ThreadPoolExecutor(1) as ahead:
        coming = ahead.submit(take)
        if meanwhile is not None:
            meanwhile()
        while (taken := coming.result()) is not None:
            coming = ahead.submit(take)
            yield *taken, coming.done
            del taken
