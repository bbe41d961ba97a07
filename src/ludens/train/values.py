"""A value head: what a turn is expected to earn from it on, learnt beside the policy (GAE)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ludens.train import ranks
from ludens.train.policy import Policy, TokenSample
from ludens.train.recipe import AdvantageOptions
from ludens.train.update import each, passes

if TYPE_CHECKING:
    from torch import Tensor


class ValueHead:
    """A linear function of the policy's hidden state at the end of a prompt.

    It only reads that state: no gradient of it reaches the policy. It starts at 0, and is the same on all
    ranks.
    """

    def __init__(self, policy: Policy, options: AdvantageOptions, micro: int, tokens: int = 0) -> None:
        self.policy, self.options, self.micro, self.tokens = policy, options, micro, tokens
        self._head: Any = None
        self._optimizer: Any = None
        self._states: Tensor | None = None
        self._samples: list[TokenSample] = []

    def expect(self, samples: Sequence[TokenSample]) -> None:
        """Set the values of this rank's samples."""
        import torch

        self._samples, states = [], list[Any]()
        for chunk, counts in passes(samples, self.micro, self.policy, self.tokens):
            with torch.no_grad():
                state = self.policy.score(chunk, state=True).state
            assert state is not None
            if counts:
                states.append(state.float())
                self._samples += chunk
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
