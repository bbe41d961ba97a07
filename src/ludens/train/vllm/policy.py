"""A transformers policy whose replies are drawn by a vLLM server; it is trained in this process."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from ludens.core.agent import Agent, Ask
from ludens.core.errors import UsageError
from ludens.models.chat import Request
from ludens.models.generation import end_tokens, placeholders
from ludens.models.settings import NetworkSettings, find_key
from ludens.train import ranks
from ludens.train.batch import chunks, right_padded
from ludens.train.policy import Player, Policy
from ludens.train.recipe import ServerOptions
from ludens.train.sample import Sample
from ludens.train.transformers_policy import TransformersPolicy
from ludens.train.vllm.model import NAME, VllmModel
from ludens.train.vllm.server import VllmServer

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter

KEY = "VLLM_API_KEY"


class VllmPolicy(Policy):
    """Draws with a server, computes and learns with a policy in this process. Frozen copies stay in it.

    Args:
        local: The policy in training.
        options: The server.
        folder: Where weights are written for the server, where the options name no other place.
        concurrency: Most requests in flight.
    """

    def __init__(
        self, local: TransformersPolicy, options: ServerOptions, folder: Path, concurrency: int
    ) -> None:
        self.local, self.options = local, options
        self.folder = (Path(options.folder) if options.folder else folder).absolute()
        self.stale = True
        """Whether the weights may have changed since the server got them."""
        secret = find_key(f"vllm/{NAME}", NetworkSettings(), KEY, needed=False)
        self.server = VllmServer(options.url, options.timeout, secret)
        self.model = VllmModel(
            options,
            local.options,
            local.processor,
            end_tokens(local.base),
            placeholders(local.base),
            secret,
            self.server.root,
            concurrency,
        )
        # Names of a run that was stopped may still be known to the server.
        self._names, self._pushes, self._pushed = token_hex(4), 0, ""

    def agent(self, *, blind: bool = False) -> Agent:
        return _Player(self.model, replace(self.local.prompt, blind=blind), policy=self)

    async def publish(self) -> None:
        if not self.stale:
            return
        names = ("", "")
        if ranks.world()[0] == 0:
            names = await self._push()
        self.model.serve(*ranks.gather(names)[0])
        self.stale = False

    async def _push(self) -> tuple[str, str]:
        """Write the weights and have the server load them; their name at the server, and their version."""
        self._pushes += 1
        version, lora = f"ludens-{self._names}-{self._pushes:06d}", self.local.options.lora
        path = self.folder / version
        try:
            path.mkdir(parents=True)
            if lora:
                self.local.model.save_pretrained(path, selected_adapters=["default"])
            else:
                self.local.model.save_pretrained(path)
        except (OSError, RuntimeError) as error:
            shutil.rmtree(path, ignore_errors=True)
            reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
            raise UsageError(
                f"the weights for the vLLM server cannot be written to {path}: {reason}."
            ) from None
        try:
            if lora:
                await self.server.load_adapter(version, path, lora)
            else:
                await self.server.reload(path, vision=not self.local.options.freeze_vision)
            name = version if lora else await self.server.base_model()
        except UsageError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        if self._pushed:
            if lora:
                await self.server.unload_adapter(self._pushed)
            shutil.rmtree(self.folder / self._pushed, ignore_errors=True)
        self._pushed = version
        return name, version

    def verify(self, samples: Sequence[Sample]) -> None:
        step = max(1, len(samples) // self.options.check)
        gap = self.gap(samples[::step][: self.options.check])
        if not gap <= self.options.gap:
            raise UsageError(
                f"the log-probabilities of the vLLM server differ by {gap:.2f} per token from those of the "
                f"model in training, more than server.gap = {self.options.gap:g}: it must serve the model in "
                f"[model], or that of its supervised training, with --logprobs-mode processed_logprobs."
            )

    def gap(self, samples: Sequence[Sample]) -> float:
        """The mean difference per token between drawn and recomputed log-probabilities."""
        import torch

        total = tokens = 0.0
        for chunk in chunks(samples, 8):
            with torch.no_grad():
                new, mask = self.local.logprobs(chunk)
            old = right_padded([s.logprobs for s in chunk], 0.0).to(new.device)
            total += float(((new - old).abs() * mask).sum())
            tokens += float(mask.sum())
        return total / tokens if tokens else 0.0

    def reseed(self, *names: int) -> None:
        super().reseed(*names)
        self.local.reseed(*names)

    def parameters(self) -> list[Parameter]:
        return self.local.parameters()

    def logprobs(self, samples: Sequence[Sample]) -> tuple[Tensor, Tensor]:
        return self.local.logprobs(samples)

    def frozen(self) -> Policy:
        return self.local.frozen()

    def train(self, training: bool) -> None:
        self.stale |= training
        self.local.train(training)

    def save(self, folder: Path) -> None:
        self.local.save(folder)

    def load(self, folder: Path) -> None:
        self.stale = True
        self.local.load(folder)


@dataclass
class _Player(Player):
    """Asks only a server that has the weights of the policy."""

    def request(self, ask: Ask) -> Request:
        assert isinstance(self.policy, VllmPolicy)
        if self.policy.stale:
            raise RuntimeError(
                "the server has other weights: `publish` must be called before games are played."
            )
        return super().request(ask)
