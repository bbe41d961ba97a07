"""`spy/clevr`: pairs of rendered scenes in the manner of CLEVR, of which two objects differ."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any, Self

from PIL import Image

from ludens.core.options import option
from ludens.core.random import stream
from ludens.games.spy.scene import Pair, make_pair, parse_change
from ludens.games.spy.sources.camera import is_clear, make_camera
from ludens.games.spy.sources.denoise import denoiser
from ludens.games.spy.sources.render import VARIANTS, Rendering, best_variant, use
from ludens.pictures.generate import Generator, Made, Skip

MIN_PIXELS = 200
"""Pixels that every object shows in both pictures, of about 450 of a small object in the background."""
_LICENCE = "CC0-1.0"
_QUALITY = 92
_ATTEMPTS = 1000


@dataclass(frozen=True)
class Clevr(Generator):
    """Rendered scenes; two objects of each pair differ."""

    seed: int = option(0, low=0, help="seed")
    change: str = option("color+shape", help="what differs: color, shape, size, material, joined by +")
    samples: int = option(8, low=1, high=4096, help="paths traced per pixel")
    variant: str = option("", choices=("", *VARIANTS), help="how Mitsuba runs: cuda, llvm or scalar")
    denoiser: str = option("", choices=("", "oidn", "filter"), help="oidn, or the built-in filter")

    name = "spy/clevr"
    version = "2"

    def resolved(self) -> Self:
        return replace(
            self,
            change="+".join(parse_change(self.change)),
            variant=self.variant or best_variant(),
            denoiser=self.denoiser or denoiser(),
        )

    def prepare(self) -> str:
        mitsuba = use(self.variant)
        by = "Open Image Denoise" if self.denoiser == "oidn" else "the built-in filter"
        return f"Mitsuba {mitsuba.__version__}, variant {VARIANTS[self.variant]}, denoised by {by}"

    def workers(self) -> int:
        return 1 if self.variant == "cuda" else super().workers()

    def make(self, number: int) -> Made:
        pair, renderings = self._clear_pair(number)
        pictures = {
            role: _jpeg(rendering.pixels(self.samples, self.denoiser))
            for role, rendering in renderings.items()
        }
        return Made(pictures, pair.to_json(), changes(pair), _LICENCE)

    def _clear_pair(self, number: int) -> tuple[Pair, dict[str, Rendering]]:
        """The first pair of which everything can be seen in both pictures."""
        change = parse_change(self.change)
        for attempt in range(_ATTEMPTS):
            random = stream(self.seed, "clevr", number, attempt)
            pair, camera = make_pair(random, change), make_camera(random)
            if not (is_clear(pair.original, camera) and is_clear(pair.modified, camera)):
                continue
            noise = random.below(1 << 30)
            renderings = {}
            for role, scene in (("original", pair.original), ("modified", pair.modified)):
                rendering = Rendering(scene, camera, self.variant, noise)
                if min(rendering.visible()) < MIN_PIXELS:
                    break
                renderings[role] = rendering
            else:
                return pair, renderings
        raise Skip(f"no clear scene in {_ATTEMPTS} attempts")


def changes(pair: Pair) -> list[dict[str, Any]]:
    """The change log: object, attribute, value before and after."""
    return [
        {
            "object": index,
            "attribute": name,
            "from": getattr(pair.original.objects[index], name),
            "to": getattr(pair.modified.objects[index], name),
        }
        for index in pair.changed
        for name in pair.change
    ]


def _jpeg(pixels: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return out.getvalue()
