"""Which replies of a network in rounded numbers can be trusted.

Where the two best tokens differ by less than a margin, a finer network is asked. What rounding changes
depends on the question, by three orders of magnitude: ties between moves that were taught as equally good
hardly depend on the picture, doubts about what is in the picture do. `recipes/nano_margins.py` measures it
for a model and writes a file beside its weights. Without that file margins are wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from ludens.core.errors import BadFile
from ludens.core.files import write_atomically
from ludens.train.nano.weights import WEIGHTS

FILE = "margins.json"
KIND = 4
"""Tokens at the beginning of a prompt that name the game and who is asked: the kind of question."""
Margins = Mapping[str, tuple[float | None, ...]]
"""By kind of question, the margins of the coarse networks; None where one is not worth asking."""


def write_margins(folder: Path, margins: Margins) -> None:
    contents = {"weights": _weights(folder), "margins": dict(sorted(margins.items()))}
    write_atomically(folder / FILE, orjson.dumps(contents, option=orjson.OPT_INDENT_2))


def read_margins(folder: Path) -> Margins:
    """The margins of a model; empty if they were measured with other weights."""
    file = folder / FILE
    if not file.is_file():
        return {}
    try:
        contents = orjson.loads(file.read_bytes())
        if contents["weights"] != _weights(folder):
            return {}
        return {kind: tuple(map(_margin, margins)) for kind, margins in contents["margins"].items()}
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadFile(f"{str(file)!r} has no margins of a nano model: {error}.") from None


def _weights(folder: Path) -> str:
    return sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def _margin(value: Any) -> float | None:
    if value is not None and not (type(value) in (int, float) and value >= 0):
        raise ValueError(f"{value!s:.20} is not a margin")
    return value
