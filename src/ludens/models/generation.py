"""How a local model samples: arguments of `generate`, and the exact distribution with log-probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ludens.models.chat import Sampling

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
    """Ids that end a completion."""
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
        self._there: Any = None

    def __call__(self, logprobs: Any) -> Any:
        """The next token of every row.

        Args:
            logprobs: Log-probabilities, (rows, vocabulary).
        """
        import torch

        if self._there is None:
            marks = torch.from_numpy(self._marks).to(logprobs.device)
            self._there = torch.nn.functional.pad(marks, (0, 0, 0, len(logprobs) - len(marks)))
        edges = logprobs.exp().cumsum(-1, dtype=torch.float64)
        mark = self._there[:, self._number, None] * edges[:, -1:]
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

    def options(self) -> dict[str, Any]:
        """Arguments of `generate`."""
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
            scores[:, list(self.suppressed)] = -torch.inf
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
