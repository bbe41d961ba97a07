"""The loss: clipped policy gradient with a penalty for leaving a reference policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludens.core.options import option
from ludens.train.section import Section

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class LossOptions(Section, name="loss"):
    """The terms of the loss and how they are averaged."""

    clip: float = option(0.2, low=0, help="clip the probability ratio to 1 +- clip; 0 for no clipping")
    kl: float = option(0.04, low=0, help="weight of the KL divergence to the reference; 0 for none")
    keep: float = option(
        0.0, low=0, help="spo: weight of the KL divergence of replies in the stage that is not trained"
    )
    norm: str = option(
        "sequence",
        choices=("sum", "sequence", "token"),
        help="of a sample's tokens: their sum (Vision-Zero), their mean (GRPO), or the mean over all tokens",
    )


def policy_loss(
    new: Tensor,
    old: Tensor,
    mask: Tensor,
    advantages: Tensor,
    reference: Tensor | None,
    options: LossOptions,
    kept: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The loss of each sample and its KL divergence to the reference, both summed over its tokens.

    With `norm="sequence"` the loss is divided by the length of the sample. The batch divides by its number of
    samples ("sum", "sequence") or tokens ("token").

    Args:
        new: Log-probabilities of the completion under the policy in training, (samples, tokens).
        old: Those under the policy that drew it.
        mask: 1 for tokens, 0 for padding.
        advantages: One per sample.
        reference: Log-probabilities under the reference; needed where `kl` is not 0.
        options: Weights and norm.
        kept: 1 for samples that are only kept near the reference, with the weight `keep`; none if not given.
    """
    ratio = ((new - old) * mask).exp()
    gain = ratio * advantages[:, None]
    if options.clip:
        clipped = ratio.clamp(1 - options.clip, 1 + options.clip) * advantages[:, None]
        gain = gain.minimum(clipped)
    loss = -gain * mask
    divergence = new.new_zeros(len(new))
    if reference is not None:
        # Schulman's low-variance estimator of KL(policy || reference): never negative, unbiased on-policy.
        gap = (reference - new) * mask
        tokens = (gap.exp() - gap - 1) * mask
        divergence = tokens.sum(1)
        penalty = options.kl * tokens
        if kept is not None:
            # Half the square has the gradient of the KL too. It grows with the gap, not with its exponential:
            # a single token that has become unlikely would hide all others.
            penalty = penalty.where(kept[:, None] == 0, options.keep * gap.square() / 2)
        loss = loss + penalty
    summed = loss.sum(1)
    if options.norm == "sequence":
        summed = summed / mask.sum(1).clamp(min=1)
    return summed, divergence.detach()
