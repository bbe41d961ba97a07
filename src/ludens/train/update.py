"""The update: samples with advantages in, changed weights out; the loss, float32 masters, a value head."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import ceil, isfinite
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ludens.core.errors import UsageError
from ludens.train import ranks, sharding
from ludens.train.batches import Array, BatchLimits, each, moved, passes, right_padded
from ludens.train.policy import Policy, TokenSample
from ludens.train.recipe import AdvantageOptions, LossOptions, OptimizerOptions

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter


def _values(samples: Iterable[TokenSample]) -> Array:
    """The log-probabilities of all tokens of all replies, in one row."""
    return np.fromiter(chain.from_iterable(sample.logprobs for sample in samples), np.float64)


def policy_loss(
    new: Tensor,
    old: Tensor,
    mask: Tensor,
    advantages: Tensor,
    reference: Tensor | None,
    options: LossOptions,
    keep: Tensor | None = None,
    entropy: Tensor | None = None,
    weights: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """The loss of each sample and its KL divergence to the reference, both summed over its tokens.

    With `norm="sequence"` the loss is divided by the length of the sample. The batch divides by its number of
    samples ("sum", "sequence") or tokens ("token").

    Args:
        new: Log-probabilities of the completion under the policy in training, (samples, tokens).
        old: Those under the policy that drew it.
        keep: 1 for samples that are only kept near the reference, with the weight `keep`; none if not given.
        entropy: Of the distribution of each token, where it earns a bonus.
        weights: What each token counts, where an earlier policy drew it.
    """
    ratio = ((new - old) * mask).exp()
    gain = ratio * advantages[:, None]
    if options.clip:
        highest = options.clip_high or options.clip
        clipped = ratio.clamp(1 - options.clip, 1 + highest) * advantages[:, None]
        gain = gain.minimum(clipped)
    if weights is not None:
        gain = gain * weights
    loss = -gain * mask
    if entropy is not None:
        trained = 1.0 if keep is None else 1 - keep[:, None]
        loss = loss - options.entropy * entropy * mask * trained
    divergence = new.new_zeros(len(new))
    if reference is not None:
        # Schulman's low-variance estimator (k3) of KL(policy || reference): never negative, unbiased
        # on-policy. What is measured is always this one.
        gap = (reference - new) * mask
        tokens = (gap.exp() - gap - 1) * mask
        divergence = tokens.sum(1)
        # k2 has the gradient of KL(policy || reference), k3 that of KL(reference || policy). k2 grows with
        # the gap, not with its exponential: a single token that has become unlikely does not hide all others.
        square = gap.square() / 2
        penalty = options.kl * (square if options.kl_estimator == "k2" else tokens)
        if keep is not None:
            penalty = penalty.where(keep[:, None] == 0, options.keep * square)
        loss = loss + penalty
    summed = loss.sum(1)
    if options.norm == "sequence":
        summed = summed / mask.sum(1).clamp(min=1)
    return summed, divergence.detach()


class Masters:
    """The parameters of an optimiser: float32 ones themselves, and float32 copies of all others.

    Gradients are added up in float32 too: each is moved to its copy as soon as it was computed.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        import torch
        from torch.nn import Parameter

        self._pairs: list[tuple[Parameter, Parameter]] = []
        self.parameters: list[Parameter] = []
        for parameter in parameters:
            if parameter.dtype == torch.float32:
                self.parameters.append(parameter)
                continue
            master = Parameter(parameter.detach().float())
            self.parameters.append(master)
            self._pairs.append((parameter, master))
            parameter.register_post_accumulate_grad_hook(partial(_collect, master))

    def publish(self) -> None:
        """Round the copies to the weights, after a step of the optimiser."""
        for parameter, master in self._pairs:
            parameter.data.copy_(master.data)

    def state(self) -> list[Tensor]:
        return [master.data for _, master in self._pairs]

    def restore(self, state: Sequence[Tensor]) -> None:
        for (_, master), values in zip(self._pairs, state, strict=True):
            master.data.copy_(values)


def _collect(master: Parameter, computed: Tensor) -> None:
    if computed.grad is None:
        return
    if master.grad is None:
        master.grad = computed.grad.float()
    else:
        master.grad.add_(computed.grad)
    computed.grad = None


_EXPONENT = 50.0
"""Above it, ratios are all the same: far above every limit."""


class Diverged(UsageError):
    """A loss or gradient is not a finite number."""

    def __init__(self, quantity: str) -> None:
        super().__init__(
            f"training has diverged: the {quantity} is not finite; "
            "start again with a lower optimizer.lr, or use the last checkpoint."
        )


class Rehearses(Protocol):
    """Something else to learn at every step."""

    def backward(self, step: int) -> float:
        """Add the gradients of this rank's share; returns the loss of all shares."""


class Updater:
    """Holds the optimiser of a policy."""

    def __init__(
        self,
        policy: Policy,
        options: OptimizerOptions,
        loss: LossOptions,
        steps: int,
        rehearsal: Rehearses | None = None,
    ) -> None:
        import torch

        self.policy, self.options, self.loss, self.steps = policy, options, loss, steps
        self.rehearsal = rehearsal
        self.masters = Masters(policy.parameters())
        self.parameters = self.masters.parameters
        self.optimizer = torch.optim.AdamW(
            self.parameters, lr=options.lr, weight_decay=options.weight_decay, betas=(0.9, 0.99)
        )
        self.step = 0
        self.limits = BatchLimits(options)

    def update(
        self, samples: Sequence[TokenSample], reference: Policy | None, seed: int = 0, staleness: int = 0
    ) -> dict[str, float]:
        """Train on samples drawn from the policy as it was `staleness` updates ago, 0 for as it is now.

        Every rank calls this with its own samples.
        """
        if not self.loss.kl and not self.loss.keep:
            reference = None
        corrected = dict[str, float]()
        if staleness and self.loss.correction:
            corrected = self._correct(samples)
        elif self.options.old == "recomputed":
            self._recompute(samples)
        totals: dict[str, float] = {"loss": 0.0, "kl": 0.0, "tokens": 0.0, "gap": 0.0, "grad": 0.0}
        if not max(ranks.gather(len(samples))):
            return totals | corrected
        steps, rehearsed = self.options.epochs * self.options.minibatches, 0.0
        self.limits.grow()
        self.policy.train(True)
        for epoch in range(self.options.epochs):
            for part in self._minibatches(samples, f"{seed} {epoch}"):
                rehearsed += self._optimise(part, reference, totals)
        self.policy.train(False)
        self._check_finite(samples[:1])
        parts = ranks.gather(totals)
        for name in ("loss", "kl", "tokens"):
            totals[name] = sum(part[name] for part in parts)
        totals["gap"] = max(part["gap"] for part in parts)
        for name in ("loss", "kl", "grad"):
            totals[name] /= steps
        totals["kl"] /= max(1.0, totals["tokens"] / steps)
        if self.rehearsal is not None:
            totals["rehearsal"] = rehearsed / steps
        totals["lr"] = self.options.rate(max(0, self.step - 1), self.steps)
        return totals | corrected

    def state(self) -> dict[str, Any]:
        """Whole tensors, whatever the number of ranks; all ranks call it."""
        optimizer = self.optimizer.state_dict()
        if self.policy.sharded:
            optimizer = sharding.whole_state(optimizer)
        return {"optimizer": optimizer, "masters": self.masters.state()}

    def restore(self, state: dict[str, Any]) -> None:
        optimizer = state["optimizer"]
        if self.policy.sharded:
            optimizer = sharding.shared_state(optimizer, self.parameters)
        self.optimizer.load_state_dict(optimizer)
        self.masters.restore(state["masters"])

    def _minibatches(self, samples: Sequence[TokenSample], seed: str) -> Iterator[list[TokenSample]]:
        """This rank's samples of each minibatch. Which samples share one does not depend on the ranks."""
        rank = ranks.world()[0]
        order = sorted(
            (episode, owner, place)
            for owner, episodes in enumerate(ranks.gather([sample.episode for sample in samples]))
            for place, episode in enumerate(episodes)
        )
        Random(seed).shuffle(order)
        size = ceil(len(order) / self.options.minibatches)
        for number in range(self.options.minibatches):
            part = order[number * size : (number + 1) * size]
            yield [samples[place] for _, owner, place in part if owner == rank]

    def _optimise(
        self, samples: list[TokenSample], reference: Policy | None, totals: dict[str, float]
    ) -> float:
        """One step of the optimiser. Where memory is short it starts again with smaller batches.

        Returns the loss of what is rehearsed. Its gradient is added after clipping: that of play, a sum over
        tokens, may be many times longer.
        """
        import torch

        trained = [sample for sample in samples if not sample.keep]
        weight = sum(len(s.completion_ids) for s in trained) if self.loss.norm == "token" else len(trained)
        count = max(1, sum(ranks.gather(weight)))

        def backward() -> list[list[float]]:
            self.optimizer.zero_grad(set_to_none=True)
            measures: list[Tensor] = []
            for chunk, counts in self.limits.passes(samples, self.policy):
                measures += self._backward(chunk, reference, count, counts)
            # Only now does this process wait for the device: meanwhile it made the next batches.
            return [value.tolist() for value in measures]

        values = self.limits.fit(backward, samples, self.policy)
        for loss, divergence, tokens, gap in values:
            if not isfinite(loss):
                self.optimizer.zero_grad(set_to_none=True)
                raise Diverged("loss")
            totals["loss"] += loss
            totals["kl"] += divergence
            totals["tokens"] += tokens
            totals["gap"] = max(totals["gap"], gap)
        if not self.policy.sharded:
            ranks.sum_gradients(self.parameters)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.options.grad_norm or float("inf"))
        length = float(sharding.whole(norm))
        if not isfinite(length):
            self.optimizer.zero_grad(set_to_none=True)
            raise Diverged("gradient")
        rehearsed = 0.0
        if self.rehearsal is not None:
            if ranks.world()[0]:
                self.optimizer.zero_grad()  # the gradient of play, which all ranks have, counts once
            rehearsed = self.rehearsal.backward(self.step)
            ranks.sum_gradients(self.parameters)
        for group in self.optimizer.param_groups:
            group["lr"] = self.options.rate(self.step, self.steps)
        self.optimizer.step()
        self.masters.publish()
        self.step += 1
        totals["grad"] += length
        return rehearsed

    def _check_finite(self, samples: Sequence[TokenSample]) -> None:
        """Weights may be finite and useless: the next replies could not be drawn from them."""
        import torch

        for chunk, _ in passes(samples, 1, self.policy):
            with torch.no_grad():
                if not bool(self.policy.logprobs(chunk)[0].isfinite().all()):
                    raise Diverged("probability of replies")

    def _backward(
        self,
        chunk: list[TokenSample],
        reference: Policy | None,
        count: int,
        counts: bool = True,
    ) -> list[Tensor]:
        """Add to the gradient. Returns one tensor of loss, divergence, tokens and largest gap of the batch;
        none where it does not count."""
        import torch

        expected = None
        if reference is not None:
            with torch.no_grad():
                expected = reference.logprobs(chunk)[0]
        scores = self.policy.score(chunk, entropy=self.loss.entropy > 0)
        new, mask = scores.logprobs, scores.mask
        old = moved(right_padded([s.logprobs for s in chunk], 0.0), new.device)
        advantages = moved(each(chunk, lambda sample: sample.advantage), new.device)
        keep = moved(each(chunk, lambda sample: float(sample.keep)), new.device)
        weights = None
        if any(sample.weights for sample in chunk):
            rows = [sample.weights or [1.0] * len(sample.completion_ids) for sample in chunk]
            weights = moved(right_padded(rows, 1.0), new.device)
        losses, divergence = policy_loss(
            new, old, mask, advantages, expected, self.loss, keep, scores.entropy, weights
        )
        if not counts:
            torch.autograd.backward(losses.sum() * 0.0)
            return []
        gap = ((new.detach() - old) * mask).abs().max()
        loss = losses.sum() / count
        loss.backward()
        return [torch.stack([loss.detach(), divergence.sum(), mask.sum(), gap])]

    def _correct(self, samples: Sequence[TokenSample]) -> dict[str, float]:
        """Samples of an earlier policy: their ratios count from the policy as it is now, and each token
        counts by how much more likely it has become, up to a limit (truncated importance sampling)."""
        cap, before = self.loss.correction, _values(samples)
        self._recompute(samples)
        ratios = np.exp(np.minimum(_values(samples) - before, _EXPONENT))
        weights = np.minimum(ratios, cap)
        parts = np.split(weights, np.cumsum([len(sample.logprobs) for sample in samples], dtype=np.intp))
        for sample, part in zip(samples, parts, strict=False):  # nothing follows the last one
            sample.weights = part.tolist()
        own = len(weights), float(weights.sum()), int((ratios > cap).sum())
        tokens, total, capped = map(sum, zip(*ranks.gather(own), strict=True))
        return {"weight": total / max(1.0, tokens), "capped": capped / max(1.0, tokens)}

    def _recompute(self, samples: Sequence[TokenSample]) -> None:
        """Replace recorded log-probabilities by those of the training pass."""
        import torch

        def recompute() -> None:
            for chunk, counts in self.limits.passes(samples, self.policy):
                with torch.no_grad():
                    values, _ = self.policy.logprobs(chunk)
                if not counts:
                    continue
                for sample, row in zip(chunk, values.tolist(), strict=True):
                    sample.logprobs = row[: len(sample.completion_ids)]

        self.limits.fit(recompute, samples, self.policy)


class ValueHead:
    """A linear function of the policy's hidden state at the end of a prompt.

    It only reads that state: no gradient of it reaches the policy. It starts at 0, and is the same on all
    ranks.
    """

    def __init__(self, policy: Policy, options: AdvantageOptions, limits: BatchLimits) -> None:
        self.policy, self.options, self.limits = policy, options, limits
        self._head: Any = None
        self._optimizer: Any = None
        self._states: Tensor | None = None
        self._samples: list[TokenSample] = []

    def expect(self, samples: Sequence[TokenSample]) -> None:
        """Set the values of this rank's samples."""
        import torch

        def read() -> tuple[list[TokenSample], list[Tensor]]:
            ordered, states = list[TokenSample](), list[Any]()
            for chunk, counts in self.limits.passes(samples, self.policy):
                with torch.no_grad():
                    state = self.policy.score(chunk, state=True).state
                assert state is not None
                if counts:
                    states.append(state.float())
                    ordered += chunk
            return ordered, states

        self._samples, states = self.limits.fit(read, samples, self.policy)
        self._states = torch.cat(states) if states else None
        widths = {width for width in ranks.gather(states[0].shape[1] if states else 0) if width}
        if not widths:
            return
        if self._head is None:
            self._start(widths.pop())
        if self._states is not None:
            with torch.no_grad():
                values = self._head(self._states)[:, 0].tolist()
            for sample, value in zip(self._samples, values, strict=True):
                sample.value = value

    def learn(self) -> float:
        """Move towards the targets of the samples expected last; returns the loss before."""
        import torch

        count, first = sum(ranks.gather(len(self._samples))), 0.0
        if not count:
            return 0.0
        for epoch in range(self.options.value_epochs):
            self._optimizer.zero_grad(set_to_none=True)
            error = 0.0
            if self._states is not None:
                targets = each(self._samples, lambda sample: sample.target).to(self._states.device)
                loss: Tensor = (self._head(self._states)[:, 0] - targets).square().sum() / count
                torch.autograd.backward(loss)
                error = float(loss.detach())
            ranks.sum_gradients(list(self._head.parameters()))
            self._optimizer.step()
            first = first if epoch else sum(ranks.gather(error))
        return first

    def state(self) -> dict[str, Any]:
        if self._head is None:
            return {}
        return {"head": self._head.state_dict(), "optimizer": self._optimizer.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        if state:
            self._start(state["head"]["weight"].shape[1])
            self._head.load_state_dict(state["head"])
            self._optimizer.load_state_dict(state["optimizer"])

    def _start(self, width: int) -> None:
        import torch

        self._head = torch.nn.Linear(width, 1).to(self.policy.device)
        for parameter in self._head.parameters():
            torch.nn.init.zeros_(parameter)
        self._optimizer = torch.optim.Adam(self._head.parameters(), lr=self.options.value_lr)
