"""Measure how far the coarse networks of a small model in onnxruntime can be trusted.

    python recipes/nano_margins.py nano/my-nano

Positions are those of `nano_equal.py`, of other seeds. In each reply, the difference between the two best
tokens is compared between coarse and exact networks. The margins are written beside the weights.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

import numpy as np
from nano_equal import FIRST_MOVES, games, positions

import ludens
from ludens.core.spec import parse_spec
from ludens.core.view import Picture
from ludens.train.nano.inputs import NanoQuestion, short_prompt
from ludens.train.nano.margins import write_margins
from ludens.train.nano.onnx_player import EQUAL, OnnxSampler
from ludens.train.nano.player import SHIPPED
from ludens.train.nano.weights import Array, StoredModel

NEAR = 0.3
"""Errors count where two tokens differ by less, or by so little that the error could exchange them."""
CAUTION = 6.0
"""The margin, as a multiple of the largest error."""
WIDEST = 2.0
FEWEST = 5
"""Prompts of a kind without which it gets no margins."""
WORTH = 0.4
"""From this share of doubtful replies on, the finer network alone is faster."""


def questions(specs: Sequence[str], seed: int) -> Iterator[tuple[ludens.Sample, Picture]]:
    """One position of each game in turn, without end; of games that end at once, the first."""
    for number in count(seed):
        for spec in specs:
            seeds = (number, FIRST_MOVES * number)
            first_positions = (position for each in seeds for position in islice(positions(spec, each), 1))
            yield from islice(first_positions, 1)


def measure(sampler: OnnxSampler, ids: list[int], picture: Picture) -> Array:
    """Of each token of the reply, by how much the two best differ, and the error of each coarse network."""
    *coarse, finest = EQUAL
    [tokens] = sampler.sample([NanoQuestion(ids, [picture])])
    reply = tokens.completion_ids
    exact = sampler.logits(finest, ids, reply, picture)
    pairs = np.argsort(exact, -1)[:, -2:]

    def apart(logits: Array) -> Array:
        second, first = np.take_along_axis(logits, pairs, 1).T
        difference: Array = first - second
        return difference

    margins = apart(exact)
    errors = [np.abs(apart(sampler.logits(rung, ids, reply, picture)) - margins) for rung in coarse]
    return np.stack([margins, *errors], 1)


def margin_of(differences: Sequence[Array], network: int) -> float:
    """Of one coarse network: wide enough for its errors, and wider where that costs nothing."""
    margin, error = np.concatenate(differences)[:, [0, network]].T
    errors = error[(margin < NEAR) | (CAUTION * error > margin)]
    free = min(WIDEST, float(margin.min()))
    return round(max(CAUTION * float(errors.max(initial=0)), 0.9 * free), 6)


def margins_of(differences: Sequence[Array]) -> tuple[float | None, ...]:
    first, *finer = (margin_of(differences, network) for network in range(1, len(EQUAL)))
    doubtful = np.mean([tokens[:, 0].min() < first for tokens in differences])
    return (first if doubtful < WORTH else None, *finer)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure margins of a small model in onnxruntime.")
    parser.add_argument("model", help="nano, or nano/FOLDER")
    parser.add_argument("--games", nargs="+", help="specs of games; all by default")
    parser.add_argument("--prompts", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7_000)
    options = parser.parse_args()
    folder = Path(parse_spec(options.model).rest or SHIPPED)
    sampler = OnnxSampler(folder, StoredModel.read(folder).max_tokens, 1, EQUAL[-1:], {})
    differences: dict[str, list[Array]] = defaultdict(list)
    positions_asked = islice(questions(options.games or games(), options.seed), options.prompts)
    for number, (sample, picture) in enumerate(positions_asked, 1):
        ids = sampler.encode(short_prompt(sample.game, sample.ask, sampler.prompts))
        differences[sampler.kind(ids)].append(measure(sampler, ids, picture))
        if number % 100 == 0:
            print(f"{number} prompts of {len(differences)} kinds", flush=True)
    margins = {kind: margins_of(tokens) for kind, tokens in differences.items() if len(tokens) >= FEWEST}
    write_margins(folder, margins)
    once = sum(of_kind[0] is not None for of_kind in margins.values())
    print(f"{len(margins)} kinds, {once} of them first in coarse numbers")


if __name__ == "__main__":
    main()
