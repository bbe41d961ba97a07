"""The folder of a trained model: `nano.json` (size, vocabulary, sampling) and `model.safetensors`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.train.nano.marks import LINES
from ludens.train.nano.tokens import Vocabulary
from ludens.train.nano.weights import Array, packed, read_weights

SETTINGS, WEIGHTS = "nano.json", "model.safetensors"
STRIDE = 16
"""Pixels per side of a patch."""
WAVES = 16
LARGEST = 4096
"""Bound of every number in the size of a network: files are untrusted."""


@dataclass(frozen=True)
class StoredSize:
    """The size of a network as stored: the fields of `network.Size`, checked."""

    width: int
    heads: int
    encoder: int
    decoder: int
    side: int
    longest: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not (isinstance(value, int) and 1 <= value <= LARGEST):
                raise ValueError(f"{name} must be a whole number from 1 to {LARGEST}, not {value!r}")
        if self.width % self.heads or self.side % STRIDE:
            raise ValueError(f"width must be a multiple of heads, and side of {STRIDE}")

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


@dataclass(frozen=True)
class Stored:
    """The contents of `nano.json`."""

    size: StoredSize
    vocabulary: Vocabulary
    temperature: float
    max_tokens: int

    @staticmethod
    def read(folder: Path) -> Stored:
        """Read and check the settings."""
        try:
            stored = orjson.loads((folder / SETTINGS).read_bytes())
            size, pieces = StoredSize(**stored["size"]), stored["vocabulary"]
            temperature, max_tokens = float(stored["temperature"]), int(stored["max_tokens"])
            if not all(isinstance(piece, str) for piece in pieces):
                raise TypeError("the vocabulary is not a list of texts")
            return Stored(size, Vocabulary(pieces), temperature, max_tokens)
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{folder / SETTINGS} does not describe a nano model: {error}.") from None

    def weights(self, folder: Path) -> dict[str, Array]:
        """Read the weights, float32, and check their shapes."""
        read = read_weights(folder / WEIGHTS)
        for name, shape in self.size.shapes(len(self.vocabulary)).items():
            if name not in read or read[name].shape != shape:
                raise BadFile(f"{folder / WEIGHTS} has no tensor {name} of shape {shape}.")
        return read


def export(folder: Path, to: Path, dtype: str) -> None:
    """Write the model of a checkpoint for play, without what only training needs.

    Args:
        folder: The checkpoint.
        to: Written to; made where it does not exist.
        dtype: float32, bfloat16 or int8.
    """
    weights = packed(Stored.read(folder).weights(folder), dtype)
    settings = (folder / SETTINGS).read_bytes()
    try:
        to.mkdir(parents=True, exist_ok=True)
        write_atomically(to / WEIGHTS, weights)
        write_atomically(to / SETTINGS, settings)
    except OSError as error:
        raise BadFile(f"{to} cannot be written: {error.strerror}.") from None
