"""The mean of two small models of one training: between their weights, little of what either knows is lost.

    python recipes/nano_mean.py my-nano longer-nano --share 0.25 --out mean-nano

Both are exported folders; the second continues from the first, and may know more words. What both say about
their origin is kept, and `ludens verify nano/mean-nano` checks it.
"""

from __future__ import annotations

import argparse
from hashlib import sha256
from pathlib import Path

import numpy as np

from ludens.core.errors import BadFile, LudensError
from ludens.core.files import write_atomically
from ludens.train.nano.weights import (
    MEAN,
    SETTINGS,
    SETTINGS_HASH,
    WEIGHTS,
    Array,
    StoredModel,
    origin,
    packed,
)


def mean(first: Path, second: Path, share: float) -> dict[str, Array]:
    """The weights between two models: `share` of the way from the first to the second."""
    ours, theirs = StoredModel.read(first), StoredModel.read(second)
    size = len(ours.vocabulary)
    if ours.size != theirs.size or theirs.vocabulary.pieces[:size] != ours.vocabulary.pieces:
        raise BadFile(f"{second} does not continue from {first}: it has another size, or other words.")
    mean_weights, weights = theirs.weights(), ours.weights()
    for name, tensor in weights.items():
        mean_weights[name] = mean_weights[name].astype(np.float32)
        mean_weights[name][: len(tensor)] = (1 - share) * tensor + share * mean_weights[name][: len(tensor)]
    return mean_weights


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the mean of two small models.")
    parser.add_argument("first", type=Path, help="folder of an exported model")
    parser.add_argument("second", type=Path, help="folder of one that continues from it")
    parser.add_argument("--share", type=float, default=0.5, help="of the second, 0 to 1")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    if not 0 <= options.share <= 1:
        parser.error("--share must be between 0 and 1.")
    try:
        settings = (options.second / SETTINGS).read_bytes()
        metadata = origin(options.first) | {MEAN: {"share": options.share, "with": origin(options.second)}}
        metadata[SETTINGS_HASH] = sha256(settings).hexdigest()
        weights = packed(mean(options.first, options.second, options.share), "int8", metadata)
        options.out.mkdir(parents=True, exist_ok=True)
        write_atomically(options.out / WEIGHTS, weights)
        write_atomically(options.out / SETTINGS, settings)
    except (LudensError, OSError) as error:
        parser.error(str(error))
    print(f"{options.out}: {options.share:.0%} of {options.second}, the rest of {options.first}.")


if __name__ == "__main__":
    main()
