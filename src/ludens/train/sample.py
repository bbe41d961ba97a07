"""What a policy said, as training needs it: exact tokens, pictures, role, stage, reward and advantage."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ludens.core.episode import Episode
from ludens.core.view import Picture


@dataclass(slots=True)
class Sample:
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
    readable: bool = True
    """Whether the reply was accepted; if not, the move earned `reward` all the same."""
    seed: int = 0
    episode: int = 0
    """The number of the episode among those of all ranks."""
    reward: float = 0.0
    group: Hashable = None
    """Samples of one group are compared with one another (GRPO)."""
    advantage: float = 0.0
    kept: bool = False
    """Whether it is not trained on, but only kept near the reference."""


@dataclass(slots=True)
class Trajectory:
    """One episode and the learner's samples in it."""

    episode: Episode
    number: int = 0
    """Its place among the episodes of all ranks."""
    samples: list[Sample] = field(default_factory=list)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Seat to role, of the learner's seats."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """The game's own measures of the episode."""

    @property
    def seats(self) -> tuple[str, ...]:
        """The learner's seats."""
        return tuple(self.roles)
