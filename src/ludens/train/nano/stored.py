"""The folder of a trained model: `nano.json` (size, vocabulary, sampling, games) and `model.safetensors`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import orjson

from ludens.core.errors import BadFile, UsageError
from ludens.core.files import write_atomically
from ludens.models.trained import TRAINED_ON, games_of_checkpoint
from ludens.train.nano.size import Size
from ludens.train.nano.tokens import Vocabulary
from ludens.train.nano.weights import Array, packed, read_weights

SETTINGS, WEIGHTS = "nano.json", "model.safetensors"


@dataclass(frozen=True)
class Stored:
    """The contents of `nano.json`."""

    size: Size
    vocabulary: Vocabulary
    temperature: float
    max_tokens: int

    @staticmethod
    def read(folder: Path) -> Stored:
        """Read and check the settings."""
        try:
            stored = orjson.loads((folder / SETTINGS).read_bytes())
            size, pieces = Size(**stored["size"]), stored["vocabulary"]
            temperature, max_tokens = float(stored["temperature"]), int(stored["max_tokens"])
            if not all(isinstance(piece, str) for piece in pieces):
                raise TypeError("the vocabulary is not a list of texts")
            return Stored(size, Vocabulary(pieces), temperature, max_tokens)
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{folder / SETTINGS} does not describe a nano model: {error}.") from None
        except UsageError as error:
            raise BadFile(f"{folder / SETTINGS} does not describe a nano model: {error}") from None

    def weights(self, folder: Path) -> dict[str, Array]:
        """Read the weights, float32, and check their shapes."""
        read = read_weights(folder / WEIGHTS)
        for name, shape in self.size.shapes(len(self.vocabulary)).items():
            if name not in read or read[name].shape != shape:
                raise BadFile(f"{folder / WEIGHTS} has no tensor {name} of shape {shape}.")
        return read


def export(folder: Path, to: Path, dtype: str) -> None:
    """Write the model of a checkpoint for play, without what only training needs; it names its games.

    Args:
        folder: The checkpoint.
        to: Written to; made where it does not exist.
        dtype: float32, bfloat16 or int8.
    """
    weights = packed(Stored.read(folder).weights(folder), dtype)
    games = {TRAINED_ON: sorted(games_of_checkpoint(folder, SETTINGS))}
    settings = orjson.dumps(
        orjson.loads((folder / SETTINGS).read_bytes()) | games, option=orjson.OPT_INDENT_2
    )
    try:
        to.mkdir(parents=True, exist_ok=True)
        write_atomically(to / WEIGHTS, weights)
        write_atomically(to / SETTINGS, settings)
    except OSError as error:
        raise BadFile(f"{to} cannot be written: {error.strerror}.") from None
