"""A trained model that learns further words."""

from __future__ import annotations

import torch

from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.tokens import Vocabulary


def with_pieces(policy: NanoPolicy, wanted: Vocabulary, seed: int = 0) -> NanoPolicy:
    """The same policy with every piece of another vocabulary; itself where it has all of them.

    Args:
        policy: A trained one.
        wanted: Whose pieces are added, after those that it has.
        seed: Of the weights of new pieces.
    """
    new = [piece for piece in wanted.pieces if piece not in policy.vocabulary.ids]
    if not new:
        return policy
    grown = NanoPolicy(
        policy.size,
        Vocabulary([*policy.vocabulary.pieces, *new]),
        temperature=policy.temperature,
        max_tokens=policy.max_tokens,
        batch=policy.batch,
        seed=seed,
        device=str(policy.device),
    )
    weights = grown.network.state_dict()
    with torch.no_grad():
        for name, known in policy.network.state_dict().items():
            weights[name][: len(known)].copy_(known)
    return grown
