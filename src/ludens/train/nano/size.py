"""The size of a network, and the shapes of its weights."""

from __future__ import annotations

from dataclasses import dataclass

from ludens.core.errors import BadOption
from ludens.core.options import check_options, option
from ludens.train.nano.marks import LINES

STRIDE = 16
"""Pixels per side of a patch."""
WAVES = 16
"""Frequencies of the Fourier features of a place."""
SHARPNESS = 11.5
"""The largest logit of attention: queries and keys have unit RMS."""


@dataclass(frozen=True)
class Size:
    """The size of a network."""

    width: int = option(192, low=32, high=4096, help="width of every layer")
    heads: int = option(4, low=1, high=64, help="attention heads")
    encoder: int = option(4, low=1, high=64, help="layers that see")
    decoder: int = option(4, low=1, high=64, help="layers that speak")
    side: int = option(128, low=64, high=1024, help="pixels per side of the pictures it sees")
    longest: int = option(256, low=16, high=4096, help="most tokens of prompt and reply together")

    def __post_init__(self) -> None:
        check_options(self, "a nano network")
        if self.width % self.heads or self.side % STRIDE:
            raise BadOption(f"the width of a network must be a multiple of its heads, and side of {STRIDE}.")

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        """The shape of every tensor."""
        width = self.width
        shapes: dict[str, tuple[int, ...]] = {
            "encoder.stem.0.weight": (64, 3, 4, 4),
            "encoder.stem.1.weight": (128, 64, 3, 3),
            "encoder.stem.2.weight": (width, 128, 3, 3),
        }
        shapes |= {name.replace("weight", "bias"): shape[:1] for name, shape in shapes.items()}
        encoder = [f"encoder.blocks.{n}" for n in range(self.encoder)]
        decoder = [f"decoder.blocks.{n}" for n in range(self.decoder)]
        attention = [f"{b}.attention" for b in encoder + decoder] + [f"{b}.look" for b in decoder]
        for name in attention:
            shapes[f"{name}.query.weight"] = shapes[f"{name}.out.weight"] = (width, width)
            shapes[f"{name}.key_value.weight"] = (2 * width, width)
        for name in encoder + decoder:
            shapes[f"{name}.mlp.up.weight"] = (4 * width, width)
            shapes[f"{name}.mlp.down.weight"] = (width, 4 * width)
        for name in ("encoder.position", "encoder.key", "decoder.place"):
            shapes[f"{name}.weight"] = (width, 4 * WAVES)
        rows = {"embedding": vocabulary, "head": vocabulary, "position": self.longest}
        for name, count in (rows | {"line": LINES, "column": LINES}).items():
            shapes[f"decoder.{name}.weight"] = (count, width)
        return shapes
