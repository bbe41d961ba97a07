"""Who plays the other seats: the learner itself, frozen copies, checkpoints, bots, other models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ludens.agents import agent
from ludens.core.agent import Agent
from ludens.core.errors import BadOption, UnknownName
from ludens.core.game import Game
from ludens.core.random import stream
from ludens.train.policy import Policy
from ludens.train.recipe import Opponents
from ludens.train.rollout import LEARNER, Job

FROZEN, PREVIOUS, CHECKPOINT = "frozen", "previous", "checkpoint:"


class League:
    """Draws an arrangement of players for each seed.

    `frozen` is the policy as it was when training started, `previous` the policy of the last checkpoint.

    Args:
        game: The game.
        policy: The learner.
        opponents: Arrangements of players.
        seed: Of the draw.
        others: Further players, for evaluations.
    """

    def __init__(
        self,
        game: Game,
        policy: Policy,
        opponents: Sequence[Opponents],
        seed: int,
        others: Sequence[str] = (),
    ) -> None:
        self.game, self.policy, self.opponents, self.seed = game, policy, opponents, seed
        named = {name for o in opponents for name in o.players.values()}
        self.names = sorted({*named, *others} - {LEARNER, ""})
        self.agents: dict[str, Agent] = {}
        self._frozen: dict[str, Policy] = {}
        for name in self.names:
            if name in (FROZEN, PREVIOUS):
                self._freeze(name)
            elif name.startswith(CHECKPOINT):
                earlier = policy.frozen()
                earlier.load(Path(name.removeprefix(CHECKPOINT)))
                self._frozen[name] = earlier
                self.agents[name] = earlier.agent()
            else:
                self.agents[name] = agent(name, game)

    def _freeze(self, name: str) -> None:
        if name in self._frozen:
            self._frozen[name].release()
        self._frozen[name] = self.policy.frozen()
        self.agents[name] = self._frozen[name].agent()

    def reseed(self, *names: int) -> None:
        """Make what frozen policies draw from now on depend on these numbers alone."""
        for number, name in enumerate(sorted(self._frozen), 1):
            self._frozen[name].reseed(*names, number)

    def checkpointed(self) -> None:
        """The policy has been saved: it becomes `previous`."""
        if PREVIOUS in self.names:
            self._freeze(PREVIOUS)

    def job(self, seed: int, sample: int, stage: str = "") -> Job:
        """An episode of this seed; all samples of a seed have the same players.

        Args:
            seed: Of the game.
            sample: The number of the episode among those of the seed.
            stage: What is trained, where that is one stage of a game.
        """
        fitting = [o for o in self.opponents if o.stage in ("", stage)]
        if not fitting:
            return Job(seed, sample)
        weights = [o.weight for o in fitting]
        arrangement = stream(self.seed, "opponents", seed).weighted(fitting, weights)
        return Job(seed, sample, arrangement.players)

    async def close(self) -> None:
        """Release connections and threads."""
        for player in self.agents.values():
            await player.close()


def check_players(game: Game, opponents: Sequence[Opponents], others: Sequence[str] = ()) -> None:
    """Every opponent exists and has a seat or role of the game; raises `UsageError`."""
    state = game.start(0)
    known = {*game.seats, *(state.role(seat) for seat in game.seats)} - {""}
    for arrangement in opponents:
        for where in arrangement.players:
            if where not in known:
                raise BadOption(
                    f"the recipe's [[opponents]] name {where!r}, but {game.name} has the seats and "
                    f"roles {', '.join(sorted(known))}."
                )
        if not any(_learns(game, arrangement, seat) for seat in game.seats):
            raise BadOption("the recipe's [[opponents]] leave no seat to the learner.")
    for name in {*(name for o in opponents for name in o.players.values()), *others} - {LEARNER, ""}:
        if name.startswith(CHECKPOINT):
            folder = Path(name.removeprefix(CHECKPOINT))
            if not folder.is_dir():
                raise BadOption(f"the recipe's opponent {name!r}: {folder} is not a folder.")
        elif name not in (FROZEN, PREVIOUS):
            try:
                agent(name, game)
            except UnknownName as error:
                own = (LEARNER, FROZEN, PREVIOUS, f"{CHECKPOINT}PATH")
                near = (error.nearest,) if error.nearest else ()
                raise UnknownName("opponent of the recipe", name, (*own, *near)) from None


def _learns(game: Game, arrangement: Opponents, seat: str) -> bool:
    players, role = arrangement.players, game.start(0).role(seat)
    return (players.get(seat) or players.get(role) or LEARNER) == LEARNER
