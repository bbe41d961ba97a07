"""Roles with weights of their own: one small policy for each role of a game, behind one interface.

What a role learns does not change the others. Which policy replies is told by the first words of the prompt,
which name game and role.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ludens.core.game import Game
from ludens.models.chat import Tokens as TokenRecord
from ludens.train.nano.inputs import NanoQuestion
from ludens.train.nano.model import LivePolicy, Sampler
from ludens.train.nano.weights import ROLES, read_roles, write_roles
from ludens.train.policy import Scores, TokenSample

if TYPE_CHECKING:
    from torch.nn import Parameter

    from ludens.train.nano.policy import NanoPolicy

S = TypeVar("S", bound=Sampler)


def roles_of(game: Game) -> tuple[str, ...]:
    """The roles of a game, or its seats where it has none."""
    state = game.start(0)
    return tuple(sorted({state.role(seat) or seat for seat in game.seats}))


class RoleSampler(Generic[S]):
    """Draws each reply with the sampler of the role that the prompt names, and others with the first one."""

    def __init__(self, game: str, samplers: Mapping[str, S]) -> None:
        self.game, self.samplers = game, dict(samplers)
        first = self.first
        self.vocabulary, self.batch, self.prompts = first.vocabulary, first.batch, first.prompts
        heads = {role: first.encode(f"{game} {role}") for role in self.samplers}
        # The longest first: the name of a role may begin with that of another.
        self._heads = dict(sorted(heads.items(), key=lambda item: -len(item[1])))

    @property
    def first(self) -> S:
        return next(iter(self.samplers.values()))

    def encode(self, prompt: str) -> list[int]:
        return self.first.encode(prompt)

    def role(self, prompt: Sequence[int]) -> str:
        for role, head in self._heads.items():
            if list(prompt[: len(head)]) == head:
                return role
        return next(iter(self.samplers))

    def shares(self, prompts: Sequence[Sequence[int]]) -> dict[str, list[int]]:
        """Role to the places of its prompts."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, prompt in enumerate(prompts):
            places[self.role(prompt)].append(place)
        return dict(sorted(places.items()))

    def sample(self, questions: Sequence[NanoQuestion]) -> list[TokenRecord]:
        records: dict[int, TokenRecord] = {}
        for role, places in self.shares([question.prompt for question in questions]).items():
            own = [questions[place] for place in places]
            records |= zip(places, self.samplers[role].sample(own), strict=True)
        return [records[place] for place in range(len(questions))]


class RolePolicy(RoleSampler["NanoPolicy"], LivePolicy):
    """A policy for each role, trained together: all start with the weights of one."""

    @staticmethod
    def split(policy: NanoPolicy, game: Game) -> RolePolicy:
        """Copies of a policy for the roles of a game."""
        copies = {role: policy.frozen() for role in roles_of(game)}
        for policy_copy in copies.values():
            policy_copy.network.requires_grad_(True)
        return RolePolicy(game.name, copies)

    @staticmethod
    def read(folder: Path, **settings: Any) -> RolePolicy:
        from ludens.train.nano.policy import NanoPolicy

        game, roles = read_roles(folder)
        return RolePolicy(game, {role: NanoPolicy.read(folder / role, **settings) for role in roles})

    @property
    def device(self) -> Any:
        return self.first.device

    @property
    def max_tokens(self) -> int:
        return self.first.max_tokens

    @property
    def longest_reply(self) -> int:
        return self.first.longest_reply

    @longest_reply.setter
    def longest_reply(self, tokens: int) -> None:
        for policy in self.samplers.values():
            policy.longest_reply = tokens

    def parameters(self) -> list[Parameter]:
        return [weight for policy in self.samplers.values() for weight in policy.parameters()]

    def train(self, training: bool) -> None:
        for policy in self.samplers.values():
            policy.train(training)

    def score(self, samples: Sequence[TokenSample], *, entropy: bool = False, state: bool = False) -> Scores:
        import torch

        parts, order = list[Scores](), list[int]()
        for role, places in self.shares([sample.prompt_ids for sample in samples]).items():
            own = [samples[place] for place in places]
            parts.append(self.samplers[role].score(own, entropy=entropy, state=state))
            order += places
        longest = max(part.mask.shape[1] for part in parts)
        back = torch.tensor(order, device=self.device).argsort()

        def joined(name: str, pad: bool = True) -> Any:
            tensors = [getattr(part, name) for part in parts]
            if tensors[0] is None:
                return None
            if pad:
                tensors = [torch.nn.functional.pad(t, (0, longest - t.shape[1])) for t in tensors]
            return torch.cat(tensors)[back]

        return Scores(joined("logprobs"), joined("mask"), joined("entropy"), joined("state", pad=False))

    def frozen(self) -> RolePolicy:
        twin = self._twin()
        twin.samplers = {role: policy.frozen() for role, policy in self.samplers.items()}
        return twin

    def save(self, folder: Path) -> None:
        for role, policy in self.samplers.items():
            (folder / role).mkdir(exist_ok=True)
            policy.save(folder / role)
        write_roles(folder, self.game, self.samplers)

    def load(self, folder: Path) -> None:
        """From the folder of such a model, or of one that has the same weights for all roles."""
        split = (folder / ROLES).is_file()
        for role, policy in self.samplers.items():
            policy.load(folder / role if split else folder)
