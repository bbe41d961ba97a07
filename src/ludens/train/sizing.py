"""How many games an hour a GPU plays and learns from, and how much memory that takes: estimates.

The figures of one model were measured; those of others follow from the number of parameters. Work per token
and memory of weights grow with it in proportion; the memory of activations with the square root, because
larger models are wider and deeper alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

GIB = 2**30
GPU_GIB = 139.0
"""Memory of the GPU on which the figures were measured (NVIDIA H200)."""


@dataclass(frozen=True)
class Model:
    """A vision-language model."""

    name: str
    parameters: float
    """Of the language model and the vision tower together."""
    layers: int
    key_value_heads: int
    head: int = 128

    @property
    def token_bytes(self) -> int:
        """Key-value cache of one token in bfloat16."""
        return 2 * 2 * self.layers * self.key_value_heads * self.head


MODELS = (
    Model("Qwen2.5-VL-3B", 3.75e9, 36, 2),
    Model("Qwen2.5-VL-7B", 8.29e9, 28, 4),
    Model("Qwen2.5-VL-32B", 33.5e9, 64, 8),
)
MEASURED = MODELS[0]
"""The model whose figures were measured; all others are computed."""
GENERATED = {256: 256 * 256 / 14.5, 64: 64 * 256 / 5.5}
"""Batch size to tokens a second: 256 new tokens, static cache; with varlen vision attention for 256."""
LEARNED = {"lora": 128 * 732 / 8.4, "full": 128 * 732 / 9.3}
"""Prompt and reply tokens a second: LoRA r16 with features once and checkpointing; all weights without."""
UPDATE_GIB = {"lora": 17.5, "full": 54.0}
"""Peak memory of these updates; that of all weights was measured with an optimiser in bfloat16."""
_WEIGHTS = {"lora": 2.0, "full": 20.0}
"""Bytes per parameter: weights; or weights, reference, float32 copies, gradients and two moments."""
_MEASURED_WEIGHTS = {"lora": 2.0, "full": 8.0}
"""The same in the measured updates."""


@dataclass(frozen=True)
class Load:
    """What one game costs; by default Vision-Zero with four civilians and two rounds of clues."""

    replies: int = 14
    """Clues and votes."""
    learned: int = 10
    """Replies that are trained on: those of one stage."""
    prompt: int = 476
    reply: int = 256


@dataclass(frozen=True)
class Estimate:
    """What a GPU does with a model, one way of training it."""

    gpus: int
    """That hold one copy of weights and optimiser. More than one needs sharding, which Ludens does not do."""
    gib: float
    """Memory of one copy while it learns, with the key-value cache kept for play."""
    batch: int
    """Requests in a batch: the largest that fits one GPU."""
    games: float
    """An hour and GPU; communication between GPUs is not counted."""


def estimate(model: Model, training: str, load: Load | None = None) -> Estimate:
    """Games an hour and memory of a model that is trained by "lora" or in "full"."""
    made = [_estimate(model, training, load or Load(), batch) for batch in GENERATED]
    return next((fitting for fitting in made if fitting.gpus == 1), made[0])


def _estimate(model: Model, training: str, load: Load, batch: int) -> Estimate:
    larger = model.parameters / MEASURED.parameters
    play = load.replies * load.reply / (GENERATED[batch] / larger)
    learn = load.learned * (load.prompt + load.reply) / (LEARNED[training] / larger)
    weights = _WEIGHTS[training] * model.parameters / GIB
    cache = batch * (load.prompt + load.reply) * model.token_bytes / GIB
    measured = _MEASURED_WEIGHTS[training] * MEASURED.parameters / GIB
    activations = (UPDATE_GIB[training] - measured) * sqrt(larger)
    gib = weights + cache + activations
    return Estimate(ceil(gib / GPU_GIB), gib, batch, 3600 / (play + learn))
