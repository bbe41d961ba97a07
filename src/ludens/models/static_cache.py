"""Key-value caches of fixed shape, with which transformers compiles generation (`kv_cache=static`).

The compiled step is made for one batch size and one cache length. So that few shapes occur, batches are
filled up to one of a few sizes, and a cache is kept and used again for shorter prompts.
"""

from __future__ import annotations

from typing import Any

LENGTH_STEP = 256
"""Cache lengths are multiples of this."""
SIZE_STEP = 4
"""Each batch size is so many times the next smaller one. Filler rows cost little: at these sizes a step of
generation takes as long as reading the weights."""
_PER_TOKEN = ("attention_mask", "mm_token_type_ids", "token_type_ids")


class StaticCaches:
    """The static caches of one model.

    Args:
        largest: The largest batch.
    """

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
        size = self.size(count)
        filled = dict(inputs)
        if size > count:
            end = _first_end(model)
            fillers = torch.nn.functional.pad(inputs["input_ids"], (0, 0, 0, size - count), value=end)
            filled["input_ids"] = fillers
            for name in _PER_TOKEN:
                if name in inputs:
                    filled[name] = torch.nn.functional.pad(inputs[name], (0, 0, 0, size - count))
            filled["attention_mask"][count:, -1] = 1
        options = {"past_key_values": self._cache(model, size, width + new_tokens)}
        if size > count and _ends(model):
            options["logits_processor"] = LogitsProcessorList([_EndFillers(count, _first_end(model))])
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


def _ends(model: Any) -> list[int]:
    end = model.generation_config.eos_token_id
    return [] if end is None else [end] if isinstance(end, int) else list(end)


def _first_end(model: Any) -> int:
    return next(iter(_ends(model)), 0)


def _compile_config() -> Any:
    """One kernel per shape. The default limit of compilations is below the number of shapes of a game."""
    import torch
    from transformers import CompileConfig

    torch._dynamo.config.recompile_limit = max(64, torch._dynamo.config.recompile_limit)
    return CompileConfig(dynamic=False)
