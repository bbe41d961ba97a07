"""The interface between the training loop and a model: policies, and samples with exact tokens."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludens.agents.vlm import Vlm
from ludens.core.agent import Agent, Ask
from ludens.core.episode import Episode
from ludens.core.errors import UsageError
from ludens.core.game import DecisionScore
from ludens.core.random import stream
from ludens.core.view import Picture
from ludens.models.chat import Request, Sampling

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Parameter


@dataclass(slots=True)
class TokenSample:
    """One reply of the learner.

    The ids are those that were fed and drawn: text is never tokenised again, because that can change them.
    """

    prompt_ids: list[int]
    """Without padding; pictures are placeholders."""
    completion_ids: list[int]
    """With the end token, where one was drawn."""
    logprobs: list[float]
    """Of the completion, under the distribution from which it was drawn."""
    pictures: Sequence[Picture] = ()
    temperature: float = 1.0
    suppressed: tuple[int, ...] = ()
    seat: str = ""
    role: str = ""
    """Its seat where the game has no roles."""
    stage: str = ""
    step: int = 0
    attempt: int = 0
    """0 for the first reply to a question, 1 for the first retry, and so on."""
    truncated: bool = False
    """Whether it ended because it had the most tokens that are allowed."""
    readable: bool = True
    """Whether the reply was accepted; if not, the move earned `reward` all the same."""
    seed: int = 0
    episode: int = 0
    """The number of the episode among those of all ranks."""
    reward: float = 0.0
    group: Hashable = None
    """Samples of one group are compared with one another (GRPO)."""
    advantage: float = 0.0
    value: float = 0.0
    """The expected return from this turn on, by the value head (GAE)."""
    target: float = 0.0
    """The value that the value head learns."""
    weights: list[float] = field(default_factory=list)
    """The weight of each token, if an earlier policy drew it; empty for 1 each."""
    explored: bool = False
    """Whether its choice was drawn evenly, whatever the policy prefers."""
    keep: bool = False
    """Whether it is not trained on, but only kept near the reference."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Thousands come from the processes that play: set one by one, the fields took twice as long.
        return TokenSample, tuple(getattr(self, name) for name in self.__slots__)


@dataclass(slots=True)
class Trajectory:
    """One episode and the learner's samples in it."""

    episode: Episode
    number: int = 0
    """Its place among the episodes of all ranks."""
    samples: list[TokenSample] = field(default_factory=list)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Seat to role, of the learner's seats."""
    measures: Mapping[str, float] = field(default_factory=dict)
    decision: DecisionScore = field(default_factory=DecisionScore)

    @property
    def seats(self) -> tuple[str, ...]:
        return tuple(self.roles)


@dataclass
class Scores:
    """Results of a forward pass for the completions of samples: (samples, longest completion) each."""

    logprobs: Tensor
    """Of the tokens drawn, under the distribution from which they were drawn; 0 where the mask is."""
    mask: Tensor
    entropy: Tensor | None = None
    """Of that distribution, where it was asked for."""
    state: Tensor | None = None
    """The hidden state at the end of each prompt, (samples, width), where it was asked for."""


class Policy(ABC):
    """A model in training, or a frozen copy of one. The loop knows nothing else about it."""

    seeds: tuple[int, ...] = ()
    sharded = False
    """Whether the weights are shared out among ranks: all must make the same number of forward passes."""

    @property
    @abstractmethod
    def device(self) -> Any:
        """Where it computes."""

    @abstractmethod
    def agent(self, *, blind: bool = False) -> Agent:
        """A player of many games at once, whose replies hold their tokens; `blind` shows it flat pictures."""

    def explorer(self, share: float) -> Agent:
        """The same, of whose choices a share are drawn evenly from the legal ones."""
        raise UsageError("this model cannot explore.")

    async def publish(self) -> None:
        """Let the weights as they are now play. All ranks call it after changes, before games are played."""

    def verify(self, samples: Sequence[TokenSample]) -> None:
        """Check that samples, drawn since the last `publish`, are of this policy. Raises `UsageError`."""

    @abstractmethod
    def parameters(self) -> list[Parameter]:
        """The trained parameters."""

    @abstractmethod
    def score(self, samples: Sequence[TokenSample], *, entropy: bool = False, state: bool = False) -> Scores:
        """Log-probabilities of the completions, on exactly their ids, and what else is asked for.

        Gradients flow to the parameters unless the policy is frozen or gradients are off.
        """

    def logprobs(self, samples: Sequence[TokenSample]) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the completions, and their mask."""
        scores = self.score(samples)
        return scores.logprobs, scores.mask

    def shard(self) -> None:
        """Share the weights out among ranks. All ranks call it, once, with equal weights."""
        raise UsageError("this model cannot be shared out among processes.")

    @contextmanager
    def unsharded(self) -> Iterator[None]:
        """Hold all weights on every rank, so that each plays without the others; all ranks call it."""
        yield

    def whole(self) -> Policy:
        """The policy with all weights in this process, to be saved by the first rank; all ranks call it."""
        return self

    @abstractmethod
    def frozen(self) -> Policy:
        """A copy that stays as it is now; large weights that never change may be shared."""

    def ahead(self) -> Policy:
        """A copy that plays as this one does now while this one is updated, until it is released."""
        return self.frozen()

    def release(self) -> None:
        """Free the memory of a frozen copy, which is not used after that."""

    def reseed(self, *names: int) -> None:
        """From now on, draw from seeds that depend only on these numbers, the episode and the seat."""
        self.seeds = names

    @abstractmethod
    def train(self, training: bool) -> None:
        """Switch dropout and similar on or off."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything needed to play: weights, tokenizer, settings."""

    @abstractmethod
    def load(self, folder: Path) -> None: ...

    def count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


@dataclass
class Player(Vlm):
    """Sends a seed with every request: that of the episode, the seat and the number of the request.

    So the same episodes are played whatever batch or process they are played in.
    """

    policy: Policy = field(kw_only=True)

    def request(self, ask: Ask) -> Request:
        seed = stream(self.random.bits(), "policy", *self.policy.seeds).below(2**62)
        return replace(super().request(ask), sampling=Sampling(seed=seed))
