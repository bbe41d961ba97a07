"""Supervised training of nano on demonstrations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from logging import getLogger
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from ludens.train import ranks
from ludens.train.checkpoint import Checkpoints
from ludens.train.nano.dataset import PARTS, Array, Dataset
from ludens.train.nano.muon import Muon
from ludens.train.nano.network import Network
from ludens.train.nano.pictures import GREY
from ludens.train.nano.policy import NanoPolicy
from ludens.train.nano.surprise import surprises
from ludens.train.nano.uploaded import Uploaded, uploaded
from ludens.train.recipe import SupervisedOptions
from ludens.train.update import OptimizerOptions

log = getLogger("ludens.train")

COMPILED = 17, 16
"""Lengths of a prompt and a reply that need no padding: the network is compiled with them in advance."""
FINE = 100_000
"""Steps of the schedule of the learning rate, whatever the number of updates."""


@dataclass
class Imitation:
    """Raises the likelihood of replies, round by round; what was learnt survives between rounds.

    Args:
        policy: What is trained, in place.
        options: Of the recipe.
        optimizer: Warm-up, schedule and gradient clipping are taken from it.
        seed: Of the order.
        folder: Where checkpoints go, if anywhere.
        report: Told the round, the share of all rounds that is done, and the loss.
    """

    policy: NanoPolicy
    options: SupervisedOptions
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    seed: int = 0
    folder: Path | None = None
    report: Callable[[int, float, float], None] | None = None
    done: int = 0
    """Finished rounds."""
    losses: list[float] = field(default_factory=list)
    """Of every step: the mean over replies of the mean over tokens."""
    waited: float = 0.0
    """Seconds spent waiting for data sets, without the first one after a start."""

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
            self.done, self.losses = state["done"], state["losses"]
            self.waited, self._before = state["waited"], state["spent"]

    def _make_optimizers(self) -> dict[str, torch.optim.Optimizer]:
        """AdamW, and Muon for the matrices of layers where the options say so."""
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
        made: dict[str, torch.optim.Optimizer] = {
            "adam": torch.optim.AdamW(rest, options.lr, (0.9, 0.95), weight_decay=decay, fused=fused)
        }
        if inner:
            made["muon"] = Muon(inner, options.muon, weight_decay=decay)
        return made

    @property
    def spent(self) -> float:
        """Seconds since the first data set was there."""
        return self._before + (perf_counter() - self._began if self._began is not None else 0.0)

    def left(self) -> Iterator[int]:
        """The rounds that are not done yet. Each is asked for while one before it is learnt; with a limit of
        time, only if half of it is likely to fit."""
        for number in range(self.done, self.options.rounds):
            if self.options.minutes and self.done:
                one = self.spent / self.done
                if self.spent + (number - self.done + 0.5) * one > 60 * self.options.minutes:
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

    def run(self, datasets: Iterable[Dataset]) -> None:
        """Learn from the data sets of the rounds that are left."""
        with compiled(self.policy.network) if self.options.compile else nullcontext():
            self._run(datasets)

    def _run(self, datasets: Iterable[Dataset]) -> None:
        self.policy.train(True)
        began = perf_counter()
        meanwhile = self._compile if self.options.compile else None
        for dataset, there, ready in uploaded(datasets, self.policy.device, meanwhile):
            number = self.done
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
            self._round(number, dataset, there, ready)
            del dataset, there
            self.done = number + 1
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

    def _round(self, number: int, dataset: Dataset, there: Uploaded, ready: Callable[[], bool]) -> None:
        jitter = torch.Generator(self.policy.device).manual_seed(1000 * self.seed + number)
        steps = self.options.epochs * max(1, len(dataset) // self.options.batch)
        losses: list[Tensor] = []
        self._at_start = self._so_far(number)
        for rows in self._batches(number, dataset, ready):
            progress = self.progress(number, len(losses) / steps)
            losses.append(self._step(dataset, rows, there, jitter, progress))
            if self.report is not None and len(losses) % max(1, steps // 4) == 0:
                loss = sum(ranks.gather(float(losses[-1])))
                self.report(number, self.progress(number, len(losses) / steps), loss)
        shares = ranks.gather(torch.stack(losses).tolist() if losses else [])
        self.losses += map(sum, zip(*shares, strict=True))

    def _batches(self, number: int, dataset: Dataset, ready: Callable[[], bool]) -> Iterator[Array]:
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

    def _step(
        self, dataset: Dataset, rows: Array, there: Uploaded, jitter: torch.Generator, progress: float
    ) -> Tensor:
        """One update; every rank learns from its share of the rows. Returns the loss of that share."""
        loss = surprises(self.policy, dataset, there, rows, self.options, jitter).sum() / len(rows)
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
        due = self.done % self.options.checkpoint == 0 and self.done < self.options.rounds
        if self._checkpoints is None or not due:
            return
        ranks.check_equal(self._parameters)
        if ranks.world()[0] == 0:
            state = {
                "done": self.done,
                "losses": self.losses,
                "waited": self.waited,
                "spent": self.spent,
            }
            optimizers = {name: one.state_dict() for name, one in self._optimizers.items()}
            self._checkpoints.write(self.done, self.policy, None, optimizers, state)


@contextmanager
def compiled(network: Network) -> Iterator[None]:
    """Encoder and decoder are compiled meanwhile, once for texts of any length."""
    encoder, decoder = network.encoder, network.decoder
    encoder.forward = torch.compile(encoder.forward)  # type: ignore[method-assign]
    decoder.forward = torch.compile(decoder.forward, dynamic=True)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del encoder.forward, decoder.forward
