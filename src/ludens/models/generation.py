"""How a local model samples: arguments of `generate`, exact log-probabilities, key-value caches of fixed
shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludens.models.chat import Sampling

SIGNS = ("out of memory", "mha_graph.execute")
"""CUDA says so while a graph is captured; the attention of cuDNN fails without a reason."""


def out_of_memory(error: BaseException) -> bool:
    """Whether torch ran out of memory; it has several ways to say so."""
    return type(error).__name__ == "OutOfMemoryError" or (
        isinstance(error, RuntimeError) and any(sign in str(error) for sign in SIGNS)
    )


# Everything in a model's generation settings that would change the distribution.
_NEUTRAL: dict[str, Any] = {
    "do_sample": True,
    "num_beams": 1,
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "typical_p": 1.0,
    "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0,
    "repetition_penalty": 1.0,
    "no_repeat_ngram_size": 0,
    "min_length": 0,
    **dict.fromkeys(
        (
            "min_p",
            "top_h",
            "min_new_tokens",
            "bad_words_ids",
            "sequence_bias",
            "suppress_tokens",
            "begin_suppress_tokens",
            "forced_bos_token_id",
            "forced_eos_token_id",
            "exponential_decay_length_penalty",
            "guidance_scale",
            "watermarking_config",
        )
    ),
}
_PLACEHOLDERS = (
    "image_token_id",
    "image_token_index",
    "video_token_id",
    "video_token_index",
    "vision_start_token_id",
    "vision_end_token_id",
    "vision_token_id",
)


def generate_options(sampling: Sampling) -> dict[str, Any]:
    """Arguments of `generate`; the model's own generation settings hold for the rest."""
    options: dict[str, Any] = {"max_new_tokens": sampling.max_tokens}
    if sampling.temperature is not None:
        options["do_sample"] = sampling.temperature > 0
        if sampling.temperature > 0:
            options["temperature"] = sampling.temperature
    if sampling.top_p is not None and sampling.temperature != 0:
        options["top_p"] = sampling.top_p
    return options


def end_tokens(model: Any) -> set[int]:
    end = model.generation_config.eos_token_id
    return set() if end is None else {end} if isinstance(end, int) else set(end)


def placeholders(model: Any) -> tuple[int, ...]:
    """Ids that stand for pictures and videos in a prompt; a completion must not contain them."""
    ids = {getattr(model.config, name, None) for name in _PLACEHOLDERS}
    return tuple(sorted(token for token in ids if isinstance(token, int)))


class Draws:
    """Draws a token for each row of a batch, time after time.

    Every row has a seed, and what it draws depends on that and on its distribution alone: not on the batch,
    nor on the process in which it is drawn.

    Args:
        seeds: One for each row; further rows are fillers.
        longest: Most tokens of a row.
    """

    def __init__(self, seeds: Sequence[int], longest: int) -> None:
        self._marks, self._number = uniform(seeds, longest), 0
        self._device_marks: Any = None

    def __call__(self, logprobs: Any) -> Any:
        """The next token of every row, given log-probabilities of (rows, vocabulary)."""
        import torch

        if self._device_marks is None:
            marks = torch.from_numpy(self._marks).to(logprobs.device)
            self._device_marks = torch.nn.functional.pad(marks, (0, 0, 0, len(logprobs) - len(marks)))
        edges = logprobs.exp().cumsum(-1, dtype=torch.float64)
        mark = self._device_marks[:, self._number, None] * edges[:, -1:]
        self._number += 1
        return torch.searchsorted(edges, mark, right=True)[:, 0].clamp_(max=logprobs.shape[1] - 1)


def uniform(seeds: Sequence[int], count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each seed a row of numbers in [0, 1): those of `Stream(seed).random()`."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = np.array(seeds, np.uint64)[:, None] + steps
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    numbers: np.ndarray[Any, np.dtype[np.float64]] = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
    return numbers


class Distribution:
    """A logits processor that alone defines the sampling distribution, and records log-probabilities.

    transformers can return the scores of all steps, but they take batch x tokens x vocabulary numbers. This
    keeps those of one step: the token that was sampled from them is known when the next step begins.

    Args:
        sampling: Temperature, top_p and the longest answer.
        suppressed: Ids that are never drawn.
        seeds: One for each row, where a row's tokens must not depend on its batch: they are then drawn here.
    """

    def __init__(
        self, sampling: Sampling, suppressed: tuple[int, ...], seeds: Sequence[int] | None = None
    ) -> None:
        self._sampling, self.suppressed = sampling, suppressed
        self._greedy = sampling.temperature == 0
        self.temperature = 1.0 if self._greedy or sampling.temperature is None else sampling.temperature
        self._draws: Draws | None = None
        if seeds is not None and not self._greedy:
            assert sampling.max_tokens is not None
            self._draws = Draws(seeds, sampling.max_tokens)
        self._recorded: list[Any] = []
        self._last: Any = None
        self._never: Any = None

    def options(self) -> dict[str, Any]:
        from transformers import LogitsProcessorList

        longest = {
            "max_new_tokens": self._sampling.max_tokens,
            "logits_processor": LogitsProcessorList([self]),
        }
        return {**_NEUTRAL, **longest, "do_sample": not self._greedy and self._draws is None}

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch
        from transformers import TopPLogitsWarper

        if self._last is not None:
            self._record(input_ids[:, -1])
        scores = scores.float() / self.temperature
        if self.suppressed:
            if self._never is None:
                # Copied to the device once: a copy at every token would wait for everything before it.
                self._never = torch.tensor(self.suppressed, device=scores.device)
            scores = scores.index_fill(1, self._never, -torch.inf)
        top_p = self._sampling.top_p
        if not self._greedy and top_p is not None and top_p < 1:
            scores = TopPLogitsWarper(top_p)(input_ids, scores)
        self._last = torch.log_softmax(scores, dim=-1)
        if self._draws is None:
            return scores
        return torch.full_like(scores, -torch.inf).scatter_(1, self._draws(self._last)[:, None], 0.0)

    def logprobs(self, completions: Any) -> Any:
        """Log-probabilities of the sampled tokens, one row per completion; filler rows may be left out."""
        import torch

        length = completions.shape[1]
        if len(self._recorded) < length:
            self._record(completions[:, -1])
        return torch.stack([values[: len(completions)] for values in self._recorded[:length]], dim=1)

    def _record(self, tokens: Any) -> None:
        scores = self._last[: len(tokens)]
        self._recorded.append(scores.gather(1, tokens[:, None].to(scores.device)).squeeze(1))


LENGTH_STEP = 256
"""Cache lengths are multiples of this."""
SIZE_STEP = 4
"""Each batch size is so many times the next smaller one. Filler rows cost little: at these sizes a step of
generation takes as long as reading the weights."""
_PER_TOKEN = ("attention_mask", "mm_token_type_ids", "token_type_ids")


class StaticCaches:
    """The static caches of one model, for batches up to the largest."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self._caches: dict[int, tuple[int, Any]] = {}

    def size(self, count: int) -> int:
        """The batch size to which this many rows are filled up."""
        size = self.largest
        while size // SIZE_STEP >= count:
            size //= SIZE_STEP
        return max(size, count)

    def prepare(self, model: Any, inputs: Any, new_tokens: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Inputs filled up to a batch size, and the arguments of `generate` that use the cache of that size.

        Fillers come after the given rows; they have one token and end with the first token generated.
        """
        import torch
        from transformers import LogitsProcessorList

        count, width = inputs["input_ids"].shape
        ends = end_tokens(model)
        end = min(ends, default=0)
        size = self.size(count)
        filled = dict(inputs)
        if size > count:
            fillers = torch.nn.functional.pad(inputs["input_ids"], (0, 0, 0, size - count), value=end)
            filled["input_ids"] = fillers
            for name in _PER_TOKEN:
                if name in inputs:
                    filled[name] = torch.nn.functional.pad(inputs[name], (0, 0, 0, size - count))
            filled["attention_mask"][count:, -1] = 1
        options = {"past_key_values": self._cache(model, size, width + new_tokens)}
        if size > count and ends:
            options["logits_processor"] = LogitsProcessorList([_EndFillers(count, end)])
        if model.device.type == "cuda":
            options["compile_config"] = _compile_config()
        return filled, options

    def _cache(self, model: Any, size: int, length: int) -> Any:
        from transformers import StaticCache

        longest, cache = self._caches.get(size, (0, None))
        if length > longest:
            # The old cache is released first: both may not fit.
            self._caches.pop(size, None)
            longest = -(-length // LENGTH_STEP) * LENGTH_STEP
            cache = StaticCache(config=model.config.get_text_config(decoder=True), max_cache_len=longest)
            self._caches[size] = longest, cache
        else:
            cache.reset()
        return cache


class _EndFillers:
    """A logits processor: the rows from `first` on can only end."""

    def __init__(self, first: int, end: int) -> None:
        self.first, self.end = first, end

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        scores = scores.clone()
        scores[self.first :] = -torch.inf
        scores[self.first :, self.end] = 0.0
        return scores


def _compile_config() -> Any:
    """One kernel per shape. The default limit of compilations is below the number of shapes of a game."""
    import torch
    from transformers import CompileConfig

    torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
    return CompileConfig(dynamic=False)
