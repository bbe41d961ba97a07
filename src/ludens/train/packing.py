"""Several samples in one row, one after the other: a forward pass without padding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class PackedRow:
    """What a model of transformers computes with, and which of its logits belong to which token."""

    inputs: dict[str, Tensor]
    """Without an attention mask: where positions begin anew, a sample begins, which sees no other."""
    places: Tensor
    """Of the tokens before those of replies, which predict them."""
    mask: Tensor
    """Of the tokens of replies, (samples, longest reply)."""

    @staticmethod
    def of(model: Any, padded: dict[str, Tensor], mask: Tensor) -> PackedRow:
        """Take the padding out of a batch whose prompts end where replies begin.

        Args:
            model: The model of transformers, whose positions may have several axes for pictures.
            padded: Its inputs.
            mask: Of the tokens of replies, which come last.
        """
        import torch

        inputs, real = dict(padded), padded["attention_mask"].bool()
        text = inputs.pop("attention_mask").cumsum(1) - 1
        positions = text[real][None]
        if axes := getattr(model.model, "get_rope_index", None):
            kinds, grids = inputs["mm_token_type_ids"], inputs.get("image_grid_thw")
            three = text.expand(3, -1, -1)
            if grids is not None:
                three = axes(inputs["input_ids"], kinds, grids, attention_mask=padded["attention_mask"])[0]
            # With four rows, the first one tells samples apart.
            positions = torch.cat([text[None], three.to(text.device)])[:, real][:, None]
        for name in ("input_ids", "mm_token_type_ids"):
            if name in inputs:
                inputs[name] = inputs[name][real][None]
        predicts = torch.zeros_like(real)
        predicts[:, -mask.shape[1] - 1 : -1] = mask.bool()
        return PackedRow({**inputs, "position_ids": positions}, predicts[real].nonzero()[:, 0], mask)

    def spread(self, values: Tensor) -> Tensor:
        """One value for each token of a reply as (samples, longest reply), 0 where there is none."""
        empty = values.new_zeros(self.mask.shape)
        return empty.masked_scatter(self.mask.bool(), values)

    def each(self, values: Tensor) -> Tensor:
        """The value of its sample for each token of a reply."""
        return values[:, None].expand(self.mask.shape)[self.mask.bool()]

    @property
    def firsts(self) -> Tensor:
        """Which of the places predict the first token of a reply."""
        lengths = self.mask.sum(1).long()
        return lengths.cumsum(0) - lengths
