"""Supervised training of a small model on demonstrations."""

from __future__ import annotations

from collections.abc import Callable

import torch

from ludens.train import ranks
from ludens.train.nano.dataset import Dataset
from ludens.train.nano.policy import NanoPolicy
from ludens.train.recipe import DemonstrationOptions
from ludens.train.update import OptimizerOptions


def imitate(
    policy: NanoPolicy,
    dataset: Dataset,
    options: DemonstrationOptions,
    optimizer: OptimizerOptions,
    seed: int = 0,
    report: Callable[[int, int, float], None] | None = None,
) -> list[float]:
    """Raise the likelihood of the replies, in place; returns the loss of every step (mean over tokens)."""
    rank, size = ranks.world()
    parameters = policy.parameters()
    adam = torch.optim.AdamW(
        parameters, lr=options.lr, weight_decay=optimizer.weight_decay, betas=(0.9, 0.99)
    )
    steps = options.epochs * -(-len(dataset) // options.batch)
    pictures = torch.from_numpy(dataset.pictures).to(policy.device)
    losses: list[float] = []
    policy.train(True)
    for epoch in range(options.epochs):
        for rows in dataset.batches(options.batch, f"{seed} {epoch}"):
            own = rows[rank::size]
            count = max(1, int(dataset.reply_lengths[rows].sum()))
            width, height = int(dataset.prompt_lengths[rows].max()), int(dataset.reply_lengths[rows].max())
            prompts = torch.from_numpy(dataset.prompts[own][:, -width:].astype("int64"))
            replies = torch.from_numpy(dataset.replies[own][:, :height].astype("int64"))
            padding = width - torch.from_numpy(dataset.prompt_lengths[own].astype("int64"))
            lengths = torch.from_numpy(dataset.reply_lengths[own].astype("int64"))
            mask = (torch.arange(height)[None] < lengths[:, None]).float()
            shown = pictures[torch.from_numpy(dataset.picture[own]).to(policy.device)]
            values = policy.values(
                torch.cat([prompts, replies], 1).to(policy.device),
                padding.to(policy.device),
                mask.to(policy.device),
                shown,
            )
            loss = -values.sum() / count
            adam.zero_grad(set_to_none=True)
            loss.backward()
            ranks.sum_gradients(parameters)
            torch.nn.utils.clip_grad_norm_(parameters, optimizer.grad_norm or float("inf"))
            for group in adam.param_groups:
                group["lr"] = optimizer.rate(len(losses), steps) / (optimizer.lr or 1.0) * options.lr
            adam.step()
            losses.append(loss.detach())
            if report is not None and len(losses) % max(1, steps // 20) == 0:
                report(len(losses), steps, float(losses[-1]))
    policy.train(False)
    return [float(loss) for loss in losses]
