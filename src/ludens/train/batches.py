"""Batches of samples for a policy: padded tensors, which samples share one, and smaller ones where memory is
short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from logging import getLogger
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ludens.core.errors import UsageError
from ludens.models.generation import out_of_memory
from ludens.train import ranks
from ludens.train.policy import Policy, TokenSample
from ludens.train.recipe import OptimizerOptions

if TYPE_CHECKING:
    from torch import Tensor


Array = np.ndarray[Any, Any]


def left_padded(rows: Sequence[Sequence[int]], value: int) -> Tensor:
    """Rows of unlike length, aligned at their ends."""
    return _padded(rows, value, np.int64, left=True)


def right_padded(rows: Sequence[Sequence[float]], value: float, kind: type = float) -> Tensor:
    """Rows of unlike length, aligned at their beginnings."""
    return _padded(rows, value, np.int64 if kind is int else np.float32)


def _padded(rows: Sequence[Sequence[float]], value: float, dtype: type, left: bool = False) -> Tensor:
    import torch

    lengths = _lengths(rows)
    # All values at once: torch takes several times as long to read lists of lists.
    flat: Array = np.fromiter(chain.from_iterable(rows), dtype, lengths.sum())
    return torch.from_numpy(padded_table(flat, lengths, value, left))


def padded_table(flat: Array, lengths: Array, value: float = 0, left: bool = False) -> Array:
    """Rows of unlike lengths, which follow one another, as a table; `left` aligns them at their ends."""
    within = _within(lengths, left)
    table = np.full(within.shape, value, flat.dtype)
    table[within] = flat
    return table


def prompts_and_replies(samples: Sequence[TokenSample], pad: int) -> tuple[Tensor, Tensor]:
    """The ids of samples, prompts padded on the left and completions on the right, and the mask of these."""
    import torch

    prompts = left_padded([s.prompt_ids for s in samples], pad)
    completions = [s.completion_ids for s in samples]
    return torch.cat([prompts, right_padded(completions, pad, int)], 1), mask_of(completions)


def mask_of(rows: Sequence[Sequence[float]], left: bool = False) -> Tensor:
    """1.0 where padded rows have values, 0.0 where they have padding."""
    import torch

    return torch.from_numpy(_within(_lengths(rows), left).astype(np.float32))


def _lengths(rows: Sequence[Sequence[float]]) -> Array:
    return np.fromiter(map(len, rows), np.intp, len(rows))


def _within(lengths: Array, left: bool) -> Array:
    places = np.arange(lengths.max(initial=1))
    within: Array = (places[::-1] if left else places) < lengths[:, None]
    return within


def chunks(samples: Sequence[TokenSample], size: int, tokens: int = 0) -> list[list[TokenSample]]:
    """Batches of samples of similar length: less padding.

    Args:
        size: Most samples in a batch.
        tokens: Most tokens in a batch of several samples, with padding; 0 for any number.
    """
    if not tokens:
        order = sorted(samples, key=lambda s: len(s.prompt_ids) + len(s.completion_ids))
        return [order[start : start + size] for start in range(0, len(order), size)]
    batches, prompt, reply = list[list[TokenSample]](), 0, 0
    for sample in sorted(samples, key=lambda s: (len(s.prompt_ids), len(s.completion_ids))):
        prompt, reply = max(prompt, len(sample.prompt_ids)), max(reply, len(sample.completion_ids))
        if not batches or len(batches[-1]) == size or (len(batches[-1]) + 1) * (prompt + reply) > tokens:
            batches.append([])
            prompt, reply = len(sample.prompt_ids), len(sample.completion_ids)
        batches[-1].append(sample)
    return batches


def passes(
    samples: Sequence[TokenSample], size: int, policy: Policy, tokens: int = 0
) -> list[tuple[list[TokenSample], bool]]:
    """Batches for one forward pass each, as `chunks` makes them, and whether they count.

    Where the weights of the policy are shared out, all ranks have as many: those with fewer samples get
    batches of one that do not count.
    """
    batches = chunks(samples, size, tokens)
    if not policy.sharded:
        return [(batch, True) for batch in batches]
    counts = ranks.gather(len(batches))
    filler = list(samples[:1])
    if max(counts) and not min(counts):
        filler = next(filter(None, ranks.gather(filler)))
    return [(batch, True) for batch in batches] + [(filler, False)] * (max(counts) - len(batches))


def moved(tensor: Tensor, device: Any) -> Tensor:
    """A copy on the device. A GPU reads pinned memory while this process goes on with the next batch."""
    return (tensor.pin_memory() if device.type == "cuda" else tensor).to(device, non_blocking=True)


def each(samples: Iterable[TokenSample], value: Callable[[TokenSample], float]) -> Tensor:
    import torch

    return torch.tensor([value(sample) for sample in samples], dtype=torch.float32)


def drawn_values(distribution: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
    """The log-probabilities of the last tokens of each row, 0 where the mask is.

    Args:
        distribution: Log-probabilities of all tokens, (rows, last tokens, vocabulary).
    """
    import torch

    values = distribution.gather(-1, ids[:, -mask.shape[1] :, None])[..., 0]
    return torch.where(mask.bool(), values, torch.zeros_like(values))


def entropies(distribution: Tensor) -> Tensor:
    """Entropies of distributions given as log-probabilities, of which some may be -inf."""
    possible = distribution.masked_fill(distribution.isneginf(), 0.0)
    return -(distribution.exp() * possible).sum(-1)


CALM = 4
"""Updates without a shortage of memory after which larger batches are tried."""

T = TypeVar("T")
log = getLogger("ludens.train")


class BatchLimits:
    """How large batches may be: as the recipe says, and smaller where the memory of a GPU is short."""

    def __init__(self, options: OptimizerOptions) -> None:
        self.options = options
        self.micro, self.tokens = options.micro, options.tokens
        self._calm = 0
        """Updates since memory was short."""

    def passes(self, samples: Sequence[TokenSample], policy: Policy) -> list[tuple[list[TokenSample], bool]]:
        return passes(samples, self.micro, policy, self.tokens)

    def fit(self, work: Callable[[], T], samples: Sequence[TokenSample], policy: Policy) -> T:
        """The result of `work`, which makes batches of these samples; where memory is short, it is repeated
        with smaller ones."""
        import torch

        while True:
            try:
                return work()
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                self._shrink(len(samples), policy)
            torch.cuda.empty_cache()  # only now: the error held the tensors of the batch

    def _shrink(self, samples: int, policy: Policy) -> None:
        if policy.sharded:
            raise UsageError(
                f"a GPU's memory does not hold an update with optimizer.micro = {self.micro}, and "
                "the other processes wait for this one: set a lower one and start again."
            ) from None
        if self.micro == 1:
            raise UsageError(
                "the GPU's memory does not hold the update of a single reply: use LoRA (model.lora), "
                "model.checkpointing, smaller pictures (play.size) or shorter replies."
            ) from None
        self.micro, self._calm = min(self.micro, samples) // 2 or 1, 0
        self.tokens = max(1, self.tokens // 2) if self.tokens else 0
        log.warning("out of memory: starting the step again with micro=%d", self.micro)

    def grow(self) -> None:
        """Try larger batches again where memory was short, which another run on the GPU may have needed."""
        self._calm += 1
        if self._calm > CALM:
            self.micro = min(2 * self.micro, self.options.micro)
            self.tokens = min(2 * self.tokens, self.options.tokens)
