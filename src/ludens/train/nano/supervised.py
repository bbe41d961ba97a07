"""Supervised training of nano on demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from logging import getLogger
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn import Parameter

from ludens.core.errors import BadOption
from ludens.train import ranks
from ludens.train.beside import quick_switches
from ludens.train.checkpoint import Checkpoints
from ludens.train.demonstrations import rehearsed
from ludens.train.nano.changes import PictureDraws, changed
from ludens.train.nano.dataset import PARTS, Array, DeviceData, ImitationData, SampleShape, rounds, uploaded
from ludens.train.nano.inputs import GREY
from ludens.train.nano.network import Network
from ludens.train.nano.policy import NanoPolicy, padding_of
from ludens.train.recipe import OptimizerOptions, Recipe, SupervisedOptions

COEFFICIENTS = (3.4445, -4.775, 2.0315)
STEPS = 5


class Muon(torch.optim.Optimizer):
    """For matrices inside a network; embeddings, heads and convolutions are better off with AdamW.

    The rate is how far every direction moves, whatever the size of its gradient.
    """

    def __init__(
        self, parameters: Iterable[Parameter], lr: float, momentum: float = 0.95, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            matrices = [matrix for matrix in group["params"] if matrix.grad is not None]
            for shape in sorted({matrix.shape for matrix in matrices}):
                self._move([matrix for matrix in matrices if matrix.shape == shape], group)

    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Matrices of one shape move together: few large kernels instead of many small ones."""
        lr, keep = group["lr"], group["momentum"]
        gradients = torch.stack([matrix.grad for matrix in matrices if matrix.grad is not None])
        for matrix in matrices:
            if not self.state[matrix]:
                self.state[matrix]["momentum"] = torch.zeros_like(matrix)
        past = torch.stack([self.state[matrix]["momentum"] for matrix in matrices])
        past.lerp_(gradients, 1 - keep)
        directions = orthogonal(gradients.lerp(past, keep))
        rows, columns = matrices[0].shape
        scale = lr * max(1.0, rows / columns) ** 0.5
        torch._foreach_copy_([self.state[matrix]["momentum"] for matrix in matrices], list(past))
        torch._foreach_mul_(matrices, 1 - lr * group["weight_decay"])
        torch._foreach_add_(matrices, list(directions), alpha=-scale)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices (number, rows, columns) with the same singular vectors, and singular values of about 1.

    By the iteration of Newton and Schulz, with coefficients that let small singular values grow fast and end
    between 0.7 and 1.2.
    """
    a, b, c = COEFFICIENTS
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(STEPS):
        squares = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(squares, squares, squares, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def surprises(
    policy: NanoPolicy, data: DeviceData, rows: Array, options: SupervisedOptions, generator: torch.Generator
) -> Tensor:
    """Of each reply in this rank's share, the mean over its tokens of the negative log-probability.

    Args:
        rows: Numbers of the samples of all ranks, in any order.
        generator: Draws these changes, for the rows of all ranks: they do not depend on the number of ranks.
    """
    everyone = np.concatenate(data.dataset.parts(rows))
    rank, size = ranks.world()
    share = slice(rank, None, size)
    parts = data.dataset.parts(everyone[share])
    if not parts:
        return torch.zeros(0, device=policy.device, requires_grad=True)
    numbers = data.number(np.concatenate(parts))
    pictures = data.pictures[data.picture[numbers]]
    draws = PictureDraws(generator, len(everyone), share)
    pictures = changed(pictures, options, draws, data.steady[numbers])
    sizes = list(map(len, parts))
    each = zip(parts, numbers.split(sizes), policy.see(pictures).split(sizes), strict=True)
    return torch.cat([_surprise(policy, data, *part) for part in each])


def _surprise(policy: NanoPolicy, data: DeviceData, rows: Array, numbers: Tensor, features: Tensor) -> Tensor:
    """The same for rows of similar length; `numbers` are theirs on the device."""
    width, height = int(data.dataset.prompt_lengths[rows].max()), int(data.dataset.reply_lengths[rows].max())
    more = padding_of(width, height)
    ids = torch.cat([data.prompts[numbers, -width:], data.replies[numbers, :height]], 1).long()
    lengths, padding = data.reply_lengths[numbers], more + width - data.prompt_lengths[numbers]
    mask = (torch.arange(height, device=features.device)[None] < lengths[:, None]).float()
    values = policy.values(F.pad(ids, (more, 0)), padding, mask, features)
    return -values.sum(1) / lengths


class Rehearsal:
    """A batch of demonstrations for every step of the optimiser; every rank has a share of it."""

    def __init__(self, recipe: Recipe, policy: NanoPolicy) -> None:
        self.policy, self.options = policy, recipe.supervised
        self.batch, self.weight = recipe.rehearsal.batch, recipe.rehearsal.weight
        self.seed = recipe.run.seed
        shape = SampleShape(policy.size.side, policy.size.longest, policy.max_tokens)
        sources, workers = rehearsed(recipe), self.options.workers
        [dataset] = rounds(sources, policy.vocabulary, shape, workers=workers)
        if not len(dataset):
            raise BadOption(
                "nothing can be rehearsed: replies are longer than max_tokens, or have words that the model "
                "does not know."
            )
        self.data = DeviceData.of(dataset, policy.device)

    def __len__(self) -> int:
        return len(self.data.dataset)

    def backward(self, step: int) -> float:
        """Add the gradients of this rank's share of the batch of this step; returns the loss of the batch."""
        size = min(self.batch, len(self))
        rows = np.random.default_rng([self.seed, step]).permutation(len(self))[:size]
        changes = torch.Generator(self.policy.device).manual_seed(1000 * self.seed + step)
        losses = surprises(self.policy, self.data, rows, self.options, changes)
        loss = losses.sum() / size
        (self.weight * loss).backward()
        return float(sum(ranks.gather(float(loss.detach()))))


log = getLogger("ludens.train")

COMPILED = 17, 16
"""Lengths of a prompt and a reply that need no padding: the network is compiled with them in advance."""
FINE = 100_000
"""Steps of the schedule of the learning rate, whatever the number of updates."""


@dataclass
class NanoImitation:
    """Raises the likelihood of replies, round by round; checkpoints are stored between rounds.

    Args:
        optimizer: Warm-up, schedule and gradient clipping are taken from it.
        report: Told the round, the share of all rounds that is done, and the loss.
    """

    policy: NanoPolicy
    options: SupervisedOptions
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    seed: int = 0
    folder: Path | None = None
    report: Callable[[int, float, float], None] | None = None
    rounds_done: int = 0
    losses: list[float] = field(default_factory=list)
    """Of every step: the mean over replies of the mean over tokens."""
    waited: float = 0.0
    """Seconds spent waiting for data sets, without the first one after a start."""
    digest: str = ""
    """A hash of the data of all rounds so far."""

    def __post_init__(self) -> None:
        self._parameters = self.policy.parameters()
        self._before = 0.0
        self._last: int | None = None
        """The last round, where time ends before all rounds are done."""
        self._at_start = 0.0
        """The progress at the beginning of the round that is learnt."""
        self._began: float | None = None
        self._optimizers = self._make_optimizers()
        self._checkpoints = Checkpoints(self.folder, keep=1) if self.folder is not None else None
        latest = ranks.from_first(self._checkpoints.latest) if self._checkpoints is not None else None
        if latest is not None:
            optimizer, state = Checkpoints.read(latest, self.policy, self.policy.device)
            for name, state_of in optimizer.items():
                self._optimizers[name].load_state_dict(state_of)
            self.rounds_done, self.losses = state["done"], state["losses"]
            self.waited, self._before = state["waited"], state["spent"]
            self.digest = state["digest"]

    def _make_optimizers(self) -> dict[str, torch.optim.Optimizer]:
        options = self.options
        inner = [
            parameter
            for name, parameter in self.policy.network.named_parameters()
            if options.muon and ".blocks." in name and parameter.requires_grad
        ]
        apart = set(map(id, inner))
        rest = [parameter for parameter in self._parameters if id(parameter) not in apart]
        fused = self.policy.device.type == "cuda" or None
        decay = options.weight_decay
        optimizers: dict[str, torch.optim.Optimizer] = {
            "adam": torch.optim.AdamW(rest, options.lr, (0.9, 0.95), weight_decay=decay, fused=fused)
        }
        if inner:
            optimizers["muon"] = Muon(inner, options.muon, weight_decay=decay)
        return optimizers

    @property
    def spent(self) -> float:
        """Seconds since the first data set was ready."""
        return self._before + (perf_counter() - self._began if self._began is not None else 0.0)

    def remaining_rounds(self) -> Iterator[int]:
        """The rounds that are not done yet. Each is asked for while one before it is learnt; with a limit of
        time, only if half of it is likely to fit."""
        for number in range(self.rounds_done, self.options.rounds):
            if self.options.minutes and self.rounds_done:
                per_round = self.spent / self.rounds_done
                if self.spent + (number - self.rounds_done + 0.5) * per_round > 60 * self.options.minutes:
                    self._last = number - 1
                    return
            yield number

    def progress(self, number: int, share: float) -> float:
        """How much is done after this share of a round, by rounds or by time, without further passes."""
        share = min(1.0, share)
        if number == self._last:
            return self._at_start + (1 - self._at_start) * share
        return self._so_far(number + share)

    def _so_far(self, rounds: float) -> float:
        limit = 60 * self.options.minutes
        return min(1.0, max(rounds / self.options.rounds, self.spent / limit if limit else 0.0))

    def run(self, datasets: Iterable[ImitationData]) -> None:
        # Another thread puts the next round together: without quick switches, kernels wait for it.
        with compiled(self.policy.network) if self.options.compile else nullcontext(), quick_switches():
            self._run(datasets)

    def _run(self, datasets: Iterable[ImitationData]) -> None:
        self.policy.train(True)
        began = perf_counter()
        meanwhile = self._compile if self.options.compile else None
        for data, ready in uploaded(datasets, self.policy.device, meanwhile):
            number, dataset = self.rounds_done, data.dataset
            if self._began is None:
                self._began = perf_counter()
            else:
                self.waited += perf_counter() - began
            if dataset.left_out:
                log.warning(
                    "round %d: %d replies are left out: they are longer than max_tokens, or have words that "
                    "the model does not know",
                    number + 1,
                    dataset.left_out,
                )
            self.digest = sha256(f"{self.digest} {dataset.digest}".encode()).hexdigest()
            self._round(number, data, ready)
            del data, dataset
            self.rounds_done = number + 1
            self._store()
            began = perf_counter()
        self.policy.train(False)

    def _compile(self) -> None:
        """Passes over blank pictures, without an update: the network is compiled when data arrives."""
        device, rows = self.policy.device, -(-self.options.batch // ranks.world()[1])
        blank = torch.full((rows, 3, *[self.policy.size.side] * 2), GREY, dtype=torch.uint8, device=device)
        prompt, reply = COMPILED
        if prompt + reply > self.policy.size.longest:
            return
        values = list[Tensor]()
        for part in self.policy.see(blank).tensor_split(PARTS):
            ids = torch.full((len(part), prompt + reply), self.policy.vocabulary.end, device=device)
            padding = torch.zeros(len(part), dtype=torch.int32, device=device)
            mask = torch.ones(len(part), reply, device=device)
            values.append(self.policy.values(ids, padding, mask, part))
        torch.cat(values).sum().backward()
        for parameter in self._parameters:
            parameter.grad = None

    def _round(self, number: int, data: DeviceData, ready: Callable[[], bool]) -> None:
        jitter = torch.Generator(self.policy.device).manual_seed(1000 * self.seed + number)
        steps = self.options.epochs * max(1, len(data.dataset) // self.options.batch)
        losses: list[Tensor] = []
        self._at_start = self._so_far(number)
        for rows in self._batches(number, data.dataset, ready):
            progress = self.progress(number, len(losses) / steps)
            losses.append(self._step(data, rows, jitter, progress))
            if self.report is not None and len(losses) % max(1, steps // 4) == 0:
                loss = sum(ranks.gather(float(losses[-1])))
                self.report(number, self.progress(number, len(losses) / steps), loss)
        shares = ranks.gather(torch.stack(losses).tolist() if losses else [])
        self.losses += map(sum, zip(*shares, strict=True))

    def _batches(self, number: int, dataset: ImitationData, ready: Callable[[], bool]) -> Iterator[Array]:
        """As many passes as the options say; where time is limited, none of it is spent waiting: passes go on
        until the next data set is ready."""
        for epoch in count():
            further = epoch >= self.options.epochs
            if further and not (self.options.minutes and len(dataset)):
                return
            for rows in dataset.batches(self.options.batch, f"{self.seed} {number} {epoch}"):
                if further and ready():
                    return
                yield rows

    def _step(self, data: DeviceData, rows: Array, jitter: torch.Generator, progress: float) -> Tensor:
        """One update; every rank learns from its share of the rows. Returns the loss of that share."""
        loss = surprises(self.policy, data, rows, self.options, jitter).sum() / len(rows)
        for optimizer in self._optimizers.values():
            optimizer.zero_grad(set_to_none=True)
        loss.backward()
        ranks.sum_gradients(self._parameters)
        torch.nn.utils.clip_grad_norm_(self._parameters, self.optimizer.grad_norm or float("inf"))
        rate = self.optimizer.rate(int(progress * FINE), FINE) / (self.optimizer.lr or 1.0)
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = rate * optimizer.defaults["lr"]
            optimizer.step()
        return loss.detach()

    def _store(self) -> None:
        due = self.rounds_done % self.options.checkpoint == 0 and self.rounds_done < self.options.rounds
        if self._checkpoints is None or not due:
            return
        ranks.check_equal(self._parameters)
        if ranks.world()[0] == 0:
            state = {
                "done": self.rounds_done,
                "losses": self.losses,
                "waited": self.waited,
                "spent": self.spent,
                "digest": self.digest,
            }
            optimizers = {name: one.state_dict() for name, one in self._optimizers.items()}
            self._checkpoints.write(self.rounds_done, self.policy, None, optimizers, state)


@contextmanager
def compiled(network: Network) -> Iterator[None]:
    """Compile encoder and decoder inside this context, once for texts of any length."""
    encoder, decoder = network.encoder, network.decoder
    encoder.forward = torch.compile(encoder.forward)  # type: ignore[method-assign]
    decoder.forward = torch.compile(decoder.forward, dynamic=True)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del encoder.forward, decoder.forward
