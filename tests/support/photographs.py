"""Pictures to edit as if they were photographs: parts of the rendered pictures in the package, with the noise
of a camera."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from ludens.pictures.sets import SHIPPED

SIZE = (240, 180)


def photographs(count: int, seed: int = 0) -> Iterator[npt.NDArray[np.uint8]]:
    """Different parts of scenes with objects, mirrored or not."""
    dice = np.random.default_rng(seed)
    paths = sorted((SHIPPED / "clevr-16").rglob("*.jpg"))
    for number in range(count):
        picture = Image.open(paths[number % len(paths)]).convert("RGB")
        share = dice.uniform(0.65, 1.0)
        width, height = (int(side * share) for side in picture.size)
        left, top = dice.integers(0, picture.width - width + 1), dice.integers(0, picture.height - height + 1)
        part = picture.crop((left, top, left + width, top + height)).resize(SIZE, Image.Resampling.LANCZOS)
        pixels = np.asarray(part, np.float32)[:, :: dice.choice([-1, 1])]
        noisy = pixels + dice.normal(0, 2.5, pixels.shape)
        yield np.clip(noisy, 0, 255).round().astype(np.uint8)


def save_photographs(folder: Path, count: int, seed: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, pixels in enumerate(photographs(count, seed)):
        Image.fromarray(pixels).save(folder / f"{number:04}.png")
