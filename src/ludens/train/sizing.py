"""How many games an hour a GPU plays and learns from, and how much memory that takes: estimates.

The figures of one model were measured; those of others follow from the number of parameters. Work per token
and memory of weights grow with it in proportion; the memory of activations with the square root, because
larger models are wider and deeper alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

GIB = 2**30
GPU_GIB = 0.95 * 139
"""Memory of the GPU on which the figures were measured (NVIDIA H200), less what cannot be used."""


@dataclass(frozen=True)
class SizedModel:
    name: str
    parameters: float
    """Of the language model and the vision tower together."""
    language: float
    """Of the language model, which is trained."""
    layers: int
    key_value_heads: int
    head: int = 128

    @property
    def token_bytes(self) -> int:
        """Key-value cache of one token in bfloat16."""
        return 2 * 2 * self.layers * self.key_value_heads * self.head


MODELS = (
    SizedModel("Qwen2.5-VL-3B", 3.75e9, 3.09e9, 36, 2),
    SizedModel("Qwen2.5-VL-7B", 8.29e9, 7.62e9, 28, 4),
    SizedModel("Qwen2.5-VL-32B", 33.5e9, 32.8e9, 64, 8),
)
MEASURED = MODELS[0]
"""The model whose figures were measured; all others are computed."""
GENERATED = {256: 256 * 256 / 13.7, 64: 64 * 256 / 8.0}
"""Batch size to tokens a second: 256 new tokens, static cache; with varlen and features once for 256."""
LEARNED = {"lora": 128 * 732 / 6.94, "full": 128 * 732 / 4.78}
"""Prompt and reply tokens a second: LoRA r16 with features once and checkpointing; all weights without."""
UPDATE_GIB = {"lora": 16.4, "full": 82.5}
"""Peak memory of these updates, which had no reference."""
_TRAINED = {"lora": 0.0, "full": 16.0}
"""Bytes per trained parameter: float32 copies, gradients and two moments."""
_REFERENCE = {"lora": 0.0, "full": 2.0}
"""Bytes per parameter of the policy from which the KL is measured; with LoRA it is the model itself."""


@dataclass(frozen=True)
class Load:
    """The cost of one game; by default of Vision-Zero with four civilians and two rounds of clues."""

    replies: int = 14
    learned: int = 10
    """Replies that are trained on: those of one stage."""
    prompt: int = 476
    reply: int = 256


@dataclass(frozen=True)
class SizeEstimate:
    """Speed and memory of a GPU for one model and one way of training it."""

    gpus: int
    """Number of GPUs for one copy of weights and optimiser; more than one needs `model.shard`."""
    gib: float
    """Memory of one copy while it learns, with the key-value cache kept for play."""
    batch: int
    """Requests in a batch: the largest that fits one GPU."""
    games: float
    """An hour and GPU; communication between GPUs is not counted."""


def estimate(model: SizedModel, training: str, load: Load | None = None) -> SizeEstimate:
    """Games an hour and memory of a model that is trained by "lora" or in "full"."""
    estimates = [_estimate(model, training, load or Load(), batch) for batch in GENERATED]
    return next((fitting for fitting in estimates if fitting.gpus == 1), estimates[0])


def _estimate(model: SizedModel, training: str, load: Load, batch: int) -> SizeEstimate:
    larger = model.parameters / MEASURED.parameters
    play = load.replies * load.reply / (GENERATED[batch] / larger)
    learn = load.learned * (load.prompt + load.reply) / (LEARNED[training] / larger)
    weights = _weights(model, training) + _REFERENCE[training] * model.parameters / GIB
    cache = batch * (load.prompt + load.reply) * model.token_bytes / GIB
    activations = (UPDATE_GIB[training] - _weights(MEASURED, training)) * sqrt(larger)
    gib = weights + cache + activations
    return SizeEstimate(ceil(gib / GPU_GIB), gib, batch, 3600 / (play + learn))


def _weights(model: SizedModel, training: str) -> float:
    """GiB of the weights in bfloat16, and of copies, gradients and moments of trained ones."""
    return (2 * model.parameters + _TRAINED[training] * model.language) / GIB


LARGEST = SizedModel("Qwen2.5-VL-72B", 73.4e9, 72.7e9, 80, 8)
COPIES, SHARED, SERVED = "torchrun", "torchrun, model.shard", "torchrun, model.shard, vLLM"
PLAIN = 662.0
"""Tokens a second of 64 requests with a cache that grows, as weights that are shared out need it."""
CHECKPOINTED = 13_510 / 15_850
"""Speed of an update with checkpointing, as a share of that without: measured with LoRA."""
_SHARED = {"lora": 2.0, "full": 4.0}
"""Bytes per parameter that ranks share out: bfloat16 with LoRA, else the float32 weights of the optimiser."""
_STEPS = {"lora": 0.0, "full": 12.0}
"""Bytes per trained parameter: gradient and two moments."""
_COPIED = {"lora": 0.0, "full": 4.0}
"""Bytes per parameter of the reference, shared out too."""


@dataclass(frozen=True)
class ScalePlan:
    """How several GPUs train a model."""

    engine: str
    """Empty where they cannot."""
    gib: float
    """Memory of each GPU."""
    generated: float
    """Tokens of replies per second, on all GPUs; 0 where a server generates them on GPUs of its own."""
    learned: float
    """Tokens of prompts and replies per second in updates, on all GPUs."""


def plan(model: SizedModel, training: str, gpus: int, load: Load | None = None) -> ScalePlan:
    """The simplest engine whose memory fits; communication is not counted.

    A copy on each GPU is what `estimate` says. Shared out, a GPU holds 1/n of weights, gradients, moments and
    reference. For play it holds all weights in bfloat16 and the key-value cache of 64 replies as well, in an
    update the activations with checkpointing, the embeddings and one layer.
    """
    load, larger = load or Load(), model.parameters / MEASURED.parameters
    learned = gpus * LEARNED[training] / larger
    alone = estimate(model, training, load)
    if alone.gpus == 1:
        return ScalePlan(
            "one process" if gpus == 1 else COPIES, alone.gib, gpus * GENERATED[alone.batch] / larger, learned
        )
    shared = (_SHARED[training] + _COPIED[training]) * model.parameters + _STEPS[training] * model.language
    cache = 64 * (load.prompt + load.reply) * model.token_bytes
    activations = (UPDATE_GIB["lora"] - _weights(MEASURED, "lora")) * sqrt(larger)
    learned *= CHECKPOINTED if training == "full" else 1.0
    gathered = 2 * (model.parameters - model.language + model.language / model.layers) / GIB
    part, update = shared / gpus / GIB, activations + gathered
    play = (2 * model.parameters + cache) / GIB
    if gpus > 1 and part + max(play, update) <= GPU_GIB:
        return ScalePlan(SHARED, part + max(play, update), gpus * PLAIN / larger, learned)
    if gpus > 1 and part + update <= GPU_GIB:
        return ScalePlan(SERVED, part + update, 0.0, learned)
    return ScalePlan("", part + update, 0.0, 0.0)
