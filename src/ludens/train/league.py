"""Who plays the other seats: the learner itself, frozen copies, checkpoints, bots, other models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.errors import BadOption
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.train.policy import Policy
from ludens.train.recipe import Opponents
from ludens.train.rollout import LEARNER, Job

FROZEN, PREVIOUS, CHECKPOINT = "frozen", "previous", "checkpoint:"


class League:
    """Draws an arrangement of players for each seed.

    `frozen` is the policy as it was when training started, `previous` the policy of the last checkpoint.
    """

    def __init__(self, game: Game, policy: Policy, opponents: Sequence[Opponents], seed: int) -> None:
        self.game, self.policy, self.opponents, self.seed = game, policy, opponents, seed
        self.names = sorted({name for o in opponents for name in o.players.values()} - {LEARNER})
        self.agents: dict[str, Agent] = {}
        self._frozen: dict[str, Policy] = {}
        self._check_roles()
        for name in self.names:
            if name in (FROZEN, PREVIOUS):
                self._freeze(name)
            elif name.startswith(CHECKPOINT):
                earlier = policy.frozen()
                folder = Path(name.removeprefix(CHECKPOINT))
                if not folder.is_dir():
                    raise BadOption(f"the recipe's opponent {name!r}: {folder} is not a folder.")
                earlier.load(folder)
                self._frozen[name] = earlier
                self.agents[name] = earlier.agent()
            else:
                self.agents[name] = agent(name, game)

    def _check_roles(self) -> None:
        state = self.game.start(0)
        known = {*self.game.seats, *(state.role(seat) for seat in self.game.seats)}
        for arrangement in self.opponents:
            for where in arrangement.players:
                if where not in known:
                    raise BadOption(
                        f"the recipe's [[opponents]] name {where!r}, but {self.game.name} has the seats and "
                        f"roles {', '.join(sorted(filter(None, known)))}."
                    )

    def _freeze(self, name: str) -> None:
        self._frozen[name] = self.policy.frozen()
        self.agents[name] = self._frozen[name].agent()

    def checkpointed(self) -> None:
        """The policy has been saved: it becomes `previous`."""
        if PREVIOUS in self.names:
            self._freeze(PREVIOUS)

    def job(self, seed: int, sample: int) -> Job:
        """An episode of this seed; all samples of a seed have the same players."""
        if not self.opponents:
            return Job(seed, sample)
        weights = [o.weight for o in self.opponents]
        arrangement = stream(self.seed, "opponents", seed).weighted(self.opponents, weights)
        return Job(seed, sample, arrangement.players)

    async def close(self) -> None:
        """Release connections and threads."""
        for player in self.agents.values():
            await player.close()
