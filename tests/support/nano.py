"""Tiny nano models: one with random weights that needs no torch, one that has learnt two replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

import ludens
from ludens.agents import agent
from ludens.core.config import PlayConfig
from ludens.core.view import Picture
from ludens.train.nano.inputs import NanoQuestion, Vocabulary
from ludens.train.nano.weights import SETTINGS, WEIGHTS, NanoSize, packed

if TYPE_CHECKING:
    from ludens.train.nano.policy import NanoPolicy

SIZE: dict[str, int] = {"width": 32, "heads": 2, "encoder": 1, "decoder": 2, "side": 64, "longest": 64}


def write_random(folder: Path, texts: Sequence[str], seed: int = 0, **settings: Any) -> Path:
    """Write a model with random weights."""
    size, vocabulary = NanoSize(**SIZE), Vocabulary.of(texts)
    random = np.random.default_rng(seed)
    weights = {
        name: random.normal(0, 0.3, shape).astype(np.float32)
        for name, shape in size.shapes(len(vocabulary)).items()
    }
    stored = {"size": SIZE, "vocabulary": vocabulary.pieces, "temperature": 1.0, "max_tokens": 6, **settings}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SETTINGS).write_bytes(orjson.dumps(stored))
    (folder / WEIGHTS).write_bytes(packed(weights, "float32"))
    return folder


def questions(
    prompts: Sequence[list[int]],
    pictures: Sequence[Sequence[Picture]],
    seeds: Sequence[int] = (),
    answers: Sequence[Sequence[str]] = (),
) -> list[NanoQuestion]:
    """One question for each prompt, without seeds and with free replies by default."""
    none = [None] * len(prompts)
    rows = zip(prompts, pictures, seeds or none, answers or [()] * len(prompts), strict=True)
    return [NanoQuestion(*row) for row in rows]


PROMPT = "tic_tac_toe o\n\n"
SEEING, BLIND = "Action: A2", "Action: C3"


def boards() -> list[Picture]:
    """What `o` is shown first in tic-tac-toe after A1, and a blank picture of that size."""
    game = ludens.make("tic_tac_toe")
    seats = {seat: agent("bot/first", game) for seat in game.seats}
    samples = ludens.samples(ludens.play_sync(game, seats, 0, config=PlayConfig(horizon=2)))
    [shown] = next(sample for sample in samples if sample.move.seat == "o").pictures
    return [shown, shown.blank()]


def disturb(policy: NanoPolicy, scale: float = 0.05, seed: int = 0) -> None:
    """Add noise to the weights: some are zero at first, and what they multiply would not be tested."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * scale)


def learnt() -> NanoPolicy:
    """A policy that says `SEEING` to the first of these boards, and `BLIND` to the second."""
    import torch

    from ludens.train.nano.inputs import shrink
    from ludens.train.nano.policy import NanoPolicy

    vocabulary = Vocabulary.of([PROMPT, SEEING, BLIND])
    policy = NanoPolicy(NanoSize(**SIZE), vocabulary, max_tokens=12, device="cpu")
    asked = vocabulary.encode(PROMPT)
    said = [[*vocabulary.encode(reply), vocabulary.end] for reply in (SEEING, BLIND)]
    ids, mask = torch.tensor([asked + reply for reply in said]), torch.ones(2, len(said[0]))
    shown = torch.stack([torch.from_numpy(shrink(board, policy.size.side)) for board in boards()])
    disturb(policy)
    adam = torch.optim.Adam(policy.parameters(), 1e-2)
    for _ in range(25):
        loss = -policy.values(ids, torch.zeros(2, dtype=torch.long), mask, policy.see(shown)).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return policy
