"""Training at its smallest: a model of ours with a few thousand weights, and recipes that take a second."""

from __future__ import annotations

from typing import Any

import torch

from ludens.train.nano.inputs import Vocabulary
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.weights import NanoSize
from ludens.train.recipe import Recipe

SIZE = NanoSize(width=32, heads=2, encoder=1, decoder=1, side=64, longest=48)
VOCABULARY = Vocabulary.of(["tic_tac_toe x o\n", "Action: A1 A2 A3 B1 B2 B3 C1 C2 C3"])
NANO = {"width": 32, "heads": 2, "encoder": 1, "decoder": 1, "side": 64, "max_tokens": 6, "device": "cpu"}
DATA: dict[str, Any] = {
    "run": {"iterations": 4},
    "model": NANO,
    "play": {"game": "tic_tac_toe", "episodes": 2, "samples": 2, "held_out": 1},
    "supervised": {"workers": 1},
    "optimizer": {"lr": 1e-2, "micro": 64},
    "monitor": {"checkpoint": 2, "blind": 2},
}


def recipe(**sections: Any) -> Recipe:
    """The tiny recipe with other values in some sections."""
    data = {name: dict(values) for name, values in DATA.items()}
    for name, values in sections.items():
        data[name] = {**data.get(name, {}), **values} if isinstance(values, dict) else values
    return Recipe.of(data)


def policy(seed: int = 0) -> NanoPolicy:
    """Weights that say something, unlike those of a new network."""
    made = NanoPolicy(SIZE, VOCABULARY, max_tokens=6, seed=seed, device="cpu")
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(seed)
        for parameter in made.network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    return made
